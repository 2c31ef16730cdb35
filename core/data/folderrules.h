// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/datasetscan.h"

namespace tw {

/// Hidden and tool folders: never classes, never entered.
bool isSkippedFolder(std::string_view name);
/// By the ending, in any letter case; hidden files are none.
bool isPictureName(std::string_view name);

struct ListedPicture
{
    std::string path;
    std::int64_t bytes = 0, mtimeNs = 0;
};

/// What lies below one folder, on disk or in an archive, after isSkippedFolder() and isPictureName().
struct PictureTree
{
    std::size_t rootBytes = 0;        ///< leading bytes of every path that name the folder itself, with '/'
    std::vector<std::string> folders; ///< directly in the folder, each once: the classes
    std::vector<ListedPicture> pictures;
};

/// The folder rules (contracts.md) in one place: classes in byte order of their names, a folder of
/// pictures without class folders is unlabelled. Fills categories, images and report; root and
/// storage are the caller's. InvalidDatasetError naming `shown`: no image; a class without pictures
/// unless `options` allow it.
Result<void> classifyTree(PictureTree &&tree, const fs::path &shown, const ScanOptions &options, ScanResult &scan);

/// The same rules for a manifest that has its categories and, per class, its pictures in byte order.
Result<void> finishScan(const fs::path &shown, std::size_t rootBytes, const ScanOptions &options, ScanResult &scan);

/// Class names that people and other systems take for one another, and folders that look like
/// splits. `rootBytes` as in PictureTree.
void addNameWarnings(const ImageManifest &manifest, std::size_t rootBytes, DataReport &report);
/// Pictures with equal bytes, by their content keys: the first twenty groups by name, then a number.
void addCopyWarnings(const ImageManifest &manifest, DataReport &report);

} // namespace tw
