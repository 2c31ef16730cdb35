// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/weightschecks.h"

#include "core/model/mappedfile.h"
#include "core/train/memorylimit.h"

#include <QStringDecoder>

#include <cstring>
#include <set>

namespace tw {

namespace {

/// Exponent bits all set: NaN or infinity, for every IEEE format and bfloat16.
template <typename Bits> bool allFinite(const TensorBlob &blob, Bits exponentMask)
{
    bool finite = true;
    forEachPiece({blob.data, blob.bytes}, blob.mapped, [&](std::span<const std::byte> piece) {
        for (std::size_t at = 0; at + sizeof(Bits) <= piece.size(); at += sizeof(Bits)) {
            Bits bits;
            std::memcpy(&bits, piece.data() + at, sizeof bits);
            if ((bits & exponentMask) == exponentMask)
                return finite = false;
        }
        return true;
    });
    return finite;
}

bool isFinite(const TensorBlob &blob)
{
    switch (blob.type) {
    case ElementType::F32:
        return allFinite<std::uint32_t>(blob, 0x7F800000u);
    case ElementType::F64:
        return allFinite<std::uint64_t>(blob, 0x7FF0000000000000u);
    case ElementType::F16:
        return allFinite<std::uint16_t>(blob, 0x7C00u);
    case ElementType::BF16:
        return allFinite<std::uint16_t>(blob, 0x7F80u);
    default:
        return true;
    }
}

bool isUtf8(const std::string &text)
{
    QStringDecoder decoder(QStringDecoder::Utf8, QStringDecoder::Flag::Stateless);
    const QString decoded = decoder(QByteArrayView(text.data(), static_cast<qsizetype>(text.size())));
    return !decoder.hasError();
}

} // namespace

void WeightsReport::addExtra(const QString &name)
{
    constexpr qsizetype most = 500;
    if (extras.size() < most)
        extras += name;
}

Result<void> checkWeightsMemory(const fs::path &file, std::uint64_t bytes)
{
    const std::int64_t free = availableMemoryBytes();
    if (free < 0 || bytes <= static_cast<std::uint64_t>(free))
        return {};
    const auto megabytes = [](std::uint64_t count) { return QString::number(count / 1'000'000); };
    return makeError(
        errors::InvalidModelDirectory,
        QT_TRANSLATE_NOOP("Error", "To read %1 needs %2 MB of memory for what is packed in it; %3 MB are free."),
        {displayPath(file), megabytes(bytes), megabytes(static_cast<std::uint64_t>(free))},
        QT_TRANSLATE_NOOP("Error", "Save it again with torch.save, which stores tensors as they are, or end "
                                   "other programs."));
}

void reportNotFinite(const StateDict &weights, WeightsReport &report)
{
    constexpr int named = 5;
    QStringList names;
    for (const TensorBlob &blob : weights) {
        if (!isFinite(blob))
            names += QString::fromStdString(blob.name);
    }
    if (names.isEmpty())
        return;
    const QString more = names.size() > named ? QStringLiteral(" and %1 more").arg(names.size() - named) : QString();
    report.warnings +=
        QStringLiteral("A NaN or an infinity stands in: %1%2").arg(names.mid(0, named).join(u", "), more);
}

Result<void> checkWritable(const fs::path &file, const StateDict &weights)
{
    std::set<std::string> names;
    for (const TensorBlob &blob : weights) {
        const bool fits = blob.bytes == static_cast<std::size_t>(blob.elements()) * elementBytes(blob.type);
        const bool named = !blob.name.empty() && isUtf8(blob.name) && names.insert(blob.name).second;
        if (!fits || !named || (blob.bytes > 0 && !blob.data))
            return makeError(errors::FailedToWriteOutputs,
                             QT_TRANSLATE_NOOP("Error",
                                               "The tensor '%1' cannot be written to %2: its name is empty or used "
                                               "twice, or its bytes do not fit its shape."),
                             {QString::fromStdString(blob.name), displayPath(file)});
    }
    return {};
}

std::string stripNamePrefix(StateDict &weights)
{
    std::string taken;
    for (bool again = !weights.empty(); again;) {
        again = false;
        for (const std::string prefix : {"module.", "_orig_mod."}) {
            bool all = true;
            for (const TensorBlob &blob : weights)
                all = all && blob.name.starts_with(prefix) && blob.name.size() > prefix.size();
            if (!all)
                continue;
            for (TensorBlob &blob : weights)
                blob.name.erase(0, prefix.size());
            taken += prefix;
            again = true;
        }
    }
    return taken;
}

} // namespace tw
