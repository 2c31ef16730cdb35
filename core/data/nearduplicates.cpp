// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/nearduplicates.h"

#include "core/data/keyorder.h"
#include "core/data/picturefacts.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace tw {

namespace {

constexpr std::uint64_t StopCheckSteps = 1 << 16;
constexpr std::size_t LargeBunch = 8'000, Neighbours = 500;
constexpr double LevelTolerance = 4, ShapeTolerance = 0.03;
constexpr double DeviationTolerance = 0.2, SmallDeviationTolerance = 0.06;
constexpr double LeastFactor = 0.75, LargestFactor = 1 / LeastFactor;

Error canceled()
{
    return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "Comparing the pictures was canceled."));
}

/// The pictures of both sets in one row: those of the second after those of the first.
class Pictures
{
public:
    Pictures(const ImageManifest &first, const ImageManifest *second) : m_first(first), m_second(second)
    {
        if (!second)
            return;
        std::map<std::string, int> ids;
        for (std::size_t i = 0; i < first.categories.size(); ++i)
            ids.emplace(first.categories[i], int(i));
        for (const std::string &name : second->categories)
            m_labels.push_back(ids.emplace(name, int(ids.size())).first->second);
    }
    std::size_t size() const { return m_first.size() + (m_second ? m_second->size() : 0); }
    bool isSecond(std::uint32_t i) const { return i >= m_first.size(); }
    PictureRef ref(std::uint32_t i) const
    {
        return isSecond(i) ? PictureRef{std::uint32_t(i - m_first.size()), 1} : PictureRef{i, 0};
    }
    /// By the names of the first set; -1: none.
    int label(std::uint32_t i) const
    {
        const int own = manifest(i).category(ref(i).index);
        return isSecond(i) && own >= 0 ? m_labels[std::size_t(own)] : own;
    }
    std::string_view key(std::uint32_t i) const { return manifest(i).key(ref(i).index); }
    const PictureFacts *facts(std::uint32_t i) const
    {
        const ImageManifest &set = manifest(i);
        return set.facts && set.facts->size() == set.size() ? &(*set.facts)[ref(i).index] : nullptr;
    }

private:
    const ImageManifest &manifest(std::uint32_t i) const { return isSecond(i) ? *m_second : m_first; }
    const ImageManifest &m_first;
    const ImageManifest *m_second;
    std::vector<int> m_labels;
};

struct Tone
{
    std::array<double, 3> mean{}, deviation{};
};

Tone toneOf(const PictureFacts &facts)
{
    Tone tone;
    const double pixels = double(facts.width) * facts.height;
    for (std::size_t c = 0; c < 3; ++c) {
        tone.mean[c] = double(facts.sums[c]) / pixels;
        tone.deviation[c] = std::sqrt(std::max(0.0, double(facts.squares[c]) / pixels - tone.mean[c] * tone.mean[c]));
    }
    return tone;
}

/// Whether `b` is `a` made brighter by `factor`.
bool isTone(const Tone &a, const Tone &b, double factor, double tolerance)
{
    for (std::size_t c = 0; c < 3; ++c) {
        const double deviation = a.deviation[c] * factor;
        const double allowed = std::max(1.0, tolerance * std::max(deviation, b.deviation[c]));
        if (std::abs(a.mean[c] * factor - b.mean[c]) > LevelTolerance || std::abs(deviation - b.deviation[c]) > allowed)
            return false;
    }
    return true;
}

bool isAlike(const PictureFacts &a, const PictureFacts &b)
{
    const bool small = std::min({a.width, a.height, b.width, b.height}) < std::uint32_t(SmallPicture);
    const HashLimits limits = small ? SmallLimits : OrdinaryLimits;
    if (std::popcount(a.hash.code ^ b.hash.code) > limits.code
        || std::popcount(a.hash.check ^ b.hash.check) > limits.check)
        return false;
    const double shape = double(a.width) * b.height / (double(a.height) * b.width);
    if (std::abs(std::log(shape)) > ShapeTolerance)
        return false;
    const Tone first = toneOf(a), second = toneOf(b);
    if (isTone(first, second, 1, small ? SmallDeviationTolerance : DeviationTolerance))
        return true;
    const auto brightness = [](const Tone &tone) { return tone.mean[0] + tone.mean[1] + tone.mean[2]; };
    const double factor = brightness(second) / std::max(brightness(first), 1e-9);
    return !small && factor >= LeastFactor && factor <= LargestFactor
           && isTone(first, second, factor, DeviationTolerance);
}

/// Worst first: a leak with two labels, a leak, two labels, the others; then in the order of the set.
int rank(bool severalLabels, bool acrossSets)
{
    return (acrossSets ? 0 : 2) + (severalLabels ? 0 : 1);
}

template <typename Finding>
std::tuple<int, int, std::uint32_t, int, std::uint32_t> orderOf(const Finding &finding, const PictureRef &first,
                                                                const PictureRef &second)
{
    return {rank(finding.severalLabels, finding.acrossSets), first.set, first.index, second.set, second.index};
}

bool before(const CopyGroup &a, const CopyGroup &b)
{
    return orderOf(a, a.pictures[0], a.pictures[1]) < orderOf(b, b.pictures[0], b.pictures[1]);
}
bool before(const NearPair &a, const NearPair &b)
{
    return orderOf(a, a.first, a.second) < orderOf(b, b.first, b.second);
}

/// The first `Listed` in order, with the memory of twice as many.
template <typename Finding> void keepFirst(std::vector<Finding> &list, Finding finding)
{
    list.push_back(std::move(finding));
    if (list.size() < 2 * Duplicates::Listed)
        return;
    std::sort(list.begin(), list.end(), [](const Finding &a, const Finding &b) { return before(a, b); });
    list.resize(Duplicates::Listed);
}

template <typename Finding> void finishList(std::vector<Finding> &list)
{
    std::sort(list.begin(), list.end(), [](const Finding &a, const Finding &b) { return before(a, b); });
    list.resize(std::min(list.size(), Duplicates::Listed));
}

void addCopies(const Pictures &pictures, const std::uint32_t *begin, const std::uint32_t *end, Duplicates &out,
               std::vector<char> &leaked)
{
    CopyGroup group;
    group.size = end - begin;
    const auto hasOther = [&](auto property) {
        return std::any_of(begin, end, [&](std::uint32_t i) { return property(i) != property(*begin); });
    };
    group.severalLabels = hasOther([&](std::uint32_t i) { return pictures.label(i); });
    group.acrossSets = hasOther([&](std::uint32_t i) { return pictures.isSecond(i); });
    ++out.exactGroups;
    out.exactSurplus += group.size - 1;
    out.exactSeveralLabels += group.severalLabels;
    for (const std::uint32_t *i = begin; group.acrossSets && i != end; ++i)
        if (pictures.isSecond(*i)) {
            leaked[*i] = 1;
            ++out.exactLeaks;
        }
    // Of a long group both sides of a leak are to be seen.
    std::vector<std::uint32_t> shown(begin, std::min(end, begin + Duplicates::ListedPictures));
    if (group.acrossSets && !pictures.isSecond(shown.back()))
        shown.back() = *(end - 1);
    for (const std::uint32_t i : shown)
        group.pictures.push_back(pictures.ref(i));
    keepFirst(out.groups, std::move(group));
}

/// Which pictures have an equal key with an earlier one are the entries of `sameAs` that differ from
/// their place.
std::vector<std::uint32_t> findCopies(const Pictures &pictures, Duplicates &out, std::vector<char> &leaked)
{
    std::vector<std::uint32_t> sameAs(pictures.size());
    std::iota(sameAs.begin(), sameAs.end(), 0U);
    const std::vector<std::uint32_t> order =
        orderByKey(pictures.size(), [&](std::uint32_t i) { return pictures.key(i); });
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin + 1;
        while (end < order.size() && pictures.key(order[end]) == pictures.key(order[begin]))
            sameAs[order[end++]] = order[begin];
        if (end - begin > 1)
            addCopies(pictures, order.data() + begin, order.data() + end, out, leaked);
        begin = end;
    }
    finishList(out.groups);
    return sameAs;
}

/// One content that is there at least once, seen by its hash.
struct Entry
{
    std::uint64_t code;
    std::uint32_t picture;
};

std::uint32_t band(std::uint64_t code, unsigned number)
{
    return std::uint32_t(code >> (16 * number)) & 0xffffU;
}

class NearSearch
{
public:
    NearSearch(const Pictures &pictures, std::vector<std::uint32_t> sameAs, std::vector<char> &leaked, Duplicates &out,
               const StopToken *stop)
        : m_pictures(pictures), m_sameAs(std::move(sameAs)), m_leaked(leaked), m_out(out), m_stop(stop)
    {
    }

    bool run()
    {
        std::vector<Entry> entries = collect();
        for (unsigned number = 0; number < 4; ++number) {
            std::sort(entries.begin(), entries.end(), [number](const Entry &a, const Entry &b) {
                const auto first = std::rotr(a.code, int(16 * number)), second = std::rotr(b.code, int(16 * number));
                const auto firstBand = band(a.code, number), secondBand = band(b.code, number);
                return std::tie(firstBand, first, a.picture) < std::tie(secondBand, second, b.picture);
            });
            for (std::size_t begin = 0; begin < entries.size();) {
                std::size_t end = begin + 1;
                while (end < entries.size() && band(entries[end].code, number) == band(entries[begin].code, number))
                    ++end;
                if (!meet(entries, begin, end, number))
                    return false;
                begin = end;
            }
        }
        finishList(m_out.pairs);
        for (std::uint32_t i = 0; i < m_pictures.size(); ++i) // copies of what leaks do so too
            if (m_pictures.isSecond(i) && !m_leaked[i] && m_leaked[m_sameAs[i]]) {
                m_leaked[i] = 1;
                ++m_out.nearLeaks;
            }
        return true;
    }

private:
    std::vector<Entry> collect()
    {
        std::vector<Entry> entries;
        for (std::uint32_t i = 0; i < m_pictures.size(); ++i) {
            const PictureFacts *facts = m_pictures.facts(i);
            if (!facts || !facts->hasPixels)
                continue;
            ++(facts->hash.known ? m_out.compared : m_out.leftOut);
            if (facts->hash.known && m_sameAs[i] == i) // of copies one stands for all
                entries.push_back({facts->hash.code, i});
        }
        return entries;
    }

    bool meet(const std::vector<Entry> &entries, std::size_t begin, std::size_t end, unsigned number)
    {
        const bool large = end - begin > LargeBunch;
        m_out.cutShort = m_out.cutShort || large;
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t last = large ? std::min(end, i + 1 + Neighbours) : end;
            for (std::size_t j = i + 1; j < last; ++j)
                compare(entries[i], entries[j], number);
            m_steps += last - i;
            if (m_steps > StopCheckSteps) {
                m_steps = 0;
                if (m_stop && m_stop->cancel)
                    return false;
            }
        }
        return true;
    }

    void compare(const Entry &a, const Entry &b, unsigned number)
    {
        const std::uint64_t different = a.code ^ b.code;
        std::uint64_t rest = different;
        for (int bit = 0; bit < OrdinaryLimits.code; ++bit) // quicker than counting all without an instruction for it
            rest &= rest - 1;
        if (rest != 0)
            return;
        for (unsigned earlier = 0; earlier < number; ++earlier)
            if (band(different, earlier) == 0)
                return; // they have met there
        if (isAlike(*m_pictures.facts(a.picture), *m_pictures.facts(b.picture)))
            add(std::min(a.picture, b.picture), std::max(a.picture, b.picture), std::popcount(different));
    }

    void add(std::uint32_t first, std::uint32_t second, int bits)
    {
        NearPair pair{m_pictures.ref(first), m_pictures.ref(second), bits,
                      m_pictures.label(first) != m_pictures.label(second),
                      m_pictures.isSecond(first) != m_pictures.isSecond(second)};
        ++m_out.nearPairs;
        m_out.nearSeveralLabels += pair.severalLabels;
        if (pair.acrossSets && !m_leaked[second]) {
            m_leaked[second] = 1;
            ++m_out.nearLeaks;
        }
        keepFirst(m_out.pairs, pair);
    }

    const Pictures &m_pictures;
    std::vector<std::uint32_t> m_sameAs;
    std::vector<char> &m_leaked;
    Duplicates &m_out;
    const StopToken *m_stop;
    std::uint64_t m_steps = 0;
};

} // namespace

Result<Duplicates> findDuplicates(const ImageManifest &first, const ImageManifest *second, const StopToken *stop)
{
    const Pictures pictures(first, second);
    Duplicates out;
    std::vector<char> leaked(pictures.size(), 0);
    std::vector<std::uint32_t> sameAs = findCopies(pictures, out, leaked);
    if (stop && stop->cancel)
        return canceled();
    if (!NearSearch(pictures, std::move(sameAs), leaked, out, stop).run())
        return canceled();
    return out;
}

} // namespace tw
