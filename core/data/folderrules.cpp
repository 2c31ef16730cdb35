// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/folderrules.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>

namespace tw {

namespace {

constexpr std::array<std::string_view, 5> ToolFolders{"$RECYCLE.BIN", "@eaDir", "System Volume Information", "__MACOSX",
                                                      "lost+found"};
constexpr std::array<std::string_view, 10> Suffixes{".jpg", ".jpeg", ".png",  ".ppm",  ".bmp",
                                                    ".pgm", ".tif",  ".tiff", ".webp", ".gif"};

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

Error closedFolder(const fs::path &root, const UnreadableImage &folder)
{
    return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "The folder \"%1\" cannot be read: %2."),
                     {displayPath(root / folder.path), QString::fromStdString(folder.reason)},
                     QT_TRANSLATE_NOOP("Error", "Check that you may read it, or move it out of the data set."));
}

/// The first of the folders below one of the classes that could not be read; classes in byte order.
const UnreadableImage *unreadableIn(const DataReport &report, const std::vector<std::string> &classes)
{
    for (const UnreadableImage &item : report.unreadable)
        if (std::binary_search(classes.begin(), classes.end(), item.path.substr(0, item.path.find('/'))))
            return &item;
    return nullptr;
}

struct Placed
{
    int category;
    ListedPicture picture;
};

/// The class folder of a picture; -1 where it lies in the root itself.
int categoryOf(const PictureTree &tree, const ListedPicture &picture)
{
    const std::string_view path = std::string_view(picture.path).substr(tree.rootBytes);
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos)
        return -1;
    const auto found = std::lower_bound(tree.folders.begin(), tree.folders.end(), path.substr(0, slash));
    return int(found - tree.folders.begin());
}

std::vector<Placed> place(PictureTree &tree)
{
    std::vector<Placed> placed;
    placed.reserve(tree.pictures.size());
    for (ListedPicture &picture : tree.pictures) {
        const int category = categoryOf(tree, picture);
        placed.push_back({category, std::move(picture)});
    }
    std::sort(placed.begin(), placed.end(), [](const Placed &a, const Placed &b) {
        return a.category != b.category ? a.category < b.category : a.picture.path < b.picture.path;
    });
    return placed;
}

void reportEmptyClasses(ScanResult &scan)
{
    const std::vector<std::int64_t> counts = scan.manifest.counts();
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] != 0)
            continue;
        scan.report.emptyClasses.push_back(scan.manifest.categories[i]);
        scan.report.warnings.push_back("Class \"" + scan.manifest.categories[i] + "\" has no image.");
    }
}

} // namespace

bool isSkippedFolder(std::string_view name)
{
    return name.starts_with('.') || std::find(ToolFolders.begin(), ToolFolders.end(), name) != ToolFolders.end();
}

bool isPictureName(std::string_view name)
{
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || name.starts_with('.'))
        return false;
    const std::string_view suffix = name.substr(dot);
    const auto same = [](char a, char b) { return a == b || (b >= 'A' && b <= 'Z' && a == char(b - 'A' + 'a')); };
    return std::any_of(Suffixes.begin(), Suffixes.end(), [&](std::string_view known) {
        return known.size() == suffix.size() && std::equal(known.begin(), known.end(), suffix.begin(), same);
    });
}

Result<void> classifyTree(PictureTree &&tree, const fs::path &shown, const ScanOptions &options, ScanResult &scan)
{
    std::sort(tree.folders.begin(), tree.folders.end());
    const bool hasClasses = !tree.folders.empty();
    std::size_t pathBytes = 0;
    for (const ListedPicture &picture : tree.pictures)
        pathBytes += picture.path.size();
    scan.manifest.reserve(tree.pictures.size(), pathBytes);
    for (const Placed &item : place(tree)) {
        if (hasClasses && item.category < 0)
            scan.report.ignoredFiles.push_back(item.picture.path);
        else
            scan.manifest.add(item.picture.path, item.category, item.picture.bytes, item.picture.mtimeNs);
    }
    scan.manifest.categories = std::move(tree.folders);
    return finishScan(shown, tree.rootBytes, options, scan);
}

Result<void> finishScan(const fs::path &shown, std::size_t rootBytes, const ScanOptions &options, ScanResult &scan)
{
    if (scan.manifest.categories.empty() && scan.manifest.size() > 0)
        scan.report.warnings.emplace_back(
            "There are no class folders; pictures lie directly in this folder, so they have no "
            "label. If the folder is one class, choose the folder above it.");
    reportEmptyClasses(scan);
    if (scan.manifest.size() == 0 && !scan.report.unreadable.empty())
        return closedFolder(shown, scan.report.unreadable.front());
    if (scan.manifest.size() == 0)
        return noImages(shown);
    if (!scan.report.emptyClasses.empty() && !options.allowEmptyClasses) {
        const UnreadableImage *closed = unreadableIn(scan.report, scan.report.emptyClasses);
        return closed ? closedFolder(shown, *closed) : emptyClass(scan.report.emptyClasses);
    }
    addNameWarnings(scan.manifest, rootBytes, scan.report);
    std::sort(scan.report.ignoredFiles.begin(), scan.report.ignoredFiles.end());
    scan.manifest.computeFingerprint();
    return {};
}

} // namespace tw
