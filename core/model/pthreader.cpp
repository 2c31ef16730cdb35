// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/checkpointreader.h"
#include "core/model/mappedfile.h"
#include "core/model/pthformats.h"
#include "core/model/weightschecks.h"

#include <QString>

#include <algorithm>

namespace tw {

namespace {

/// LONG1 of 10 bytes, the number that torch.save wrote first, and STOP.
constexpr std::string_view legacyMagic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

} // namespace

PthFormat pthFormat(std::string_view head)
{
    constexpr std::size_t tarMagicAt = 257;
    if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06"))
        return PthFormat::Zip;
    if (head.size() > 2 && head[0] == '\x80' && head.substr(2).starts_with(legacyMagic))
        return PthFormat::Legacy;
    if (head.size() > tarMagicAt && head.substr(tarMagicAt).starts_with("ustar"))
        return PthFormat::Tar;
    return PthFormat::None;
}

Error pthDamaged(const fs::path &file, const QString &what)
{
    return makeError(errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "%1 is damaged: %2."),
                     {displayPath(file), what}, QT_TRANSLATE_NOOP("Error", "Copy or download the file again."));
}

Result<std::uint32_t> runPickle(PickleMachine &machine, std::span<const std::byte> bytes, const fs::path &file)
{
    Result<std::uint32_t> root = machine.run(bytes);
    if (root.ok())
        return root;
    Error error = root.error();
    const QString reason = error.sentence();
    error.text = QString::fromUtf8(QT_TRANSLATE_NOOP("Error", "%1 is refused: %2."));
    error.args = {displayPath(file), reason};
    return error;
}

Result<StateDict> finishPth(const fs::path &file, const PickleMachine &machine, std::uint32_t root,
                            StorageSource &source, const char *format, WeightsReport *report)
{
    TW_ASSIGN(weights, CheckpointReader(file, machine, source, report).read(root));
    if (report) {
        report->format = QLatin1String(format);
        reportNotFinite(weights, *report);
    }
    return std::move(weights);
}

Result<StateDict> readPth(const fs::path &file, WeightsReport *report)
{
    PthFormat format = PthFormat::None;
    {
        TW_ASSIGN(mapping, MappedFile::open(file));
        constexpr std::size_t headBytes = 512;
        const auto bytes = mapping->bytes().first(std::min(mapping->bytes().size(), headBytes));
        format = pthFormat({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
    }
    if (format == PthFormat::Legacy)
        return readLegacyPth(file, report);
    return format == PthFormat::Tar ? readTarPth(file, report) : readZipPth(file, report);
}

} // namespace tw
