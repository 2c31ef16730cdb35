// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/folderrules.h"
#include "core/data/sourcescans.h"

#include <QCoreApplication>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace tw {

namespace {

constexpr std::size_t DeepestFolder = 100;

struct Entry
{
    std::string name;
    struct stat status
    {
    };
    bool dangling = false;
};

Error folderError(const fs::path &folder, int code)
{
    return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "The folder \"%1\" cannot be read: %2."),
                     {displayPath(folder), QString::fromLocal8Bit(std::strerror(code))},
                     QT_TRANSLATE_NOOP("Error", "Check that the folder exists and that you may read it."));
}

class Scanner
{
public:
    Scanner(const fs::path &root, const StopToken *stop, const std::function<void(std::int64_t)> &progress,
            DataReport &report)
        : m_root(root), m_stop(stop), m_progress(progress), m_report(report)
    {
    }

    /// Entries by byte order of their names, links followed.
    Result<std::vector<Entry>> list(const std::string &relative);
    /// All pictures below `relative`, a folder whose identity is in `status`.
    Result<void> walk(const std::string &relative, const struct stat &status, std::vector<ListedPicture> &out);
    void enter(const struct stat &status) { m_path.emplace_back(status.st_dev, status.st_ino); }
    bool isOnPath(const struct stat &status) const
    {
        return std::find(m_path.begin(), m_path.end(), std::pair(status.st_dev, status.st_ino)) != m_path.end();
    }
    /// A picture is added to `out`, anything else to the report.
    void takeFile(const Entry &entry, const std::string &relative, std::vector<ListedPicture> &out);

private:
    bool isCanceled() const { return m_stop && m_stop->cancel.load(std::memory_order_relaxed); }

    fs::path m_root;
    const StopToken *m_stop;
    const std::function<void(std::int64_t)> &m_progress;
    DataReport &m_report;
    std::vector<std::pair<dev_t, ino_t>> m_path;
    std::int64_t m_found = 0;
};

Result<std::vector<Entry>> Scanner::list(const std::string &relative)
{
    const fs::path folder = relative.empty() ? m_root : m_root / relative;
    const std::unique_ptr<DIR, int (*)(DIR *)> stream(::opendir(folder.c_str()), ::closedir);
    if (!stream)
        return folderError(folder, errno);
    std::vector<Entry> entries;
    errno = 0;
    while (const dirent *item = ::readdir(stream.get())) {
        if (isCanceled())
            return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The scan was canceled."));
        if (std::strcmp(item->d_name, ".") == 0 || std::strcmp(item->d_name, "..") == 0)
            continue;
        Entry entry{item->d_name, {}, false};
        entry.dangling = ::fstatat(::dirfd(stream.get()), item->d_name, &entry.status, 0) != 0;
        entries.push_back(std::move(entry));
        errno = 0;
    }
    if (errno != 0)
        return folderError(folder, errno);
    std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) { return a.name < b.name; });
    return entries;
}

void Scanner::takeFile(const Entry &entry, const std::string &relative, std::vector<ListedPicture> &out)
{
    if (entry.dangling) {
        m_report.ignoredFiles.push_back(relative);
        m_report.warnings.push_back("The link \"" + relative + "\" leads nowhere.");
        return;
    }
    if (!S_ISREG(entry.status.st_mode) || !isPictureName(entry.name)) {
        m_report.ignoredFiles.push_back(relative);
        return;
    }
    const auto &time = entry.status.st_mtim;
    out.push_back(
        {relative, std::int64_t(entry.status.st_size), std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec});
    if (m_progress && ++m_found % 256 == 0)
        m_progress(m_found);
}

Result<void> Scanner::walk(const std::string &relative, const struct stat &status, std::vector<ListedPicture> &out)
{
    if (m_path.size() > DeepestFolder) {
        m_report.warnings.push_back("The folder \"" + relative + "\" lies too deep and was left out.");
        return {};
    }
    enter(status);
    TW_ASSIGN(entries, list(relative));
    for (const Entry &entry : entries) {
        const std::string path = relative + '/' + entry.name;
        if (entry.dangling || !S_ISDIR(entry.status.st_mode))
            takeFile(entry, path, out);
        else if (isSkippedFolder(entry.name))
            m_report.skippedFolders.push_back(path);
        else if (!isOnPath(entry.status))
            TW_TRY(walk(path, entry.status, out));
    }
    m_path.pop_back();
    return {};
}

} // namespace

Result<ScanResult> scanFolder(const fs::path &root, const ScanOptions &options, const StopToken *stop,
                              const std::function<void(std::int64_t)> &progress)
{
    ScanResult scan;
    std::error_code ignored;
    const fs::path absolute = fs::absolute(root, ignored);
    scan.manifest.root = absolute.empty() ? root : absolute.lexically_normal();
    struct stat status
    {
    };
    if (::stat(root.c_str(), &status) != 0)
        return folderError(root, errno);
    Scanner scanner(root, stop, progress, scan.report);
    scanner.enter(status);
    TW_ASSIGN(entries, scanner.list({}));
    PictureTree tree;
    for (const Entry &entry : entries) {
        if (entry.dangling || !S_ISDIR(entry.status.st_mode))
            scanner.takeFile(entry, entry.name, tree.pictures);
        else if (isSkippedFolder(entry.name))
            scan.report.skippedFolders.push_back(entry.name);
        else if (!scanner.isOnPath(entry.status)) {
            tree.folders.push_back(entry.name);
            TW_TRY(scanner.walk(entry.name, entry.status, tree.pictures));
        }
    }
    TW_TRY(classifyTree(std::move(tree), root, options, scan));
    if (progress)
        progress(std::int64_t(scan.manifest.size()));
    return scan;
}

} // namespace tw
