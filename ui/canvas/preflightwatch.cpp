// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/preflightwatch.h"

#include <QtConcurrent/QtConcurrentRun>

namespace tw {

constexpr int settleMs = 250;

Pipeline soundPart(const Pipeline &pipeline, const QList<Error> &faults)
{
    QSet<QString> unsound;
    for (const Error &fault : faults)
        unsound.insert(fault.nodeId);
    bool grew = true;
    while (grew) {
        grew = false;
        for (const PipelineConnection &wire : pipeline.connections) {
            if (unsound.contains(wire.from.node) && !unsound.contains(wire.to.node)) {
                unsound.insert(wire.to.node);
                grew = true;
            }
        }
    }
    Pipeline sound = pipeline;
    sound.parameters.clear();
    sound.nodes.removeIf([&](const PipelineNode &node) { return unsound.contains(node.id); });
    sound.connections.removeIf([&](const PipelineConnection &wire) {
        return unsound.contains(wire.from.node) || unsound.contains(wire.to.node);
    });
    return sound;
}

/// Where a node lies does not matter to preflight.
static Pipeline withoutPositions(Pipeline pipeline)
{
    for (PipelineNode &node : pipeline.nodes)
        node.position = {};
    return pipeline;
}

PreflightWatch::PreflightWatch(PipelineDocument &document, QObject *parent, fs::path cacheFolder)
    : QObject(parent), m_document(document), m_cacheFolder(std::move(cacheFolder))
{
    m_timer.setSingleShot(true);
    m_timer.setInterval(settleMs);
    connect(&m_timer, &QTimer::timeout, this, &PreflightWatch::start);
    connect(&m_watcher, &QFutureWatcher<PreflightOutcome>::finished, this, &PreflightWatch::take);
    connect(&document, &PipelineDocument::changed, this, [this] { m_timer.start(); });
    m_timer.start();
}

PreflightWatch::~PreflightWatch()
{
    if (m_stop)
        m_stop->cancel = true;
    m_watcher.waitForFinished();
}

const PreflightReply *PreflightWatch::reply(const QString &nodeId) const
{
    const auto found = m_outcome.replies.constFind(nodeId);
    return found == m_outcome.replies.constEnd() ? nullptr : &*found;
}

QList<Error> PreflightWatch::notes() const
{
    QList<Error> notes;
    for (auto entry = m_outcome.replies.cbegin(); entry != m_outcome.replies.cend(); ++entry)
        for (const Error &note : entry->notes)
            notes.append(Error(note).atNode(entry.key()));
    return notes;
}

void PreflightWatch::start()
{
    const Pipeline sound = withoutPositions(soundPart(m_document.pipeline(), m_document.faults()));
    if (sound == m_looked && !m_watcher.isRunning())
        return;
    if (m_watcher.isRunning()) {
        m_stop->cancel = true;
        m_again = true;
        return;
    }
    m_looked = sound;
    m_stop = std::make_shared<StopToken>();
    m_watcher.setFuture(
        QtConcurrent::run([sound, stop = m_stop, registry = &m_document.registry(), folder = m_cacheFolder] {
            const auto planned = plan(sound, *registry);
            return planned ? preflight(**planned, stop.get(), true, folder) : PreflightOutcome();
        }));
}

void PreflightWatch::take()
{
    if (m_again) {
        m_again = false;
        m_looked = {};
        start();
        return;
    }
    m_outcome = m_watcher.result();
    QMap<QString, QString> summaries;
    for (auto entry = m_outcome.replies.cbegin(); entry != m_outcome.replies.cend(); ++entry)
        summaries.insert(entry.key(), entry->summary);
    Q_EMIT finished(summaries, m_outcome.errors);
}

} // namespace tw
