// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/outputfolders.h"

#include "core/jobs/outputrecord.h"

#include <fstream>
#include <string>

#include <unistd.h>

namespace tw {

namespace {

enum class CopyMode { Link, Bytes };

Result<void> copyEntry(const fs::directory_entry &entry, const fs::path &target, CopyMode mode)
{
    std::error_code fault;
    if (entry.is_symlink(fault)) {
        fs::copy_symlink(entry.path(), target, fault);
    } else if (entry.is_directory(fault)) {
        fs::create_directory(target, entry.path(), fault);
    } else {
        if (mode == CopyMode::Link)
            fs::create_hard_link(entry.path(), target, fault);
        if (mode == CopyMode::Bytes || fault)
            fs::copy_file(entry.path(), target, fault);
        if (!fault)
            fs::last_write_time(target, entry.last_write_time(fault), fault);
    }
    if (fault)
        return writeError(target, fault.value());
    return {};
}

Result<void> copyTree(const fs::path &from, const fs::path &to, CopyMode mode)
{
    std::error_code fault;
    fs::recursive_directory_iterator entry(from, fault);
    for (; !fault && entry != fs::recursive_directory_iterator(); entry.increment(fault))
        TW_TRY(copyEntry(*entry, to / entry->path().lexically_relative(from), mode));
    if (fault)
        return writeError(from, fault.value());
    return {};
}

void removeAll(const fs::path &folder)
{
    std::error_code ignored;
    fs::remove_all(folder, ignored);
}

} // namespace

Result<void> OutputFolders::open(const Workspace &workspace, const QString &job, const QString &node,
                                 const ComponentType &component)
{
    m_node = workspace.nodeFolder(job, node);
    for (const PortSpec &port : component.outputs) {
        const fs::path destination = workspace.outputFolder(job, node, port.id);
        auto folder = std::make_unique<AtomicFolder>(destination);
        TW_TRY(folder->open());
        m_ports.push_back({port.id, destination, std::move(folder)});
    }
    return {};
}

QMap<QString, fs::path> OutputFolders::temporary() const
{
    QMap<QString, fs::path> folders;
    for (const Port &port : m_ports)
        folders.insert(port.id, port.folder->temporary());
    return folders;
}

Result<QStringList> OutputFolders::commit(const RunReply &reply)
{
    QStringList listed;
    std::vector<fs::path> done;
    for (Port &port : m_ports) {
        std::error_code ignored;
        const auto object = reply.objects.constFind(port.id);
        const bool hasObject = object != reply.objects.constEnd() && object->has_value();
        if (fs::is_empty(port.folder->temporary(), ignored) && !hasObject)
            continue;
        if (const Result<void> committed = port.folder->commit(); !committed.ok()) {
            for (const fs::path &folder : done)
                removeAll(folder);
            return committed.error();
        }
        done.push_back(port.destination);
        listed.append(port.id);
    }
    TW_TRY(recordOutputs(m_node, listed));
    return listed;
}

Result<void> linkOutputs(const Workspace &workspace, const QString &fromJob, const NodeRecord &from,
                         const QString &toJob, const QString &toNode)
{
    TW_TRY(checkOutputs(workspace.nodeFolder(fromJob, from.id), from.outputs));
    std::vector<std::unique_ptr<AtomicFolder>> folders;
    for (const QString &port : from.outputs) {
        folders.push_back(std::make_unique<AtomicFolder>(workspace.outputFolder(toJob, toNode, port)));
        TW_TRY(folders.back()->open());
        TW_TRY(copyTree(workspace.outputFolder(fromJob, from.id, port), folders.back()->temporary(), CopyMode::Link));
    }
    for (const auto &folder : folders) {
        if (const Result<void> committed = folder->commit(); !committed.ok()) {
            removeAll(workspace.nodeFolder(toJob, toNode) / "outputs");
            return committed;
        }
    }
    return recordOutputs(workspace.nodeFolder(toJob, toNode), from.outputs);
}

void copyCurves(Workspace &workspace, const QString &fromJob, const QString &fromNode, const QString &toJob,
                const QString &toNode)
{
    const auto known = workspace.series(fromJob);
    QList<SeriesSummary> series;
    for (const SeriesSummary &one : known.ok() ? *known : QList<SeriesSummary>()) {
        if (one.node != fromNode)
            continue;
        series.append(one);
        series.last().node = toNode;
    }
    if (series.isEmpty() || !workspace.updateSeries(toJob, series).ok())
        return;
    std::ifstream from(workspace.nodeFolder(fromJob, fromNode) / "metrics.jsonl", std::ios::binary);
    std::ofstream to(workspace.nodeFolder(toJob, toNode) / "metrics.jsonl", std::ios::binary);
    for (std::string line; std::getline(from, line);) {
        auto point = MetricPoint::fromJsonLine(QByteArray::fromStdString(line));
        if (!point.ok())
            continue;
        point->node = toNode;
        to << point->toJsonLine().toStdString() << '\n';
    }
}

/// FailedToWriteOutputsError when `target` exists and is not an empty folder.
static Result<void> checkIsFree(const fs::path &target)
{
    std::error_code fault;
    if (!fs::exists(fs::symlink_status(target, fault)))
        return {};
    if (fs::is_directory(target, fault) && fs::is_empty(target, fault) && !fault)
        return {};
    return makeError(errors::FailedToWriteOutputs,
                     QT_TRANSLATE_NOOP("Error", "The export target %1 exists and is not an empty folder."),
                     {displayPath(target)},
                     QT_TRANSLATE_NOOP("Error", "Name a folder that does not exist, or empty this one."));
}

/// Makes a folder beside the place of the target's first missing part and takes it away again:
/// permission bits say nothing of /proc, of a read-only disk, or to the superuser.
static Result<void> checkIsWritable(const fs::path &target)
{
    fs::path parent = target.parent_path();
    std::error_code fault;
    while (!fs::exists(parent, fault) && parent.has_relative_path())
        parent = parent.parent_path();
    const fs::path probe = parent / (".trainwright-export-" + std::to_string(::getpid()));
    if (!fs::create_directory(probe, fault))
        return writeError(target, fault ? fault.value() : EEXIST);
    fs::remove(probe, fault);
    return {};
}

static bool liesIn(const fs::path &inner, const fs::path &outer)
{
    const auto parts = std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end());
    return parts.first == outer.end();
}

Result<void> checkExportTargets(const QMap<QString, fs::path> &exports)
{
    std::map<QString, fs::path> places;
    for (auto wish = exports.begin(); wish != exports.end(); ++wish) {
        std::error_code fault;
        const fs::path absolute = fs::absolute(wish.value() / "", fault).parent_path();
        const fs::path place = fs::weakly_canonical(absolute, fault);
        TW_TRY(checkIsFree(absolute));
        TW_TRY(checkIsWritable(absolute));
        for (const auto &[other, taken] : places)
            if (liesIn(place, taken) || liesIn(taken, place))
                return makeError(errors::FailedToWriteOutputs,
                                 QT_TRANSLATE_NOOP("Error", "The exports of %1 and %2 meet in %3."),
                                 {other, wish.key(), displayPath(liesIn(place, taken) ? taken : place)},
                                 QT_TRANSLATE_NOOP("Error", "Give each output a folder of its own, none in another."));
        places.emplace(wish.key(), fault ? absolute : place);
    }
    return {};
}

Result<void> exportFolder(const fs::path &folder, const fs::path &target)
{
    TW_TRY(checkIsFree(target));
    AtomicFolder copy(target);
    TW_TRY(copy.open());
    TW_TRY(copyTree(folder, copy.temporary(), CopyMode::Bytes));
    return copy.commit();
}

} // namespace tw
