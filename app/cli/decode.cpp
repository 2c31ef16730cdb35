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

int run(const Arguments &arguments)
{
    const auto image = load(pathFromBytes(arguments.words().first()));
    if (!image.ok()) {
        printError(image.error());
        return exitFailed;
    }
    QByteArray probes;
    for (const QByteArray &text : arguments.all("probe")) {
        const auto pixel = probe(*image, text);
        if (!pixel)
            return usageError(QStringLiteral("'--probe %1' is not X,Y inside the picture of %2 × %3.")
                                  .arg(QString::fromUtf8(text))
                                  .arg(image->width)
                                  .arg(image->height),
                              {});
        probes += (probes.isEmpty() ? "" : ",") + triple(*pixel);
    }
    const QByteArray mean = triple(meanColour(*image));
    if (arguments.has("json"))
        writeOut(jsonObjectLine({{"width", QByteArray::number(image->width)},
                                 {"height", QByteArray::number(image->height)},
                                 {"mean_rgb", mean},
                                 {"probes", '[' + probes + ']'}})
                 + '\n');
    else
        writeOut(QByteArray::number(image->width) + " x " + QByteArray::number(image->height) + ", mean RGB " + mean
                 + (probes.isEmpty() ? QByteArray() : ", probes " + probes) + '\n');
    return exitDone;
}

} // namespace

Command decodeCommand()
{
    return {"decode",
            "IMAGE",
            "Decodes a picture and shows its size and colours.",
            {{"probe", "X,Y", "show this pixel; may be repeated"}, {"json", nullptr, "print JSON"}},
            1,
            1,
            run};
}

} // namespace tw::cli
