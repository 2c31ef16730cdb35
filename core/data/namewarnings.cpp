// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/folderrules.h"

#include <QString>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace tw {

namespace {

constexpr std::array<std::string_view, 10> SplitNames{"train", "training", "val", "valid", "validation",
                                                      "test",  "testing",  "dev", "eval",  "holdout"};

void warnAlike(const ImageManifest &manifest, DataReport &report, const std::string &difference,
               const std::function<QString(const QString &)> &reduce,
               std::set<std::pair<std::string, std::string>> &told)
{
    std::map<QString, std::string> seen;
    for (const std::string &name : manifest.categories) {
        const auto [place, isNew] = seen.try_emplace(reduce(QString::fromStdString(name)), name);
        if (!isNew && told.insert({place->second, name}).second)
            report.warnings.push_back("The classes \"" + place->second + "\" and \"" + name + "\" differ only in "
                                      + difference + ".");
    }
}

// Second part of the path, per first part: the folders inside each class folder.
std::map<int, std::set<std::string>> innerFolders(const ImageManifest &manifest, std::size_t rootBytes)
{
    std::map<int, std::set<std::string>> out;
    for (std::size_t i = 0; i < manifest.size(); ++i) {
        const std::string_view path = manifest.path(i).substr(rootBytes);
        const std::size_t first = path.find('/');
        const std::size_t second = first == std::string_view::npos ? first : path.find('/', first + 1);
        if (second != std::string_view::npos)
            out[manifest.category(i)].emplace(path.substr(first + 1, second - first - 1));
    }
    return out;
}

bool looksLikeSplits(const ImageManifest &manifest, std::size_t rootBytes)
{
    if (manifest.categories.size() < 2)
        return false;
    const bool splitNames =
        std::all_of(manifest.categories.begin(), manifest.categories.end(), [](const std::string &name) {
            const std::string lower = QString::fromStdString(name).toLower().toStdString();
            return std::find(SplitNames.begin(), SplitNames.end(), lower) != SplitNames.end();
        });
    return splitNames && !innerFolders(manifest, rootBytes).empty();
}

} // namespace

void addNameWarnings(const ImageManifest &manifest, std::size_t rootBytes, DataReport &report)
{
    std::set<std::pair<std::string, std::string>> told;
    warnAlike(
        manifest, report, "how their letters are put together (Unicode composition)",
        [](const QString &name) { return name.normalized(QString::NormalizationForm_C); }, told);
    warnAlike(
        manifest, report, "letter case",
        [](const QString &name) { return name.normalized(QString::NormalizationForm_C).toCaseFolded(); }, told);
    if (looksLikeSplits(manifest, rootBytes))
        report.warnings.emplace_back("The folders look like splits, not classes: their names are "
                                     "split names and class folders "
                                     "lie inside them. Choose one of them for each input.");
}

} // namespace tw
