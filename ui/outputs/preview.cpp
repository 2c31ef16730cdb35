// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/outputs/preview.h"

#include "core/base/json.h"
#include "ui/common/csvtext.h"
#include "ui/common/plaintext.h"
#include "ui/metrics/numberformat.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QImageReader>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>

#include <algorithm>
#include <fstream>

namespace tw {

namespace {
constexpr qint64 textBytes = 4 << 20, jsonBytes = 16 << 20, pictureBytes = 256 << 20;
constexpr qsizetype tableRows = 1001; // the header and 1000
constexpr int pictureSide = 2048;

QString text(const char *source)
{
    return QCoreApplication::translate("Preview", source);
}

struct Bytes
{
    QByteArray data;
    qint64 fileSize = 0;
    bool read = false;
};

Bytes readStart(const fs::path &path, qint64 most)
{
    Bytes bytes;
    std::error_code error;
    if (!fs::is_regular_file(path, error)) // a pipe would never end
        return bytes;
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file)
        return bytes;
    bytes.fileSize = qint64(file.tellg());
    file.seekg(0);
    bytes.data.resize(qsizetype(std::min(bytes.fileSize, most)));
    file.read(bytes.data.data(), bytes.data.size());
    bytes.data.truncate(qsizetype(file.gcount()));
    bytes.read = true;
    return bytes;
}

bool isBinary(const QByteArray &bytes)
{
    return bytes.left(8192).contains('\0');
}

QString leftOut(const Bytes &bytes)
{
    if (bytes.data.size() >= bytes.fileSize)
        return {};
    return text(QT_TRANSLATE_NOOP("Preview", "Shown: the first %1 of %2."))
        .arg(formatBytes(bytes.data.size()), formatBytes(bytes.fileSize));
}

Preview textPreview(const Bytes &bytes)
{
    Preview preview;
    preview.note = leftOut(bytes);
    if (isBinary(bytes.data)) {
        preview.kind = Preview::Kind::Facts;
        preview.facts << std::pair(text(QT_TRANSLATE_NOOP("Preview", "Contents")),
                                   text(QT_TRANSLATE_NOOP("Preview", "binary data")))
                      << std::pair(text(QT_TRANSLATE_NOOP("Preview", "Size")), formatBytes(bytes.fileSize));
        preview.note.clear();
        return preview;
    }
    preview.kind = Preview::Kind::Text;
    preview.text = QString::fromUtf8(bytes.data);
    if (preview.text.isEmpty())
        preview.note = text(QT_TRANSLATE_NOOP("Preview", "This file is empty."));
    return preview;
}

Preview jsonPreview(const Bytes &bytes)
{
    if (bytes.data.isEmpty())
        return textPreview(bytes);
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(bytes.data, &error);
    if (error.error != QJsonParseError::NoError) {
        Preview preview = textPreview(bytes);
        const qsizetype line = bytes.data.left(error.offset).count('\n') + 1;
        preview.note = text(QT_TRANSLATE_NOOP("Preview", "Line %1 is not valid JSON (%2); shown as text."))
                           .arg(line)
                           .arg(error.errorString());
        return preview;
    }
    Preview preview;
    preview.kind = Preview::Kind::Json;
    preview.json = document.isArray() ? QJsonValue(document.array()) : QJsonValue(document.object());
    return preview;
}

Preview tablePreview(const Bytes &bytes)
{
    if (isBinary(bytes.data))
        return textPreview(bytes);
    Preview preview;
    preview.kind = Preview::Kind::Table;
    preview.rows = parseCsv(bytes.data, tableRows);
    const bool more = bytes.data.size() < bytes.fileSize || bytes.data.count('\n') > preview.rows.size() + 1;
    if (preview.rows.size() == tableRows && more)
        preview.note = text(QT_TRANSLATE_NOOP("Preview", "Shown: the first 1000 rows."));
    else
        preview.note = leftOut(bytes);
    return preview;
}

Preview picturePreview(const Bytes &bytes)
{
    QBuffer buffer;
    buffer.setData(bytes.data);
    buffer.open(QIODevice::ReadOnly);
    QImageReader reader(&buffer);
    reader.setAutoTransform(true);
    const QSize size = reader.size();
    if (size.isValid() && std::max(size.width(), size.height()) > pictureSide)
        reader.setScaledSize(size.scaled(pictureSide, pictureSide, Qt::KeepAspectRatio));
    Preview preview;
    preview.picture = reader.read();
    if (preview.picture.isNull()) {
        preview.kind = Preview::Kind::Facts;
        preview.note = text(QT_TRANSLATE_NOOP("Preview", "This picture cannot be read: %1.")).arg(reader.errorString());
        preview.facts << std::pair(text(QT_TRANSLATE_NOOP("Preview", "Size")), formatBytes(bytes.fileSize));
        return preview;
    }
    preview.kind = Preview::Kind::Picture;
    const QSize shown = size.isValid() ? size : preview.picture.size();
    preview.facts << std::pair(text(QT_TRANSLATE_NOOP("Preview", "Pixels")),
                               QStringLiteral("%1 × %2").arg(shown.width()).arg(shown.height()))
                  << std::pair(text(QT_TRANSLATE_NOOP("Preview", "Size")), formatBytes(bytes.fileSize));
    return preview;
}

qint64 folderBytes(const fs::path &folder)
{
    qint64 total = 0;
    std::error_code error;
    for (fs::recursive_directory_iterator item(folder, error), end; !error && item != end; item.increment(error)) {
        std::error_code unreadable;
        if (item->is_regular_file(unreadable))
            total += qint64(item->file_size(unreadable));
    }
    return total;
}

QString inputText(const QJsonObject &input)
{
    return QStringLiteral("%1 × %2 × %3")
        .arg(input.value(QStringLiteral("channels")).toInt())
        .arg(input.value(QStringLiteral("height")).toInt())
        .arg(input.value(QStringLiteral("width")).toInt());
}

QString figure(const QString &key, const QJsonValue &value)
{
    if (!value.isDouble())
        return value.isString() ? value.toString() : QString::fromUtf8(jsonCompact(value));
    const bool ratio = key.contains(QStringLiteral("top1")) || key.contains(QStringLiteral("top5"));
    const bool whole = value.toDouble() == double(value.toInteger());
    return formatValue(value.toDouble(), ratio ? NumberStyle::Ratio : whole ? NumberStyle::Count : NumberStyle::Plain);
}

QString figureName(const QString &key)
{
    static const QHash<QString, const char *> names{
        {QStringLiteral("best_val_top1"), QT_TRANSLATE_NOOP("Preview", "Best validation top-1")},
        {QStringLiteral("best_epoch"), QT_TRANSLATE_NOOP("Preview", "Best epoch")},
        {QStringLiteral("epochs"), QT_TRANSLATE_NOOP("Preview", "Epochs")},
        {QStringLiteral("best_val_loss"), QT_TRANSLATE_NOOP("Preview", "Best validation loss")},
        {QStringLiteral("val_loss"), QT_TRANSLATE_NOOP("Preview", "Validation loss")},
        {QStringLiteral("val_top1"), QT_TRANSLATE_NOOP("Preview", "Validation top-1")},
        {QStringLiteral("val_top5"), QT_TRANSLATE_NOOP("Preview", "Validation top-5")},
        {QStringLiteral("training_images"), QT_TRANSLATE_NOOP("Preview", "Training images")},
        {QStringLiteral("validation_images"), QT_TRANSLATE_NOOP("Preview", "Validation images")},
        {QStringLiteral("seconds"), QT_TRANSLATE_NOOP("Preview", "Training seconds")}};
    const char *name = names.value(key, nullptr);
    return name ? text(name) : key;
}

Preview modelPreview(const fs::path &folder)
{
    Preview preview;
    preview.kind = Preview::Kind::Model;
    const auto model = readJsonObject(folder / "model.json", errors::InvalidModelDirectory);
    if (!model.ok()) {
        preview.note = model.error().sentence();
        return preview;
    }
    const QJsonArray classes = model->value(QStringLiteral("classes")).toArray();
    for (const QJsonValue &name : classes)
        preview.classes << name.toString();
    preview.facts << std::pair(text(QT_TRANSLATE_NOOP("Preview", "Architecture")),
                               model->value(QStringLiteral("architecture")).toString())
                  << std::pair(text(QT_TRANSLATE_NOOP("Preview", "Input")),
                               inputText(model->value(QStringLiteral("input")).toObject()))
                  << std::pair(text(QT_TRANSLATE_NOOP("Preview", "Classes")),
                               QLocale().toString(preview.classes.size()))
                  << std::pair(text(QT_TRANSLATE_NOOP("Preview", "Size")), formatBytes(folderBytes(folder)));
    const QJsonObject training = model->value(QStringLiteral("training")).toObject();
    for (auto entry = training.begin(); entry != training.end(); ++entry) {
        if (!entry->isObject() && !entry->isArray() && !entry->isNull())
            preview.facts << std::pair(figureName(entry.key()), figure(entry.key(), *entry));
    }
    const auto parity = readJsonObject(folder / "parity.json", errors::InvalidModelDirectory);
    if (parity.ok() && parity->contains(QStringLiteral("top1_agreement")))
        preview.facts << std::pair(text(QT_TRANSLATE_NOOP("Preview", "Agreement of the written files")),
                                   figure(QStringLiteral("top1"), parity->value(QStringLiteral("top1_agreement"))));
    return preview;
}

Preview folderPreview(const fs::path &folder)
{
    Preview preview;
    preview.kind = Preview::Kind::Facts;
    qint64 entries = 0;
    std::error_code error;
    for (fs::directory_iterator item(folder, error), end; !error && item != end; item.increment(error))
        ++entries;
    preview.facts << std::pair(text(QT_TRANSLATE_NOOP("Preview", "Entries")), QLocale().toString(entries))
                  << std::pair(text(QT_TRANSLATE_NOOP("Preview", "Size")), formatBytes(folderBytes(folder)));
    if (error)
        preview.note = text(QT_TRANSLATE_NOOP("Preview", "This folder cannot be read: %1."))
                           .arg(QString::fromStdString(error.message()));
    return preview;
}

bool isPicture(const QByteArray &suffix)
{
    static const QList<QByteArray> suffixes{"jpg", "jpeg", "png", "bmp", "gif", "webp",
                                            "tif", "tiff", "ppm", "pgm", "svg"};
    return suffixes.contains(suffix);
}

Preview filePreview(const fs::path &path)
{
    const QByteArray suffix = bytesFromPath(path.extension()).mid(1).toLower();
    const qint64 most = suffix == "json" ? jsonBytes : isPicture(suffix) ? pictureBytes : textBytes;
    const Bytes bytes = readStart(path, most);
    if (!bytes.read) {
        Preview preview;
        preview.kind = Preview::Kind::Facts;
        preview.note = text(QT_TRANSLATE_NOOP(
            "Preview",
            "This file cannot be read. It may have been removed, or you may not have the right to read it."));
        return preview;
    }
    if (isPicture(suffix))
        return picturePreview(bytes);
    if (suffix == "json")
        return jsonPreview(bytes);
    return suffix == "csv" ? tablePreview(bytes) : textPreview(bytes);
}
} // namespace

Preview readPreview(const fs::path &path)
{
    std::error_code error;
    if (!fs::is_directory(path, error))
        return filePreview(path);
    return fs::exists(path / "model.json", error) ? modelPreview(path) : folderPreview(path);
}

} // namespace tw
