// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/data/datasetscan.h"
#include "core/data/decode.h"
#include "core/data/idxfile.h"
#include "core/data/imagereader.h"
#include "core/metrics/scoretable.h"
#include "core/train/devices.h"
#include "core/train/predictor.h"

#include <algorithm>

namespace tw::cli {

namespace {

constexpr int significantDigits = 9;
constexpr qint64 largestImageFile = qint64(2) << 30;

/// One picture to score: a file, or a place in an IDX pair that `reader` holds.
struct Picture
{
    fs::path path; ///< as it is shown
    std::shared_ptr<const ImageReader> reader;
    std::size_t index = 0;
};

Result<void> addIdxPictures(const fs::path &path, ImageManifest manifest, std::vector<Picture> &pictures)
{
    const auto shared = std::make_shared<const ImageManifest>(std::move(manifest));
    TW_ASSIGN(opened, ImageReader::open(shared));
    const std::shared_ptr<const ImageReader> reader = std::move(opened);
    for (std::size_t i = 0; i < shared->size(); ++i)
        pictures.push_back({path / std::string(shared->path(i)), reader, i});
    return {};
}

/// Files as given; a folder or an IDX pair gives the pictures in it.
Result<std::vector<Picture>> picturesOf(const QList<QByteArray> &words)
{
    std::vector<Picture> pictures;
    for (const QByteArray &word : words) {
        const fs::path path = pathFromBytes(word);
        std::error_code unknown;
        if (!fs::is_directory(path, unknown) && !isIdxImagesName(path.filename().native())) {
            pictures.push_back({path, nullptr});
            continue;
        }
        TW_ASSIGN(scan, scanDataset(path, ScanOptions{true, {}}));
        if (scan.manifest.storage == ImageManifest::Storage::Idx) {
            TW_TRY(addIdxPictures(path, std::move(scan.manifest), pictures));
            continue;
        }
        for (std::size_t i = 0; i < scan.manifest.size(); ++i)
            pictures.push_back({path / std::string(scan.manifest.path(i)), nullptr});
    }
    return pictures;
}

Result<ImageBuffer> pixelsOf(const Picture &picture)
{
    if (picture.reader)
        return picture.reader->read(picture.index);
    TW_ASSIGN(bytes, readFile(picture.path, errors::InvalidImage, largestImageFile));
    const std::span<const std::uint8_t> view(reinterpret_cast<const std::uint8_t *>(bytes.constData()),
                                             std::size_t(bytes.size()));
    return decodeImage(view, picture.path.string());
}

Result<std::vector<float>> logitsOf(const Picture &picture, Predictor &predictor)
{
    const ModelInfo &info = predictor.info();
    const std::string name = picture.path.string();
    TW_ASSIGN(decoded, pixelsOf(picture));
    SampleRandom unused(0, RandomPurpose::Augment, 0, 0);
    TW_ASSIGN(image, applyTransforms(std::move(decoded), forInference(info.transforms), unused, name));
    std::vector<float> pixels(std::size_t(image.width) * std::size_t(image.height) * std::size_t(info.channels));
    normalizeInto(image, info.normalization, info.channels, MemoryOrder::ChannelsFirst, pixels.data());
    Batch batch;
    batch.data = pixels.data();
    batch.count = 1;
    batch.channels = info.channels;
    batch.height = image.height;
    batch.width = image.width;
    batch.labels = {-1};
    batch.samples = {0};
    return predictor.logits(batch);
}

/// A key of an object: percent-encoded where it is not UTF-8, so that no two classes share one.
QByteArray classKey(const std::string &name)
{
    const QJsonValue json = pathToJson(fs::path(name));
    return jsonString(json.isString() ? json.toString() : json.toObject().value("path").toString());
}

QByteArray jsonText(const fs::path &file, const std::vector<float> &logits, const std::vector<double> &probabilities,
                    const ModelInfo &info, bool withLogits)
{
    const auto best = std::size_t(rankedClasses(probabilities, 1).front());
    QByteArray line = "{\"path\":" + jsonCompact(pathToJson(file)) + ",\"label\":" + classKey(info.classes[best])
                      + ",\"probabilities\":{";
    for (std::size_t i = 0; i < probabilities.size(); ++i)
        line += (i ? "," : "") + classKey(info.classes[i]) + ':' + jsonNumber(probabilities[i], significantDigits);
    line += '}';
    if (withLogits) {
        line += ",\"logits\":[";
        for (std::size_t i = 0; i < logits.size(); ++i)
            line += (i ? "," : "") + jsonNumber(double(logits[i]), significantDigits);
        line += ']';
    }
    return line + "}\n";
}

/// Scored table as one CSV file; the columns are those of Score Image Model.
QByteArray csvText(const fs::path &file, const std::vector<float> &logits, const std::vector<double> &probabilities,
                   const ModelInfo &info, bool withLogits)
{
    QByteArray line = QByteArray::fromStdString(csvField(file.string()));
    for (const double value : probabilities)
        line += ',' + jsonNumber(value, significantDigits);
    for (const float value : logits)
        line += withLogits ? ',' + jsonNumber(double(value), significantDigits) : QByteArray();
    return line + ','
           + QByteArray::fromStdString(csvField(info.classes[std::size_t(rankedClasses(probabilities, 1).front())]))
           + "\r\n";
}

QByteArray csvHeader(const ModelInfo &info, bool withLogits)
{
    QByteArray line = "path";
    for (const std::string &name : info.classes)
        line += ',' + QByteArray::fromStdString(csvField("Scored Probabilities_" + name));
    for (const std::string &name : info.classes)
        line += withLogits ? ',' + QByteArray::fromStdString(csvField("Scored Logits_" + name)) : QByteArray();
    return line + ",Scored Labels\r\n";
}

QByteArray plainText(const fs::path &file, const std::vector<double> &probabilities, const ModelInfo &info)
{
    const auto best = std::size_t(rankedClasses(probabilities, 1).front());
    return bytesFromPath(file) + ": " + QByteArray::fromStdString(info.classes[best]) + " ("
           + QByteArray::number(100 * probabilities[best], 'f', 2) + " %)\n";
}

int failWith(const Error &error)
{
    printError(error);
    return exitFailed;
}

/// Writing the table replaces its target: never a picture, a part of the model or a device.
bool isSafeTarget(const fs::path &table, const QList<QByteArray> &words)
{
    std::error_code ignored;
    const fs::file_status status = fs::status(table, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status))
        return false;
    if (fs::equivalent(fs::absolute(table, ignored).parent_path(), pathFromBytes(words.first()), ignored))
        return false;
    return std::none_of(words.begin() + 1, words.end(), [&](const QByteArray &word) {
        std::error_code fault;
        return fs::equivalent(table, pathFromBytes(word), fault);
    });
}

int run(const Arguments &arguments)
{
    openCudaLibrary();
    if (arguments.has("csv") && !isSafeTarget(arguments.path("csv"), arguments.words()))
        return usageError(
            QStringLiteral("The table would replace %1, which is a picture to be scored, a part of the model "
                           "or no plain file.")
                .arg(displayPath(arguments.path("csv"))),
            QStringLiteral("Name a new file after --csv."));
    const auto pictures = picturesOf(arguments.words().mid(1));
    if (!pictures.ok())
        return failWith(pictures.error());
    auto predictor = Predictor::load(pathFromBytes(arguments.words().first()),
                                     arguments.has("device") ? arguments.text("device") : QStringLiteral("auto"));
    if (!predictor.ok())
        return failWith(predictor.error());
    const ModelInfo &info = (*predictor)->info();
    const bool json = arguments.has("json"), withLogits = arguments.has("logits");
    QByteArray csv = csvHeader(info, withLogits);
    int code = exitDone;
    for (const Picture &picture : *pictures) {
        const fs::path &file = picture.path;
        const auto logits = logitsOf(picture, **predictor);
        if (!logits.ok()) {
            code = failWith(logits.error());
            continue;
        }
        const std::vector<double> probabilities = softmax(*logits);
        if (json)
            writeOut(jsonText(file, *logits, probabilities, info, withLogits));
        else if (!arguments.has("csv"))
            writeOut(plainText(file, probabilities, info));
        if (arguments.has("csv"))
            csv += csvText(file, *logits, probabilities, info, withLogits);
    }
    if (arguments.has("csv"))
        if (const auto written = writeFileAtomically(arguments.path("csv"), csv); !written.ok())
            return failWith(written.error());
    return code;
}

} // namespace

Command scoreCommand()
{
    return {"score",
            "MODEL_DIR IMAGES…",
            "Asks a trained model about pictures.",
            {{"csv", "FILE", "write a table there"},
             {"json", nullptr, "print one JSON object a picture"},
             {"logits", nullptr, "add the network's raw outputs"},
             {"device", "DEVICE", "auto, cpu, cuda:0, …"}},
            2,
            -1,
            run};
}

} // namespace tw::cli
