// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/folderlisting.h"
#include "core/data/folderrules.h"
#include "core/data/parallel.h"
#include "core/data/sourcescans.h"

#include <QCoreApplication>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <set>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tw {

namespace {

constexpr std::size_t DeepestFolder = 100;

QString systemReason(int code)
{
    return QString::fromLocal8Bit(std::strerror(code));
}

Error folderError(const fs::path &folder, const QString &reason)
{
    return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "The folder \"%1\" cannot be read: %2."),
                     {displayPath(folder), reason},
                     QT_TRANSLATE_NOOP("Error", "Check that the folder exists and that you may read it."));
}

Error canceledScan()
{
    return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The scan was canceled."));
}

/// Not the folder's fault: nothing that was listed under such a condition can be trusted.
bool isSystemFault(int code)
{
    return code == EMFILE || code == ENFILE || code == ENOMEM;
}

/// What all walks of one scan share.
struct ScanJob
{
    int root = -1;
    std::size_t rootLength = 0;  ///< bytes of the root's path and the separator
    std::vector<FolderId> above; ///< the root and all folders that it lies in
    const StopToken *stop = nullptr;
    std::atomic<std::int64_t> found{0};

    bool isTooLong(const std::string &relative) const { return rootLength + relative.size() >= PATH_MAX; }
};

/// Pictures and findings below one class folder; paths relative to the root, in byte order.
struct Walked
{
    std::string paths;
    struct Picture
    {
        std::uint64_t offset;
        std::int64_t bytes, mtimeNs;
    };
    std::vector<Picture> pictures;
    DataReport report;
    int fault = 0; ///< errno that ends the scan

    std::string_view path(std::size_t i) const
    {
        const std::size_t end = i + 1 < pictures.size() ? std::size_t(pictures[i + 1].offset) : paths.size();
        return std::string_view(paths).substr(pictures[i].offset, end - pictures[i].offset);
    }
};

/// Walks one class folder, on one thread, so that what is found does not depend on the threads.
class FolderWalk
{
public:
    FolderWalk(ScanJob &job, Walked &out) : m_job(job), m_out(out), m_above(job.above) {}
    /// A folder and those below it, in byte order of the paths.
    void walk(const std::string &relative);
    void takeFile(const FolderEntry &entry, const std::string &relative);

private:
    void takeEntries(const std::string &relative, const FolderListing &listing);
    void takeLink(const std::string &relative);
    bool isLeftOut(const std::string &relative);

    ScanJob &m_job;
    Walked &m_out;
    std::vector<FolderId> m_above;      ///< from the top to the folder that is walked
    std::set<FolderId> m_reachedByLink; ///< a second link to the same folder would add the same pictures
};

bool FolderWalk::isLeftOut(const std::string &relative)
{
    if (m_above.size() >= DeepestFolder + m_job.above.size())
        m_out.report.warnings.push_back("The folder \"" + relative + "\" lies too deep and was left out.");
    else if (m_job.isTooLong(relative))
        m_out.report.warnings.push_back("The path \"" + relative + "\" is longer than the system opens and was left "
                                        + "out.");
    else
        return false;
    return true;
}

void FolderWalk::takeFile(const FolderEntry &entry, const std::string &relative)
{
    if (entry.kind == EntryKind::Dangling)
        m_out.report.warnings.push_back("The link \"" + relative + "\" leads nowhere.");
    if (entry.kind != EntryKind::Picture && entry.kind != EntryKind::Unreadable) {
        m_out.report.ignoredFiles.push_back(relative);
    } else if (m_job.isTooLong(relative)) {
        m_out.report.warnings.push_back("The path \"" + relative + "\" is longer than the system opens and was left "
                                        + "out.");
        m_out.report.ignoredFiles.push_back(relative);
    } else {
        m_out.pictures.push_back({m_out.paths.size(), entry.bytes, entry.mtimeNs});
        m_out.paths += relative;
    }
}

void FolderWalk::takeLink(const std::string &relative)
{
    struct stat status = {};
    if (::fstatat(m_job.root, relative.c_str(), &status, 0) != 0)
        return walk(relative); // says why
    const FolderId id{status.st_dev, status.st_ino};
    if (std::find(m_above.begin(), m_above.end(), id) != m_above.end())
        return m_out.report.skippedFolders.push_back(relative);
    if (m_reachedByLink.insert(id).second)
        return walk(relative);
    m_out.report.warnings.push_back("The link \"" + relative + "\" leads to a folder that another link of this class "
                                    + "leads to; its pictures are listed once.");
}

void FolderWalk::takeEntries(const std::string &relative, const FolderListing &listing)
{
    std::string path = relative + '/';
    const std::size_t prefix = path.size();
    m_out.pictures.reserve(m_out.pictures.size() + listing.entries().size());
    for (const FolderEntry &entry : listing.entries()) {
        if (m_out.fault != 0)
            return;
        path.resize(prefix);
        path += listing.name(entry);
        if (entry.kind != EntryKind::Folder && entry.kind != EntryKind::LinkedFolder)
            takeFile(entry, path);
        else if (isSkippedFolder(listing.name(entry)))
            m_out.report.skippedFolders.push_back(path);
        else if (entry.kind == EntryKind::LinkedFolder)
            takeLink(path);
        else
            walk(path);
    }
}

void FolderWalk::walk(const std::string &relative)
{
    if (isLeftOut(relative))
        return;
    FolderListing listing;
    const int code = listing.read(m_job.root, relative, 1, m_job.stop);
    if (code == ECANCELED || isSystemFault(code)) {
        m_out.fault = code;
        return;
    }
    if (code != 0) {
        const std::string reason = systemReason(code).toStdString();
        m_out.report.unreadable.push_back({relative + '/', reason});
        m_out.report.warnings.push_back("The folder \"" + relative + "\" cannot be read: " + reason + ".");
        return;
    }
    if (std::find(m_above.begin(), m_above.end(), listing.id()) != m_above.end())
        return;
    m_above.push_back(listing.id());
    takeEntries(relative, listing);
    m_above.pop_back();
}

/// The root's own entries and, for each class folder, what lies below it.
struct Tree
{
    Walked loose;
    std::vector<std::string> folders;
    std::vector<Walked> below;
};

template <typename T> void appendTo(std::vector<T> &to, std::vector<T> &from)
{
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    from = {};
}

void takeReport(DataReport &to, DataReport &from)
{
    appendTo(to.ignoredFiles, from.ignoredFiles);
    appendTo(to.skippedFolders, from.skippedFolders);
    appendTo(to.unreadable, from.unreadable);
    appendTo(to.warnings, from.warnings);
}

/// A link to the root or above it: the set would hold itself, and all that lies beside it.
bool leadsUp(const ScanJob &job, const std::string &link)
{
    struct stat status = {};
    return ::fstatat(job.root, link.c_str(), &status, 0) == 0
           && std::find(job.above.begin(), job.above.end(), FolderId(status.st_dev, status.st_ino)) != job.above.end();
}

std::vector<FolderId> withThoseAbove(int root)
{
    std::vector<FolderId> ids;
    std::string place = ".";
    struct stat status = {};
    while (ids.size() < PATH_MAX / 2 && ::fstatat(root, place.c_str(), &status, 0) == 0
           && (ids.empty() || ids.back() != FolderId(status.st_dev, status.st_ino))) {
        ids.emplace_back(status.st_dev, status.st_ino);
        place += "/..";
    }
    std::reverse(ids.begin(), ids.end());
    return ids;
}

Result<void> listRoot(const fs::path &root, ScanJob &job, int workers, Tree &tree)
{
    FolderListing listing;
    const int code = listing.read(job.root, {}, workers, job.stop);
    if (code == ECANCELED)
        return canceledScan();
    if (code != 0)
        return folderError(root, systemReason(code));
    job.above = withThoseAbove(job.root);
    FolderWalk loose(job, tree.loose);
    for (const FolderEntry &entry : listing.entries()) {
        std::string name(listing.name(entry));
        if (entry.kind != EntryKind::Folder && entry.kind != EntryKind::LinkedFolder)
            loose.takeFile(entry, name);
        else if (isSkippedFolder(name) || (entry.kind == EntryKind::LinkedFolder && leadsUp(job, name)))
            tree.loose.report.skippedFolders.push_back(name);
        else
            tree.folders.push_back(std::move(name));
    }
    job.found += std::int64_t(tree.loose.pictures.size());
    std::sort(tree.folders.begin(), tree.folders.end()); // as names: without the separator
    return {};
}

Result<void> walkFolders(const fs::path &root, ScanJob &job, int workers, Tree &tree,
                         const std::function<void(std::int64_t)> &progress)
{
    tree.below.resize(tree.folders.size());
    std::atomic<int> fault{0};
    const auto walkOne = [&](std::size_t i, std::size_t) {
        if (fault != 0)
            return;
        FolderWalk(job, tree.below[i]).walk(tree.folders[i]);
        if (tree.below[i].fault != 0)
            fault = tree.below[i].fault;
        job.found += std::int64_t(tree.below[i].pictures.size());
    };
    const bool whole = parallelFor(tree.folders.size(), workers, job.stop, walkOne, [&](std::int64_t, std::int64_t) {
        if (progress)
            progress(job.found.load());
    });
    if (!whole || fault == ECANCELED)
        return canceledScan();
    if (fault != 0)
        return folderError(root, systemReason(fault));
    return {};
}

void fillManifest(Tree &tree, ScanResult &scan)
{
    std::size_t pictures = tree.folders.empty() ? tree.loose.pictures.size() : 0, bytes = tree.loose.paths.size();
    for (const Walked &below : tree.below) {
        pictures += below.pictures.size();
        bytes += below.paths.size();
    }
    scan.manifest.reserve(pictures, bytes);
    const auto take = [&](Walked &from, int category) {
        for (std::size_t i = 0; i < from.pictures.size(); ++i)
            scan.manifest.add(from.path(i), category, from.pictures[i].bytes, from.pictures[i].mtimeNs);
        takeReport(scan.report, from.report);
        from = {};
    };
    if (!tree.folders.empty()) {
        for (std::size_t i = 0; i < tree.loose.pictures.size(); ++i)
            tree.loose.report.ignoredFiles.emplace_back(tree.loose.path(i));
        tree.loose.pictures.clear();
    }
    take(tree.loose, -1);
    for (std::size_t i = 0; i < tree.below.size(); ++i)
        take(tree.below[i], int(i));
    scan.manifest.categories = std::move(tree.folders);
}

} // namespace

Result<ScanResult> scanFolder(const fs::path &root, const ScanOptions &options, const StopToken *stop,
                              const std::function<void(std::int64_t)> &progress)
{
    ScanResult scan;
    std::error_code ignored;
    const fs::path absolute = fs::absolute(root, ignored);
    scan.manifest.root = absolute.empty() ? root : absolute.lexically_normal();
    const FolderDescriptor folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0)
        return folderError(root, systemReason(errno));
    // Waiting for a disk or a server takes more threads than the processors have.
    const int workers = int(std::clamp(std::thread::hardware_concurrency(), 4U, 16U));
    ScanJob job;
    job.root = folder.get();
    job.rootLength = scan.manifest.root.native().size() + 1;
    job.stop = stop;
    Tree tree;
    TW_TRY(listRoot(root, job, workers, tree));
    TW_TRY(walkFolders(root, job, workers, tree, progress));
    fillManifest(tree, scan);
    TW_TRY(finishScan(root, 0, options, scan));
    if (progress)
        progress(std::int64_t(scan.manifest.size()));
    return scan;
}

} // namespace tw
