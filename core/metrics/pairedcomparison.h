// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QtGlobal>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tw {

/// Images that two models answered, by who was right.
struct PairedCounts
{
    qint64 bothRight = 0, onlyFirstRight = 0, onlySecondRight = 0, bothWrong = 0;
    qint64 total() const { return bothRight + onlyFirstRight + onlySecondRight + bothWrong; }
};

/// Second accuracy less the first, with its 95 % confidence interval: Newcombe 1998 (Statistics in
/// Medicine 17:2635), method 10, which joins Wilson's limits of both through their correlation.
struct PairedInterval
{
    double difference = 0, lower = 0, upper = 0;
};
/// Nothing without images.
std::optional<PairedInterval> pairedInterval(const PairedCounts &counts);
/// Two-sided exact p of McNemar's test: the binomial tail over the images on which the models differ,
/// doubled, at most 1.
double mcnemarExactP(const PairedCounts &counts);

/// Who answered what for one image; ids in the model's own class list, none: no answer.
struct PairedAnswer
{
    std::string_view path, category;
    std::optional<int> label;
    bool right = false;
};

/// Matches the images of two tables by their paths, in any order; 40 bytes an image. First
/// everything of the first table, then seal(), then everything of the second.
class PairedMatcher
{
public:
    struct Match
    {
        std::optional<int> firstLabel;
        bool firstRight = false;
    };

    void addFirst(const PairedAnswer &answer);
    void seal();
    /// The first table's answer. Nothing: not there, there with another category, or matched before.
    std::optional<Match> addSecond(const PairedAnswer &answer);

    const PairedCounts &counts() const { return m_counts; }
    qint64 onlyInSecond() const { return m_onlySecond; }
    qint64 otherCategory() const { return m_otherCategory; }
    qint64 repeated() const { return m_repeated; } ///< rows left out: their image stood there before
    /// Rows of the first table (from 0) that the second does not have.
    std::vector<std::uint32_t> onlyInFirst() const;

private:
    using Key = std::array<std::uint64_t, 2>;
    struct Entry
    {
        Key key{};
        std::uint32_t row = 0;
        std::int32_t label = -1, category = 0;
        bool right = false, matched = false;
    };
    static Key keyOf(std::string_view path);

    std::vector<Entry> m_entries;
    std::unordered_map<std::string, std::int32_t> m_categories;
    PairedCounts m_counts;
    qint64 m_onlySecond = 0, m_otherCategory = 0, m_repeated = 0;
};

} // namespace tw
