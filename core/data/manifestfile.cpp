// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/imagemanifest.h"

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/data/picturefacts.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <charconv>
#include <future>
#include <limits>

namespace tw {

namespace {

constexpr char Format[] = "trainwright-image-directory";
constexpr int Version = 1;
constexpr char HeadFile[] = "image_directory.json";
constexpr char LinesFile[] = "images.jsonl";

struct Line
{
    std::string path, member, key;
    std::int64_t index = -1;
    std::int64_t category = -1, bytes = 0, mtimeNs = 0;
};

bool hasMembers(const ImageManifest &manifest)
{
    return manifest.storage == ImageManifest::Storage::Zip || manifest.storage == ImageManifest::Storage::Tar;
}

const char *storageName(ImageManifest::Storage storage)
{
    switch (storage) {
    case ImageManifest::Storage::Idx:
        return "idx";
    case ImageManifest::Storage::Zip:
        return "zip";
    case ImageManifest::Storage::Tar:
        return "tar";
    case ImageManifest::Storage::Files:
        break;
    }
    return "files";
}

std::optional<ImageManifest::Storage> storageOf(const QString &name)
{
    using Storage = ImageManifest::Storage;
    for (const Storage storage : {Storage::Files, Storage::Idx, Storage::Zip, Storage::Tar})
        if (name == QLatin1String(storageName(storage)))
            return storage;
    return std::nullopt;
}

QByteArray jsonText(const QJsonValue &value)
{
    return jsonCompact(value);
}

void appendNumber(QByteArray &out, std::int64_t value)
{
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out.append(digits, qsizetype(end - digits));
}

// Most names need no escaping; the others take the general way.
void appendPath(QByteArray &out, std::string_view path)
{
    const bool plain =
        std::all_of(path.begin(), path.end(), [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
    if (plain)
        out.append('"').append(path.data(), qsizetype(path.size())).append('"');
    else
        out.append(jsonText(pathToJson(fs::path(std::string(path)))));
}

void appendLine(QByteArray &out, const ImageManifest &manifest, std::size_t i, const std::string &archive)
{
    const bool numbered = manifest.storage == ImageManifest::Storage::Idx;
    const bool isMember = hasMembers(manifest);
    out.append("{\"path\":");
    appendPath(out, numbered || isMember ? std::string_view(archive) : manifest.path(i));
    if (numbered)
        out.append(",\"index\":").append(manifest.path(i).data(), qsizetype(manifest.path(i).size()));
    if (isMember) {
        out.append(",\"member\":");
        appendPath(out, manifest.path(i));
    }
    out.append(",\"category\":");
    if (manifest.category(i) < 0)
        out.append("null");
    else
        appendNumber(out, manifest.category(i));
    out.append(",\"bytes\":");
    appendNumber(out, manifest.bytes(i));
    out.append(",\"mtime_ns\":");
    appendNumber(out, manifest.mtimeNs(i));
    if (const std::string_view key = manifest.key(i); key.empty())
        out.append(",\"key\":null}\n");
    else
        out.append(",\"key\":\"")
            .append(QByteArray::fromRawData(key.data(), qsizetype(key.size())).toHex())
            .append("\"}\n");
}

// Reads the form that appendLine() writes; anything else is left to the general parser.
class LineParser
{
public:
    explicit LineParser(std::string_view text) : m_text(text) {}

    bool parse(Line &line)
    {
        if (!literal("{\"path\":\"") || !plainString(line.path))
            return false;
        line.index = -1;
        line.member.clear();
        line.key.clear();
        if (literal(",\"member\":\"") && !plainString(line.member))
            return false;
        if (literal(",\"index\":") && !number(line.index))
            return false;
        if (!literal(",\"category\":"))
            return false;
        line.category = -1;
        if (!literal("null") && !number(line.category))
            return false;
        if (!literal(",\"bytes\":") || !number(line.bytes) || !literal(",\"mtime_ns\":") || !number(line.mtimeNs)
            || !literal(",\"key\":"))
            return false;
        return (literal("null") || (literal("\"") && plainString(line.key))) && m_text == "}";
    }

private:
    bool literal(std::string_view expected)
    {
        if (m_text.substr(0, expected.size()) != expected)
            return false;
        m_text.remove_prefix(expected.size());
        return true;
    }
    bool plainString(std::string &out)
    {
        const std::size_t end = m_text.find_first_of("\"\\");
        if (end == std::string_view::npos || m_text[end] == '\\')
            return false;
        out.assign(m_text.substr(0, end));
        m_text.remove_prefix(end + 1);
        return true;
    }
    bool number(std::int64_t &out)
    {
        const auto [end, code] = std::from_chars(m_text.data(), m_text.data() + m_text.size(), out);
        if (code != std::errc())
            return false;
        m_text.remove_prefix(std::size_t(end - m_text.data()));
        return true;
    }
    std::string_view m_text;
};

// Absent and null give `absent`; anything but a whole number in range gives false.
bool readInteger(const QJsonObject &json, const char *key, std::int64_t absent, std::int64_t &out)
{
    constexpr auto NoInteger = std::numeric_limits<qint64>::min();
    const QJsonValue value = json.value(QLatin1String(key));
    out = value.isNull() || value.isUndefined() ? absent : value.toInteger(NoInteger);
    return out != NoInteger;
}

bool parseAnyJson(std::string_view text, Line &line)
{
    const QByteArray bytes = QByteArray::fromRawData(text.data(), qsizetype(text.size()));
    const QJsonObject json = QJsonDocument::fromJson(bytes).object();
    line.path = pathFromJson(json.value(QStringLiteral("path"))).native();
    line.member = pathFromJson(json.value(QStringLiteral("member"))).native();
    line.key = json.value(QStringLiteral("key")).toString().toStdString();
    return !line.path.empty() && readInteger(json, "index", -1, line.index)
           && readInteger(json, "category", -1, line.category) && readInteger(json, "bytes", 0, line.bytes)
           && readInteger(json, "mtime_ns", 0, line.mtimeNs);
}

Error badHead(const fs::path &file, const QString &reason)
{
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "\"%1\" is not an image directory this version reads: %2."),
                     {displayPath(file), reason}, QT_TRANSLATE_NOOP("Error", "Run Convert to Image Directory again."));
}

Error badLine(const fs::path &file, std::size_t number)
{
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "Line %2 of \"%1\" is not a valid image entry."),
                     {displayPath(file), QString::number(number)},
                     QT_TRANSLATE_NOOP("Error", "Run Convert to Image Directory again."));
}

// Images that a node wrote move with the outputs of their job, which another job may take over:
// "nodes/<node>/outputs/<port>" holds both the images and this manifest. Nothing for other roots.
QJsonValue rootInJob(const ImageManifest &manifest, const fs::path &folder)
{
    const fs::path nodes = folder.parent_path().parent_path().parent_path();
    const fs::path fromNodes = manifest.root.lexically_relative(nodes);
    const bool inside = nodes.filename() == "nodes" && !fromNodes.empty() && *fromNodes.begin() != "..";
    if (manifest.root != folder && !inside)
        return {};
    return pathToJson(manifest.root.lexically_relative(folder));
}

// The place beside this file is the first choice, the absolute one for files that were copied away.
fs::path readRoot(const QJsonObject &json, const fs::path &file)
{
    const fs::path inJob = pathFromJson(json.value(QStringLiteral("root_in_job")));
    const fs::path beside = inJob == "." ? file.parent_path() : (file.parent_path() / inJob).lexically_normal();
    std::error_code fault;
    if (!inJob.empty() && fs::is_directory(beside, fault))
        return beside;
    return pathFromJson(json.value(QStringLiteral("root")));
}

QByteArray headText(const ImageManifest &manifest, const fs::path &folder)
{
    QJsonArray categories;
    for (const std::string &name : manifest.categories)
        categories.append(pathToJson(fs::path(name)));
    const QJsonValue transforms =
        manifest.transforms ? QJsonValue(transformsToJson(*manifest.transforms)) : QJsonValue();
    return jsonObjectLine({{"format", jsonString(QLatin1String(Format))},
                           {"version", QByteArray::number(Version)},
                           {"storage", jsonString(QLatin1String(storageName(manifest.storage)))},
                           // Pictures beside this file move with it; while it is written the folder has another name.
                           {"root", jsonText(pathToJson(manifest.root == folder ? fs::path(".") : manifest.root))},
                           {"root_in_job", jsonText(rootInJob(manifest, folder))},
                           {"unpacked", manifest.unpacked.empty() ? "null" : jsonText(pathToJson(manifest.unpacked))},
                           {"categories", jsonText(categories)},
                           {"transforms", jsonText(transforms)},
                           {"transforms_for_training", manifest.transformsForTraining ? "true" : "false"},
                           {"on_unreadable", manifest.skipUnreadable ? "\"skip\"" : "\"fail\""},
                           {"count", QByteArray::number(qulonglong(manifest.size()))},
                           {"fingerprint", jsonString(QString::fromStdString(manifest.fingerprint))}});
}

Result<void> readCategories(const QJsonArray &json, const fs::path &file, ImageManifest &manifest)
{
    for (const QJsonValue &value : json) {
        manifest.categories.push_back(pathFromJson(value).native());
        if (manifest.categories.back().empty())
            return badHead(file, QStringLiteral("a category has no name"));
    }
    return {};
}

Result<std::size_t> readHead(const fs::path &file, ImageManifest &manifest)
{
    TW_ASSIGN(json, readJsonObject(file, errors::InvalidDataset));
    if (json.value(QStringLiteral("format")).toString() != QLatin1String(Format))
        return badHead(file,
                       QStringLiteral("its format is \"%1\"").arg(json.value(QStringLiteral("format")).toString()));
    const qint64 version = json.value(QStringLiteral("version")).toInteger(0);
    if (version != Version)
        return badHead(file, QStringLiteral("its format version is %1").arg(version));
    const QString storage = json.value(QStringLiteral("storage")).toString(QStringLiteral("files"));
    const std::optional<ImageManifest::Storage> kind = storageOf(storage);
    if (!kind)
        return badHead(file, QStringLiteral("its storage is \"%1\"").arg(storage));
    manifest.storage = *kind;
    manifest.root = readRoot(json, file);
    manifest.unpacked = pathFromJson(json.value(QStringLiteral("unpacked")));
    TW_TRY(readCategories(json.value(QStringLiteral("categories")).toArray(), file, manifest));
    if (json.value(QStringLiteral("transforms")).isArray()) {
        TW_ASSIGN(list, transformsFromJson(json.value(QStringLiteral("transforms")).toArray()));
        manifest.transforms = std::move(list);
    }
    manifest.transformsForTraining = json.value(QStringLiteral("transforms_for_training")).toBool();
    // Files from before the key have none.
    const QString policy = json.value(QStringLiteral("on_unreadable")).toString(QStringLiteral("skip"));
    if (policy != QLatin1String("skip") && policy != QLatin1String("fail"))
        return badHead(file, QStringLiteral("its on_unreadable is \"%1\"").arg(policy));
    manifest.skipUnreadable = policy == QLatin1String("skip");
    manifest.fingerprint = json.value(QStringLiteral("fingerprint")).toString().toStdString();
    const qint64 count = json.value(QStringLiteral("count")).toInteger(-1);
    if (count < 0)
        return badHead(file, QStringLiteral("it has no count of images"));
    return std::size_t(count);
}

/// 64 digits to 32 bytes; anything else is no key of ours.
std::string keyFromHex(const std::string &text)
{
    const QByteArray digits = QByteArray::fromRawData(text.data(), qsizetype(text.size()));
    return text.size() == 2 * ImageManifest::KeyBytes ? QByteArray::fromHex(digits).toStdString() : std::string();
}

Result<void> readLines(const fs::path &file, ImageManifest &manifest)
{
    TW_ASSIGN(bytes, readFile(file, errors::InvalidDataset));
    std::string_view rest(bytes.constData(), std::size_t(bytes.size()));
    const auto lines = std::size_t(std::count(rest.begin(), rest.end(), '\n'));
    manifest.reserve(lines, lines * 24);
    const bool numbered = manifest.storage == ImageManifest::Storage::Idx;
    const bool isMember = hasMembers(manifest);
    Line line;
    char digits[24];
    for (std::size_t number = 1; !rest.empty(); ++number) {
        const std::string_view text = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(text.size() + 1, rest.size()));
        if (!LineParser(text).parse(line) && !parseAnyJson(text, line))
            return badLine(file, number);
        if (line.category < -1 || line.category >= std::int64_t(manifest.categories.size())
            || numbered != (line.index >= 0) || isMember == line.member.empty() || line.bytes < 0)
            return badLine(file, number);
        const auto end = std::to_chars(digits, digits + sizeof digits, line.index).ptr;
        const std::string_view index(digits, std::size_t(end - digits));
        const std::string_view path = isMember ? line.member : line.path;
        manifest.add(numbered ? index : path, int(line.category), line.bytes, line.mtimeNs);
        manifest.setKey(manifest.size() - 1, keyFromHex(line.key));
    }
    return {};
}

} // namespace

Result<void> ImageManifest::write(const fs::path &folder) const
{
    TW_TRY(makeFolder(folder));
    auto factsWritten = std::async(std::launch::async, [this, &folder]() -> Result<void> {
        if (facts && facts->size() == size())
            return writePictureFacts(folder, *facts);
        return {};
    });
    QByteArray lines;
    lines.reserve(qsizetype(m_pool.size() + size() * 120));
    const std::string archive = root.filename().native();
    for (std::size_t i = 0; i < size(); ++i)
        appendLine(lines, *this, i, archive);
    const Result<void> linesWritten = writeFileAtomically(folder / LinesFile, lines);
    TW_TRY(factsWritten.get());
    TW_TRY(linesWritten);
    return writeFileAtomically(folder / HeadFile, headText(*this, folder) + '\n');
}

Result<ImageManifest> ImageManifest::read(const fs::path &folder)
{
    ImageManifest manifest;
    TW_ASSIGN(count, readHead(folder / HeadFile, manifest));
    TW_TRY(readLines(folder / LinesFile, manifest));
    if (manifest.size() != count)
        return badHead(folder / LinesFile,
                       QStringLiteral("it lists %1 images, %2 were written").arg(manifest.size()).arg(count));
    TW_ASSIGN(facts, readPictureFacts(folder, count));
    manifest.facts = std::move(facts);
    return manifest;
}

} // namespace tw
