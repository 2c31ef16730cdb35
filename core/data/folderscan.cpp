// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/folderscan.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace tw {

namespace {

constexpr std::array<std::string_view, 5> ToolFolders{"$RECYCLE.BIN", "@eaDir", "System Volume Information", "__MACOSX",
                                                      "lost+found"};
constexpr std::array<std::string_view, 10> Suffixes{".jpg", ".jpeg", ".png",  ".ppm",  ".bmp",
                                                    ".pgm", ".tif",  ".tiff", ".webp", ".gif"};
constexpr std::size_t DeepestFolder = 100;

bool isSkippedFolder(std::string_view name)
{
    return name.starts_with('.') || std::find(ToolFolders.begin(), ToolFolders.end(), name) != ToolFolders.end();
}

bool isPictureName(std::string_view name)
{
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || name.starts_with('.'))
        return false;
    std::string suffix(name.substr(dot));
    for (char &c : suffix)
        c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    return std::find(Suffixes.begin(), Suffixes.end(), suffix) != Suffixes.end();
}

struct Entry
{
    std::string name;
    struct stat status
    {
    };
    bool dangling = false;
};

struct Picture
{
    std::string path; // relative to the root
    std::int64_t bytes = 0, mtimeNs = 0;
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
    Result<void> walk(const std::string &relative, const struct stat &status, std::vector<Picture> &out);
    void enter(const struct stat &status) { m_path.emplace_back(status.st_dev, status.st_ino); }
    bool isOnPath(const struct stat &status) const
    {
        return std::find(m_path.begin(), m_path.end(), std::pair(status.st_dev, status.st_ino)) != m_path.end();
    }
    /// A picture is added to `out`, anything else to the report.
    void takeFile(const Entry &entry, const std::string &relative, std::vector<Picture> &out);

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

void Scanner::takeFile(const Entry &entry, const std::string &relative, std::vector<Picture> &out)
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

Result<void> Scanner::walk(const std::string &relative, const struct stat &status, std::vector<Picture> &out)
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

Error noImages(const fs::path &root)
{
    return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "No image was found in \"%1\"."),
                     {displayPath(root)},
                     QT_TRANSLATE_NOOP("Error", "Choose a folder that holds one folder of pictures for each class "
                                                "(jpg, jpeg, png, ppm, pgm, bmp, tif, tiff, webp, gif)."));
}

Error emptyClass(const std::vector<std::string> &names)
{
    QStringList list;
    for (const std::string &name : names)
        list.append(QStringLiteral("\"%1\"").arg(displayPath(fs::path(name))));
    return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "These class folders hold no picture: %1."),
                     {list.join(QStringLiteral(", "))},
                     QT_TRANSLATE_NOOP("Error", "Remove the folder, put pictures in, or allow empty classes."));
}

Result<void> scanClasses(Scanner &scanner, const std::vector<Entry> &classes, ScanResult &scan)
{
    std::vector<Picture> pictures;
    for (const Entry &folder : classes) {
        pictures.clear();
        TW_TRY(scanner.walk(folder.name, folder.status, pictures));
        const int category = int(scan.manifest.categories.size());
        scan.manifest.categories.push_back(folder.name);
        if (pictures.empty()) {
            scan.report.emptyClasses.push_back(folder.name);
            scan.report.warnings.push_back("Class \"" + folder.name + "\" has no image.");
        }
        std::sort(pictures.begin(), pictures.end(), [](const Picture &a, const Picture &b) { return a.path < b.path; });
        for (const Picture &picture : pictures)
            scan.manifest.add(picture.path, category, picture.bytes, picture.mtimeNs);
    }
    return {};
}

void takeUnlabelled(const std::vector<Picture> &pictures, ScanResult &scan)
{
    for (const Picture &picture : pictures)
        scan.manifest.add(picture.path, -1, picture.bytes, picture.mtimeNs);
    if (!pictures.empty())
        scan.report.warnings.emplace_back(
            "There are no class folders; pictures lie directly in this folder, so they have no "
            "label. If the folder is one class, choose the folder above it.");
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
    std::vector<Entry> classes;
    std::vector<Picture> loose;
    for (const Entry &entry : entries) {
        if (entry.dangling || !S_ISDIR(entry.status.st_mode))
            scanner.takeFile(entry, entry.name, loose);
        else if (isSkippedFolder(entry.name))
            scan.report.skippedFolders.push_back(entry.name);
        else if (!scanner.isOnPath(entry.status))
            classes.push_back(entry);
    }
    if (classes.empty())
        takeUnlabelled(loose, scan);
    else
        for (const Picture &picture : loose)
            scan.report.ignoredFiles.push_back(picture.path);
    TW_TRY(scanClasses(scanner, classes, scan));
    if (scan.manifest.size() == 0)
        return noImages(root);
    if (!scan.report.emptyClasses.empty() && !options.allowEmptyClasses)
        return emptyClass(scan.report.emptyClasses);
    addNameWarnings(scan.manifest, scan.report);
    std::sort(scan.report.ignoredFiles.begin(), scan.report.ignoredFiles.end());
    scan.manifest.computeFingerprint();
    if (progress)
        progress(std::int64_t(scan.manifest.size()));
    return scan;
}

} // namespace tw
