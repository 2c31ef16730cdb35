// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/datasetscan.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace tw {

namespace {

using Indices = std::vector<std::uint32_t>;
constexpr std::uint32_t WholeSet = 0xffffffff;

struct Group
{
    int category = -1;
    Indices members; // byte order of paths
    std::size_t quota = 0;
    double remainder = 0;
};

// ⌊fraction·count⌋ where a product that should be whole (0.29·100) may lie a little below it.
std::size_t share(double fraction, std::size_t count)
{
    return std::min(std::size_t(std::floor(fraction * double(count) + 1e-9)), count);
}

Indices sortedByPath(const ImageManifest &manifest)
{
    Indices order(manifest.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto before = [&](std::uint32_t a, std::uint32_t b) { return manifest.path(a) < manifest.path(b); };
    // Numbers of an IDX file stand in their own order already.
    if (manifest.storage != ImageManifest::Storage::Idx && !std::is_sorted(order.begin(), order.end(), before))
        std::stable_sort(order.begin(), order.end(), before);
    return order;
}

std::vector<Group> makeGroups(const ImageManifest &manifest, bool stratified)
{
    std::map<int, Group> groups;
    for (const std::uint32_t i : sortedByPath(manifest)) {
        Group &group = groups[stratified ? manifest.category(i) : 0];
        group.category = stratified ? manifest.category(i) : -1;
        group.members.push_back(i);
    }
    std::vector<Group> out;
    for (auto &[key, group] : groups)
        out.push_back(std::move(group));
    return out;
}

// Largest remainder towards `total`; equal remainders go by class id.
void setQuotas(std::vector<Group> &groups, double fraction, std::size_t total)
{
    std::size_t given = 0;
    for (Group &group : groups) {
        group.quota = share(fraction, group.members.size());
        group.remainder = fraction * double(group.members.size()) - double(group.quota);
        given += group.quota;
    }
    std::vector<std::size_t> order(groups.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return groups[a].remainder > groups[b].remainder + 1e-9; });
    for (std::size_t i = 0; i < order.size() && given < total; ++i, ++given)
        ++groups[order[i]].quota;
}

QString className(const ImageManifest &manifest, int category)
{
    return displayPath(fs::path(manifest.categories[std::size_t(category)]));
}

// No class of two or more is missing on either side; a class of one goes to the first.
void clampQuotas(const ImageManifest &manifest, std::vector<Group> &groups, QStringList &warnings)
{
    for (Group &group : groups) {
        const std::size_t count = group.members.size();
        const std::size_t clamped = count == 1 ? 1 : std::clamp<std::size_t>(group.quota, 1, count - 1);
        if (group.category >= 0 && count == 1)
            warnings.append(QStringLiteral("Class \"%1\" has one image; it goes to the first output.")
                                .arg(className(manifest, group.category)));
        else if (group.category >= 0 && clamped != group.quota)
            warnings.append(QStringLiteral("Class \"%1\" gives %2 of %3 images to the first "
                                           "output, so that both outputs have some.")
                                .arg(className(manifest, group.category))
                                .arg(clamped)
                                .arg(count));
        group.quota = clamped;
    }
}

void shuffle(Group &group, std::uint64_t seed)
{
    SampleRandom random(seed, RandomPurpose::Split, 0, group.category < 0 ? WholeSet : std::uint32_t(group.category));
    for (std::size_t i = group.members.size(); i > 1; --i)
        std::swap(group.members[i - 1], group.members[random.below(std::uint32_t(i))]);
}

Error badFraction(double fraction, std::size_t count)
{
    // Rounded up at the third digit, so that the number shown is allowed.
    const double lowest = std::ceil(1e5 / double(std::max<std::size_t>(count, 1))) * 1e-5;
    return makeError(errors::NotInRangeValue,
                     QT_TRANSLATE_NOOP("Error", "With fraction %1 of %2 images an output would be empty."),
                     {QString::number(fraction), QString::number(count), QString::number(lowest, 'g', 3)},
                     QT_TRANSLATE_NOOP("Error",
                                       "So that each output gets an image the fraction must be at least %3 and "
                                       "below 1."))
        .atParameter(QStringLiteral("fraction"));
}

} // namespace

Result<SplitResult> splitManifest(const ImageManifest &manifest, double fraction, std::uint64_t seed, bool stratified)
{
    const std::size_t count = manifest.size();
    if (!(fraction > 0 && fraction < 1))
        return badFraction(fraction, count);
    if (count < 2)
        return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "%1 image cannot be split in two."),
                         {QString::number(count)}, QT_TRANSLATE_NOOP("Error", "Split a set of at least two images."));
    std::vector<Group> groups = makeGroups(manifest, stratified);
    const std::size_t total = share(fraction, count);
    setQuotas(groups, fraction, total);
    SplitResult result;
    if (stratified)
        clampQuotas(manifest, groups, result.warnings);
    Indices first, second;
    for (Group &group : groups) {
        shuffle(group, seed);
        const auto middle = group.members.begin() + std::ptrdiff_t(group.quota);
        first.insert(first.end(), group.members.begin(), middle);
        second.insert(second.end(), middle, group.members.end());
    }
    if (stratified && second.empty())
        return makeError(
            errors::InvalidDataset,
            QT_TRANSLATE_NOOP("Error", "Every class has one image only, so nothing is left for the second output."), {},
            QT_TRANSLATE_NOOP("Error", "Add images, or split without stratification."));
    if (first.empty() || second.empty())
        return badFraction(fraction, count);
    if (first.size() != total)
        result.warnings.append(
            QStringLiteral("The first output has %1 images, not %2, so that no class is missing in an output.")
                .arg(first.size())
                .arg(total));
    std::sort(first.begin(), first.end());
    std::sort(second.begin(), second.end());
    result.first = manifest.subset(first);
    result.second = manifest.subset(second);
    return result;
}

} // namespace tw
