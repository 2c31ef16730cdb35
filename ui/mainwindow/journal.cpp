// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/mainwindow/journal.h"

#include "core/base/files.h"
#include "core/base/ids.h"
#include "core/base/json.h"
#include "core/pipeline/pipelinefile.h"

#include <QDateTime>
#include <QLoggingCategory>
#include <QtConcurrent/QtConcurrentRun>

namespace tw {

namespace {

Q_LOGGING_CATEGORY(journalLog, "trainwright.journal")

constexpr int settleMs = 300;
constexpr char workSuffix[] = ".pipeline.json";
constexpr char lockSuffix[] = ".lock";
constexpr char aboutSuffix[] = ".about.json";

fs::path sibling(const fs::path &work, const char *suffix)
{
    std::string text = work.string();
    text.resize(text.size() - (sizeof(workSuffix) - 1));
    return text + suffix;
}

bool isAlive(const fs::path &work)
{
    QLockFile lock(QString::fromStdString(sibling(work, lockSuffix).string()));
    lock.setStaleLockTime(0);
    const bool taken = lock.tryLock(0);
    if (taken)
        lock.unlock();
    return !taken;
}

} // namespace

Journal::Journal(PipelineDocument &document, const fs::path &folder, QObject *parent)
    : QObject(parent), m_document(document), m_folder(folder), m_session(newJobId().toStdString())
{
    m_timer.setSingleShot(true);
    m_timer.setInterval(settleMs);
    connect(&m_timer, &QTimer::timeout, this, &Journal::write);
    connect(&document, &PipelineDocument::changed, &m_timer, qOverload<>(&QTimer::start));
    if (const Result<void> made = makeFolder(folder); !made)
        qCWarning(journalLog).noquote() << made.error().toString();
    m_lock = std::make_unique<QLockFile>(QString::fromStdString(pathWith(lockSuffix).string()));
    m_lock->setStaleLockTime(0);
    m_lock->tryLock(0);
}

Journal::~Journal()
{
    m_writing.waitForFinished();
}

fs::path Journal::pathWith(const char *suffix) const
{
    return m_folder / (m_session + suffix);
}

void Journal::write()
{
    if (m_writing.isRunning()) { // a slow disk must not hold up the window
        m_timer.start();
        return;
    }
    const QByteArray work = writePipeline(m_document.pipeline(), m_document.registry());
    const QByteArray about = jsonObjectLine(
        {{"file", jsonString(m_file)}, {"written_ms", QByteArray::number(QDateTime::currentMSecsSinceEpoch())}});
    m_writing = QtConcurrent::run([work, about, workPath = pathWith(workSuffix), aboutPath = pathWith(aboutSuffix)] {
        const Result<void> first = writeFileAtomically(aboutPath, about);
        const Result<void> second = first ? writeFileAtomically(workPath, work) : first;
        if (!second)
            qCWarning(journalLog).noquote() << second.error().toString();
    });
}

void Journal::flush()
{
    m_timer.stop();
    m_writing.waitForFinished();
    write();
    m_writing.waitForFinished();
}

void Journal::clear()
{
    m_timer.stop();
    m_writing.waitForFinished();
    std::error_code ignored;
    fs::remove(pathWith(workSuffix), ignored);
    fs::remove(pathWith(aboutSuffix), ignored);
}

std::optional<Journal::Found> Journal::findLeft() const
{
    std::optional<Found> newest;
    std::error_code failed;
    for (const fs::directory_entry &entry : fs::directory_iterator(m_folder, failed)) {
        const std::string name = entry.path().filename().string();
        if (!QByteArray::fromStdString(name).endsWith(workSuffix) || name.starts_with(m_session)
            || isAlive(entry.path()))
            continue;
        const auto work = loadPipelineFile(entry.path(), m_document.registry());
        const auto about = readJsonObject(sibling(entry.path(), aboutSuffix), errors::InvalidWorkspace);
        if (!work || work->pipeline.nodes.isEmpty())
            continue;
        Found found{entry.path(), {}, work->pipeline, 0};
        if (about) {
            found.file = about->value(QStringLiteral("file")).toString();
            found.writtenMs = qint64(about->value(QStringLiteral("written_ms")).toDouble());
        }
        if (!newest || newest->writtenMs < found.writtenMs)
            newest = found;
    }
    return newest;
}

void Journal::discard(const Found &found)
{
    std::error_code ignored;
    for (const char *suffix : {workSuffix, aboutSuffix, lockSuffix})
        fs::remove(sibling(found.journal, suffix), ignored);
}

} // namespace tw
