// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/json.h"
#include "core/data/picturebytes.h"

#include <array>

namespace tw::cli {

namespace {

QByteArray triple(const std::array<double, 3> &values)
{
    return '[' + jsonNumber(values[0]) + ',' + jsonNumber(values[1]) + ',' + jsonNumber(values[2]) + ']';
}

std::array<double, 3> meanColour(const ImageBuffer &image)
{
    std::array<std::uint64_t, 3> sums{};
    for (std::size_t i = 0; i < image.pixels.size(); ++i)
        sums[i % 3] += image.pixels[i];
    const double pixels = double(image.pixels.size() / 3);
    return {double(sums[0]) / pixels, double(sums[1]) / pixels, double(sums[2]) / pixels};
}

/// "X,Y" inside the picture, else nothing.
std::optional<std::array<double, 3>> probe(const ImageBuffer &image, const QByteArray &text)
{
    const QList<QByteArray> parts = text.split(',');
    bool okX = false, okY = false;
    const int x = parts.value(0).toInt(&okX), y = parts.value(1).toInt(&okY);
    if (parts.size() != 2 || !okX || !okY || x < 0 || y < 0 || x >= image.width || y >= image.height)
        return std::nullopt;
    const std::uint8_t *pixel = image.row(y) + std::ptrdiff_t(x) * 3;
    return std::array<double, 3>{double(pixel[0]), double(pixel[1]), double(pixel[2])};
}

Result<ImageBuffer> load(const fs::path &file)
{
    std::vector<std::uint8_t> bytes;
    TW_TRY(readPictureFile(file.native(), bytes));
    return decodeImage(bytes, file.native());
}

/// The pixels asked for, with a comma between; "null" for one outside where `mayMiss`. Nothing: a usage
/// error was printed.
std::optional<QByteArray> probesText(const ImageBuffer &image, const QList<QByteArray> &probes, bool mayMiss)
{
    QByteArray out;
    for (const QByteArray &text : probes) {
        const auto pixel = probe(image, text);
        if (!pixel && !mayMiss) {
            usageError(QStringLiteral("'--probe %1' is not X,Y inside the picture of %2 × %3.")
                           .arg(QString::fromUtf8(text))
                           .arg(image.width)
                           .arg(image.height),
                       {});
            return std::nullopt;
        }
        out += (out.isEmpty() ? "" : ",") + (pixel ? triple(*pixel) : QByteArray("null"));
    }
    return out;
}

QByteArray lineOf(const fs::path &file, const ImageBuffer &image, const QByteArray &probes, bool json, bool named)
{
    const QByteArray width = QByteArray::number(image.width), height = QByteArray::number(image.height);
    const QByteArray mean = triple(meanColour(image));
    if (json) {
        const QByteArray line =
            jsonObjectLine({{"width", width}, {"height", height}, {"mean_rgb", mean}, {"probes", '[' + probes + ']'}});
        return (named ? "{\"path\":" + jsonCompact(pathToJson(file)) + ',' + line.mid(1) : line) + '\n';
    }
    return (named ? QByteArray::fromStdString(file.native()) + ": " : QByteArray()) + width + " x " + height
           + ", mean RGB " + mean + (probes.isEmpty() ? QByteArray() : ", probes " + probes) + '\n';
}

int run(const Arguments &arguments)
{
    const bool several = arguments.words().size() > 1;
    int code = exitDone;
    for (const QByteArray &word : arguments.words()) {
        const fs::path file = pathFromBytes(word);
        const auto image = load(file);
        if (!image.ok()) {
            printError(image.error());
            code = exitFailed;
            continue;
        }
        const auto probes = probesText(*image, arguments.all("probe"), several);
        if (!probes)
            return exitUsage;
        writeOut(lineOf(file, *image, *probes, arguments.has("json"), several));
    }
    return code;
}

} // namespace

Command decodeCommand()
{
    return {"decode",
            "IMAGE…",
            "Decodes pictures and shows their sizes and colours.",
            {{"probe", "X,Y", "show this pixel; may be repeated"}, {"json", nullptr, "print JSON, a line a picture"}},
            1,
            -1,
            run};
}

} // namespace tw::cli
