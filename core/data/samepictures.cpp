// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/folderrules.h"

#include <algorithm>

namespace tw {

void addCopyWarnings(const ImageManifest &manifest, DataReport &report)
{
    constexpr std::size_t shownGroups = 20;
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < manifest.size(); ++i)
        if (!manifest.key(i).empty())
            order.push_back(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return manifest.key(a) != manifest.key(b) ? manifest.key(a) < manifest.key(b) : a < b;
    });
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
