// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/pairedcomparison.h"

#include <QCryptographicHash>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tw {

namespace {

constexpr double z95 = 1.959963984540054; ///< 97.5 % point of the normal distribution

/// Distances from a share to its Wilson limits.
struct WilsonArms
{
    double below = 0, above = 0;
};

WilsonArms wilson(double hits, double total)
{
    const double share = hits / total, z2 = z95 * z95;
    const double centre = share + z2 / (2 * total), scale = 1 + z2 / total;
    const double half = z95 * std::sqrt(share * (1 - share) / total + z2 / (4 * total * total));
    return {share - (centre - half) / scale, (centre + half) / scale - share};
}

/// Correlation of both models' being right, with Newcombe's continuity correction.
double correlation(double both, double first, double second, double neither)
{
    const double product = (both + first) * (second + neither) * (both + second) * (first + neither);
    if (product <= 0)
        return 0;
    const double excess = both * neither - first * second, half = (both + first + second + neither) / 2;
    const double corrected = excess > half ? excess - half : std::min(excess, 0.0);
    return corrected / std::sqrt(product);
}

} // namespace

std::optional<PairedInterval> pairedInterval(const PairedCounts &counts)
{
    const double total = double(counts.total()), both = double(counts.bothRight), first = double(counts.onlyFirstRight),
                 second = double(counts.onlySecondRight), neither = double(counts.bothWrong);
    if (counts.total() == 0)
        return std::nullopt;
    const WilsonArms ofSecond = wilson(both + second, total), ofFirst = wilson(both + first, total);
    const double phi = correlation(both, first, second, neither);
    const auto reach = [phi](double a, double b) { return std::sqrt(std::max(0.0, a * a - 2 * phi * a * b + b * b)); };
    PairedInterval interval;
    interval.difference = (second - first) / total;
    interval.lower = interval.difference - reach(ofSecond.below, ofFirst.above);
    interval.upper = interval.difference + reach(ofSecond.above, ofFirst.below);
    return interval;
}

double mcnemarExactP(const PairedCounts &counts)
{
    const double fewer = double(std::min(counts.onlyFirstRight, counts.onlySecondRight)),
                 all = double(counts.onlyFirstRight + counts.onlySecondRight);
    // Terms of the tail against its last one, which is the largest.
    double sum = 0, term = 1;
    for (double k = fewer; k >= 0 && term > sum * 1e-18; --k) {
        sum += term;
        term *= k / (all - k + 1);
    }
    const double last =
        std::lgamma(all + 1) - std::lgamma(fewer + 1) - std::lgamma(all - fewer + 1) - all * std::log(2);
    return std::min(1.0, 2 * sum * std::exp(last));
}

PairedMatcher::Key PairedMatcher::keyOf(std::string_view path)
{
    const QByteArray hash = QCryptographicHash::hash(QByteArray::fromRawData(path.data(), qsizetype(path.size())),
                                                     QCryptographicHash::Blake2b_160);
    Key key{};
    std::memcpy(key.data(), hash.constData(), sizeof(Key));
    return key;
}

void PairedMatcher::addFirst(const PairedAnswer &answer)
{
    const auto next = std::int32_t(m_categories.size());
    Entry entry;
    entry.key = keyOf(answer.path);
    entry.row = std::uint32_t(m_entries.size());
    entry.label = answer.label.value_or(-1);
    entry.category = m_categories.try_emplace(std::string(answer.category), next).first->second;
    entry.right = answer.right;
    m_entries.push_back(entry);
}

void PairedMatcher::seal()
{
    const auto before = [](const Entry &a, const Entry &b) { return a.key != b.key ? a.key < b.key : a.row < b.row; };
    const auto same = [](const Entry &a, const Entry &b) { return a.key == b.key; };
    std::sort(m_entries.begin(), m_entries.end(), before);
    const auto end = std::unique(m_entries.begin(), m_entries.end(), same);
    m_repeated += m_entries.end() - end;
    m_entries.erase(end, m_entries.end());
}

std::optional<PairedMatcher::Match> PairedMatcher::addSecond(const PairedAnswer &answer)
{
    const Key key = keyOf(answer.path);
    const auto found = std::lower_bound(m_entries.begin(), m_entries.end(), key,
                                        [](const Entry &entry, const Key &wanted) { return entry.key < wanted; });
    if (found == m_entries.end() || found->key != key) {
        ++m_onlySecond;
        return std::nullopt;
    }
    if (std::exchange(found->matched, true)) {
        ++m_repeated;
        return std::nullopt;
    }
    const auto category = m_categories.find(std::string(answer.category));
    if (category == m_categories.end() || category->second != found->category) {
        ++m_otherCategory;
        return std::nullopt;
    }
    ++(found->right ? (answer.right ? m_counts.bothRight : m_counts.onlyFirstRight)
                    : (answer.right ? m_counts.onlySecondRight : m_counts.bothWrong));
    return Match{found->label < 0 ? std::nullopt : std::optional<int>(found->label), found->right};
}

std::vector<std::uint32_t> PairedMatcher::onlyInFirst() const
{
    std::vector<std::uint32_t> rows;
    for (const Entry &entry : m_entries)
        if (!entry.matched)
            rows.push_back(entry.row);
    std::sort(rows.begin(), rows.end());
    return rows;
}

} // namespace tw
