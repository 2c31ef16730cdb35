// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/datasetreport.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tw {

namespace {

Spread spreadOf(std::vector<std::uint32_t> values)
{
    if (values.empty())
        return {};
    const auto [least, largest] = std::minmax_element(values.begin(), values.end());
    Spread spread{*least, 0, *largest};
    const auto middle = values.begin() + std::ptrdiff_t((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    spread.median = *middle;
    return spread;
}

QString formatName(const ImageManifest &set, ImageFormat format)
{
    return set.storage == ImageManifest::Storage::Idx ? QStringLiteral("IDX") : imageFormatName(format);
}

struct Sums
{
    std::array<std::uint64_t, 3> values{}, squares{};
    std::uint64_t pixels = 0;
};

void setTone(const Sums &sums, DatasetStatistics &out)
{
    if (sums.pixels == 0)
        return;
    out.mean.emplace();
    out.deviation.emplace();
    for (std::size_t c = 0; c < 3; ++c) {
        const long double pixels = sums.pixels;
        const long double mean = sums.values[c] / pixels;
        const long double variance = sums.squares[c] / pixels - mean * mean;
        (*out.mean)[c] = double(mean / 255);
        (*out.deviation)[c] = variance > 0 ? double(std::sqrt(variance) / 255) : 0;
    }
}

/// Sizes, formats, mean and deviation.
void addFacts(const ImageManifest &set, const std::vector<PictureFacts> &facts, DatasetStatistics &out)
{
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> sizes;
    std::map<ImageFormat, std::int64_t> formats;
    std::vector<std::uint32_t> widths, heights;
    Sums sums;
    for (const PictureFacts &one : facts) {
        if (one.width == 0)
            continue;
        ++sizes[{one.width, one.height}];
        ++formats[one.format];
        widths.push_back(one.width);
        heights.push_back(one.height);
        if (!one.hasPixels)
            continue;
        ++out.decoded;
        sums.pixels += std::uint64_t(one.width) * one.height;
        for (std::size_t c = 0; c < 3; ++c) {
            sums.values[c] += one.sums[c];
            sums.squares[c] += one.squares[c];
        }
    }
    out.measured = std::int64_t(widths.size());
    out.width = spreadOf(std::move(widths));
    out.height = spreadOf(std::move(heights));
    out.differentSizes = std::int64_t(sizes.size());
    for (const auto &[size, images] : sizes)
        out.sizes.push_back({size.first, size.second, images});
    std::stable_sort(out.sizes.begin(), out.sizes.end(),
                     [](const auto &a, const auto &b) { return a.images > b.images; });
    out.sizes.resize(std::min(out.sizes.size(), DatasetStatistics::CommonSizes));
    for (const auto &[format, images] : formats)
        out.formats.emplace_back(formatName(set, format), images);
    std::stable_sort(out.formats.begin(), out.formats.end(),
                     [](const auto &a, const auto &b) { return a.second > b.second; });
    setTone(sums, out);
}

} // namespace

DatasetStatistics statisticsOf(const ImageManifest &set)
{
    DatasetStatistics out;
    out.images = std::int64_t(set.size());
    const std::vector<std::int64_t> counts = set.counts();
    for (std::size_t i = 0; i < counts.size(); ++i)
        out.classes.emplace_back(set.categories[i], counts[i]);
    for (std::size_t i = 0; i < set.size(); ++i)
        out.unlabelled += set.category(i) < 0;
    if (set.facts && set.facts->size() == set.size())
        addFacts(set, *set.facts, out);
    return out;
}

Result<DatasetReport> DatasetReport::of(const ManifestPtr &set, const StopToken *stop)
{
    DatasetReport report;
    TW_ASSIGN(duplicates, findDuplicates(*set, nullptr, stop));
    report.m_duplicates = std::move(duplicates);
    report.m_sets = {set};
    report.m_parts.push_back({{}, set->root, statisticsOf(*set)});
    return report;
}

Result<DatasetReport> DatasetReport::of(const ManifestPtr &first, const ManifestPtr &second, const QStringList &names,
                                        const StopToken *stop)
{
    DatasetReport report;
    TW_ASSIGN(duplicates, findDuplicates(*first, second.get(), stop));
    report.m_duplicates = std::move(duplicates);
    report.m_sets = {first, second};
    for (qsizetype i = 0; i < 2; ++i) {
        const ImageManifest &set = *report.m_sets[std::size_t(i)];
        report.m_parts.push_back({names.value(i), set.root, statisticsOf(set)});
    }
    return report;
}

std::string DatasetReport::pathOf(PictureRef picture) const
{
    return std::string(m_sets[picture.set]->path(picture.index));
}

QStringList DatasetReport::leakSentences(const QString &first, const QString &second) const
{
    QStringList sentences;
    if (m_parts.size() < 2)
        return sentences;
    const auto of = QString::number(m_parts[1].statistics.images);
    if (m_duplicates.exactLeaks > 0)
        sentences.append(QStringLiteral("%1 of %2 pictures of the %4 also stand in the %3.")
                             .arg(m_duplicates.exactLeaks)
                             .arg(of, first, second));
    if (m_duplicates.nearLeaks > 0)
        sentences.append(QStringLiteral("%1 of %2 pictures of the %4 look almost like one of the %3.")
                             .arg(m_duplicates.nearLeaks)
                             .arg(of, first, second));
    return sentences;
}

} // namespace tw
