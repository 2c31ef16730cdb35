// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/datasetscan.h"
#include "core/data/nearduplicates.h"
#include "core/data/picturefacts.h"

#include <QStringList>

#include <array>
#include <optional>

namespace tw {

struct Spread
{
    std::uint32_t least = 0, median = 0, largest = 0; ///< of an even number the lower median
};

/// What one set holds; everything below `measured` is about the pictures whose facts are known.
struct DatasetStatistics
{
    struct Size
    {
        std::uint32_t width = 0, height = 0;
        std::int64_t images = 0;
    };
    static constexpr std::size_t CommonSizes = 10;

    std::int64_t images = 0, unlabelled = 0;
    std::vector<std::pair<std::string, std::int64_t>> classes; ///< class-id order
    std::int64_t measured = 0;                                 ///< size and format are known
    Spread width, height;
    std::int64_t differentSizes = 0;
    std::vector<Size> sizes;                               ///< the commonest first, CommonSizes of them
    std::vector<std::pair<QString, std::int64_t>> formats; ///< the commonest first
    std::int64_t decoded = 0;                              ///< mean and deviation are of these
    std::optional<std::array<double, 3>> mean, deviation;  ///< of all pixels of all pictures, in [0, 1]
};
/// The facts of `set` put together. Mean and deviation are those of datasetNormalization() without
/// operations, except that a channel of one value has the deviation 0.
DatasetStatistics statisticsOf(const ImageManifest &set);

/// The report of a set, or of a training and a validation set together (the two outputs of a split,
/// the two inputs of a training).
class DatasetReport
{
public:
    struct Part
    {
        QString name; ///< empty for a set alone
        fs::path root;
        DatasetStatistics statistics;
    };

    /// CanceledError.
    static Result<DatasetReport> of(const ManifestPtr &set, const StopToken *stop = nullptr);
    /// `names`: of the first and the second part. CanceledError.
    static Result<DatasetReport> of(const ManifestPtr &first, const ManifestPtr &second, const QStringList &names,
                                    const StopToken *stop = nullptr);

    const std::vector<Part> &parts() const { return m_parts; }
    const Duplicates &duplicates() const { return m_duplicates; }
    /// Relative to its root.
    std::string pathOf(PictureRef picture) const;
    /// "12 of 60 pictures of the validation set also stand in the training set.": of parts that are called
    /// `first` and `second`; empty when none does.
    QStringList leakSentences(const QString &first, const QString &second) const;
    /// data_report.json: the whole of it, with what the scan noticed. Describes part `part`; with two
    /// parts also both their counts and the leakage.
    QByteArray toJson(const DataReport &notes, std::size_t part = 0) const;
    /// The keys of toJson() that stand behind "images" and "classes", with a comma before each:
    /// what `data --json` adds to its own.
    QByteArray jsonMembers(std::size_t part = 0) const;

private:
    std::vector<ManifestPtr> m_sets;
    std::vector<Part> m_parts;
    Duplicates m_duplicates;
};

} // namespace tw
