// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/folderrules.h"
#include "core/data/keyorder.h"

#include <algorithm>

namespace tw {

void addCopyWarnings(const ImageManifest &manifest, DataReport &report)
{
    constexpr std::size_t shownGroups = 20;
    const std::vector<std::uint32_t> order =
        orderByKey(manifest.size(), [&](std::uint32_t i) { return manifest.key(i); });
    std::vector<std::pair<std::uint32_t, std::string>> groups; // by their first picture
    for (auto begin = order.begin(); begin != order.end();) {
        const auto end =
            std::find_if(begin, order.end(), [&](std::uint32_t i) { return manifest.key(i) != manifest.key(*begin); });
        const bool twoLabels =
            std::any_of(begin, end, [&](std::uint32_t i) { return manifest.category(i) != manifest.category(*begin); });
        std::string names;
        for (auto i = begin; i != end; ++i)
            names += (names.empty() ? "\"" : ", \"") + std::string(manifest.path(*i)) + '"';
        if (end - begin > 1)
            groups.emplace_back(*begin, std::string("The same picture") + (twoLabels ? " under several labels: " : ": ")
                                            + names + '.');
        begin = end;
    }
    std::sort(groups.begin(), groups.end());
    for (std::size_t i = 0; i < std::min(shownGroups, groups.size()); ++i)
        report.warnings.push_back(groups[i].second);
    if (groups.size() > shownGroups)
        report.warnings.push_back("Another " + std::to_string(groups.size() - shownGroups)
                                  + " pictures are there more than once.");
}

} // namespace tw
