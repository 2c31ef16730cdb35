// SPDX-License-Identifier: GPL-3.0-or-later
// The files of a model against the network that they were written from.
#include "core/train/parity.h"

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/data/philox.h"
#include "core/metrics/scoring.h"
#include "core/model/modeljson.h"
#include "core/model/weightsfile.h"
#include "core/train/predictor.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tw {

namespace parity {

constexpr std::size_t mostPictures = 256;
constexpr int largestBatch = 32;
constexpr double relativeTolerance = 2e-5;          ///< what two ways of adding up a network's float32 sums differ by
constexpr std::uint32_t philoxPurpose = 0x50415249; ///< none of RandomPurpose

/// One weights file, read back, and how far its network is from that in memory.
struct WrittenFile
{
    const char *name = nullptr;
    QByteArray sha256;
    std::unique_ptr<Predictor> network;
    double largestGap = 0;
    std::int64_t agreeing = 0;
};

struct Figures
{
    std::vector<WrittenFile> files;
    std::int64_t pictures = 0;
    double largestLogit = 0;

    double tolerance() const { return relativeTolerance * std::max(1.0, largestLogit); }
    const WrittenFile &worst() const
    {
        return *std::max_element(files.begin(), files.end(),
                                 [](const auto &a, const auto &b) { return a.largestGap < b.largestGap; });
    }
    double agreement(std::int64_t agreeing) const { return double(agreeing) / double(pictures); }
    double leastAgreement() const
    {
        return agreement(std::min_element(files.begin(), files.end(), [](const auto &a, const auto &b) {
                             return a.agreeing < b.agreeing;
                         })->agreeing);
    }
};

/// What the file itself is to blame for; other errors (no memory, no device) as they are.
Error cannotBeReadBack(const fs::path &file, const Error &reason)
{
    if (reason.name != QLatin1String(errors::InvalidModelDirectory)
        && reason.name != QLatin1String(errors::CheckpointMismatch))
        return reason;
    return makeError(errors::FailedToWriteOutputs,
                     QT_TRANSLATE_NOOP("Error", "%1 was written, but cannot be read back: %2"),
                     {displayPath(file), reason.sentence()},
                     QT_TRANSLATE_NOOP("Error", "Check the disk and the memory of this machine, then run the node "
                                                "again."));
}

Error otherThanWritten(const fs::path &file, const QString &what)
{
    return makeError(errors::FailedToWriteOutputs,
                     QT_TRANSLATE_NOOP("Error", "%1 does not read back as it was written: %2."),
                     {displayPath(file), what},
                     QT_TRANSLATE_NOOP("Error", "Check the disk and the memory of this machine, then run the node "
                                                "again."));
}

Error aboveTolerance(const fs::path &folder, const Figures &figures)
{
    const WrittenFile &file = figures.worst();
    return makeError(errors::FailedToWriteOutputs,
                     QT_TRANSLATE_NOOP("Error", "%1, read back, answers otherwise than the trained network: over %2 "
                                                "validation pictures the largest gap of a logit is %3; the tolerance "
                                                "is %4."),
                     {displayPath(folder / file.name), QString::number(figures.pictures),
                      QString::number(file.largestGap, 'g', 4), QString::number(figures.tolerance(), 'g', 4)},
                     QT_TRANSLATE_NOOP("Error", "Nothing was exported. Check the disk and the memory of this machine, "
                                                "then run the node again."));
}

/// model.json as a user's program finds it.
Result<ModelInfo> readBackInfo(const fs::path &folder, const ModelInfo &written)
{
    const fs::path file = folder / "model.json";
    auto info = readModelInfo(folder);
    if (!info.ok())
        return cannotBeReadBack(file, info.error());
    const bool same = info->config.architecture == written.config.architecture
                      && jsonCompact(info->config.arguments) == jsonCompact(written.config.arguments)
                      && info->classes == written.classes && info->transforms == written.transforms
                      && info->channels == written.channels && info->height == written.height
                      && info->width == written.width;
    if (!same)
        return otherThanWritten(file, QStringLiteral("network, classes or input differ"));
    for (int channel = 0; channel < written.channels; ++channel) {
        const auto at = std::size_t(channel);
        if (info->normalization.mean[at] != written.normalization.mean[at]
            || info->normalization.std[at] != written.normalization.std[at])
            return otherThanWritten(file, QStringLiteral("mean or deviation differ"));
    }
    return info;
}

Result<WrittenFile> readBackWeights(const fs::path &file, const char *name, const ModelInfo &info,
                                    const ParityRequest &request)
{
    WrittenFile written;
    written.name = name;
    const auto weights = readWeights(file);
    if (!weights.ok())
        return cannotBeReadBack(file, weights.error());
    auto network = Predictor::create(info, *weights, displayPath(file), request.device, request.threads);
    if (!network.ok())
        return cannotBeReadBack(file, network.error());
    written.network = std::move(*network);
    return written;
}

std::size_t bestOf(std::span<const float> row)
{
    return std::size_t(std::max_element(row.begin(), row.end()) - row.begin());
}

void compare(std::span<const float> reference, std::span<const float> logits, std::size_t classes, WrittenFile &file)
{
    for (std::size_t i = 0; i < reference.size(); ++i)
        file.largestGap = std::max(file.largestGap, logitGap(reference[i], logits[i]));
    for (std::size_t row = 0; row + classes <= reference.size(); row += classes)
        file.agreeing += bestOf(reference.subspan(row, classes)) == bestOf(logits.subspan(row, classes)) ? 1 : 0;
}

/// All networks on the same batch; the logits of that in memory.
Result<std::vector<float>> ask(const Batch &batch, Predictor &reference, Figures &figures)
{
    TW_ASSIGN(logits, reference.logits(batch));
    const std::size_t classes = reference.info().classes.size();
    for (const float logit : logits) {
        if (std::isfinite(logit))
            figures.largestLogit = std::max(figures.largestLogit, std::abs(double(logit)));
    }
    for (WrittenFile &file : figures.files) {
        TW_ASSIGN(read, file.network->logits(batch));
        compare(logits, read, classes, file);
    }
    figures.pictures += batch.count;
    return std::move(logits);
}

Result<void> score(const ModelInfo &info, Predictor &reference, const ParityRequest &request, RunContext &context,
                   Figures &figures)
{
    const ManifestPtr &all = request.validation;
    const auto pictures = std::make_shared<const ImageManifest>(all->subset(parityPictures(all->size(), request.seed)));
    ScoringPass pass{pictures, info, [&](const Batch &batch) { return ask(batch, reference, figures); }};
    pass.batchSize = std::clamp(request.batchSize, 1, largestBatch);
    pass.largestLoss = 1; // validation has judged them
    pass.stop = &context.stopToken();
    pass.picture = [](const ScoredPicture &) { return Result<void>(); };
    pass.progress = [&context, total = pictures->size()](std::int64_t done, double) {
        context.progress(
            1, QStringLiteral("compared the written files on %1 of %2 validation pictures").arg(done).arg(total));
    };
    TW_TRY(scorePictures(pass));
    return {};
}

/// Of the bytes that were scored, which must be those that model.json speaks of.
Result<void> takeHashes(const fs::path &folder, Figures &figures)
{
    TW_ASSIGN(stated, readWeightsHashes(folder));
    for (WrittenFile &file : figures.files) {
        TW_ASSIGN(sum, sha256OfFile(folder / file.name, errors::FailedToWriteOutputs));
        if (sum != (fs::path(file.name).extension() == ".pth" ? stated.pth : stated.safetensors))
            return otherThanWritten(folder / file.name, QStringLiteral("its SHA-256 is not what model.json states"));
        file.sha256 = sum;
    }
    return {};
}

QByteArray certificate(const Figures &figures, const ParityRequest &request)
{
    QByteArray files;
    for (const WrittenFile &file : figures.files) {
        files += files.isEmpty() ? "\n    " : ",\n    ";
        files += jsonString(QString::fromLatin1(file.name)) + ": "
                 + jsonObjectLine({{"sha256", jsonString(QString::fromLatin1(file.sha256))},
                                   {"largest_gap", jsonNumber(file.largestGap)},
                                   {"top1_agreement", jsonNumber(figures.agreement(file.agreeing))}})
                       .trimmed();
    }
    const std::pair<const char *, QByteArray> members[] = {
        {"format", "\"trainwright-parity\""},
        {"version", "1"},
        {"pictures", QByteArray::number(qint64(figures.pictures))},
        {"validation_pictures", QByteArray::number(quint64(request.validation->size()))},
        {"validation_fingerprint", jsonString(QString::fromStdString(request.validation->fingerprint))},
        {"seed", QByteArray::number(qint64(request.seed))},
        {"largest_logit", jsonNumber(figures.largestLogit)},
        {"tolerance", jsonNumber(figures.tolerance())},
        {"largest_gap", jsonNumber(figures.worst().largestGap)},
        {"top1_agreement", jsonNumber(figures.leastAgreement())},
        {"files", '{' + files + "\n  }"}};
    QByteArray out;
    for (const auto &[key, value] : members)
        out += (out.isEmpty() ? QByteArray("{\n  \"") : QByteArray(",\n  \"")) + key + "\": " + value;
    return out + "\n}\n";
}

void announce(const Figures &figures, RunContext &context)
{
    context.result(QStringLiteral("parity_gap"), figures.worst().largestGap);
    context.result(QStringLiteral("parity_top1_agreement"), figures.leastAgreement());
    const QString line = QStringLiteral("Files compared with the trained network on %1 validation pictures: largest "
                                        "gap of a logit %2 (tolerance %3), top-1 agreement %4 %")
                             .arg(figures.pictures)
                             .arg(figures.worst().largestGap, 0, 'g', 3)
                             .arg(figures.tolerance(), 0, 'g', 3)
                             .arg(100 * figures.leastAgreement(), 0, 'f', 2);
    context.log(LogLevel::Info, line);
    context.driverLog(0, line);
}

} // namespace parity

std::vector<std::uint32_t> parityPictures(std::size_t count, std::uint64_t seed)
{
    const std::size_t taken = std::min(count, parity::mostPictures);
    const auto drawn =
        philox4x32({parity::philoxPurpose, 0, 0, 0}, {std::uint32_t(seed), std::uint32_t(seed >> 32)}).front();
    const double offset = double(drawn) / 4294967296.0; // in [0, 1)
    std::vector<std::uint32_t> indices;
    indices.reserve(taken);
    for (std::size_t i = 0; i < taken; ++i)
        indices.push_back(std::uint32_t((double(i) + (taken < count ? offset : 0)) * double(count) / double(taken)));
    return indices;
}

double logitGap(float one, float other)
{
    if (one == other || (std::isnan(one) && std::isnan(other)))
        return 0;
    if (!std::isfinite(one) || !std::isfinite(other))
        return std::numeric_limits<double>::infinity();
    return std::abs(double(one) - double(other));
}

Result<void> certifyModel(const fs::path &folder, const ParityRequest &request, RunContext &context)
{
    using namespace parity;
    context.progress(1, QStringLiteral("reading the written files back"));
    TW_ASSIGN(info, readBackInfo(folder, request.info));
    TW_ASSIGN(reference, Predictor::create(request.info, request.weights, QStringLiteral("the trained network"),
                                           request.device, request.threads));
    Figures figures;
    for (const char *name : {"weights.pth", "weights.safetensors"}) {
        TW_ASSIGN(file, readBackWeights(folder / name, name, info, request));
        figures.files.push_back(std::move(file));
    }
    TW_TRY(score(info, *reference, request, context, figures));
    if (figures.pictures == 0) {
        context.log(LogLevel::Warning,
                    QStringLiteral("No validation picture can be read any more: the model has no parity.json."));
        return {};
    }
    if (!(figures.worst().largestGap <= figures.tolerance()))
        return aboveTolerance(folder, figures);
    TW_TRY(takeHashes(folder, figures));
    TW_TRY(writeFileAtomically(folder / "parity.json", certificate(figures, request)));
    announce(figures, context);
    return {};
}

} // namespace tw
