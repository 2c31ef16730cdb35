// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "core/model/mappedfile.h"
#include "core/model/outputfile.h"
#include "core/model/safetensorsheader.h"
#include "core/model/weightschecks.h"
#include "core/model/weightsfile.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QString>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tw {

namespace {

constexpr std::uint64_t maxHeaderBytes = 100'000'000; // the published format's limit
constexpr std::uint64_t lengthBytes = 8;

Error refused(const fs::path &file, const std::string &what)
{
    return makeError(errors::InvalidModelDirectory,
                     QT_TRANSLATE_NOOP("Error", "%1 is not a sound safetensors file: %2."),
                     {displayPath(file), QString::fromStdString(what).left(500)},
                     QT_TRANSLATE_NOOP("Error", "Copy or download the file again, or save it again with safetensors."));
}

std::string checkEntry(const SafetensorsEntry &entry, std::uint64_t dataBytes)
{
    if (entry.begin > entry.end || entry.end > dataBytes)
        return "tensor '" + entry.name + "' lies outside the file's data";
    std::uint64_t bytes = elementBytes(entry.type);
    const bool none = std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end();
    for (const std::int64_t edge : entry.shape) {
        if (!none && __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(edge), &bytes))
            return "tensor '" + entry.name + "' has sizes that no memory can hold";
    }
    if ((none ? 0 : bytes) != entry.end - entry.begin)
        return "the shape of tensor '" + entry.name + "' does not fit its bytes";
    return {};
}

/// A JSON list of texts, else nothing.
std::vector<std::string> classesOf(const std::string &json)
{
    std::vector<std::string> names;
    const QJsonDocument list = QJsonDocument::fromJson(QByteArray::fromStdString(json));
    for (const QJsonValue &name : list.array()) {
        if (!name.isString() || name.toString().isEmpty())
            return {};
        names.push_back(name.toString().toStdString());
    }
    return names;
}

/// Every byte of the data belongs to exactly one tensor.
std::string checkCoverage(const std::vector<SafetensorsEntry> &entries, std::uint64_t dataBytes)
{
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(entries[a].begin, entries[a].end) < std::pair(entries[b].begin, entries[b].end);
    });
    std::uint64_t at = 0;
    for (const std::size_t i : order) {
        if (entries[i].begin < at)
            return "tensor '" + entries[i].name + "' overlaps another";
        if (entries[i].begin > at)
            return "bytes before tensor '" + entries[i].name + "' belong to no tensor";
        at = entries[i].end;
    }
    return at == dataBytes ? std::string() : "bytes after the last tensor belong to none";
}

TensorBlob blobOf(SafetensorsEntry &&entry, const std::shared_ptr<const MappedFile> &mapping, const std::byte *data)
{
    TensorBlob blob;
    blob.name = std::move(entry.name);
    blob.type = entry.type;
    blob.shape = std::move(entry.shape);
    blob.bytes = entry.end - entry.begin;
    if (blob.bytes == 0)
        return blob;
    blob.data = data + entry.begin;
    blob.owner = mapping;
    blob.mapped = true;
    return blob;
}

/// Numbers of the tensors by falling element size, so that every tensor starts aligned.
std::vector<std::size_t> dataOrder(const StateDict &weights)
{
    std::vector<std::size_t> order(weights.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return elementBytes(weights[a].type) > elementBytes(weights[b].type);
    });
    return order;
}

std::string headerOf(const StateDict &weights, const std::vector<std::size_t> &order)
{
    std::vector<std::uint64_t> begin(weights.size());
    std::uint64_t at = 0;
    for (const std::size_t i : order) {
        begin[i] = at;
        at += weights[i].bytes;
    }
    std::string json = "{\"__metadata__\":{\"format\":\"pt\"}";
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const TensorBlob &blob = weights[i];
        json += ',';
        json += jsonString(QString::fromStdString(blob.name)).toStdString();
        json.append(":{\"dtype\":\"").append(elementTypeName(blob.type)).append("\",\"shape\":[");
        for (std::size_t d = 0; d < blob.shape.size(); ++d)
            json.append(d == 0 ? "" : ",").append(std::to_string(blob.shape[d]));
        json.append("],\"data_offsets\":[").append(std::to_string(begin[i])).append(",");
        json.append(std::to_string(begin[i] + blob.bytes)).append("]}");
    }
    json += "}";
    json.append((8 - json.size() % 8) % 8, ' ');
    return json;
}

} // namespace

Result<StateDict> readSafetensors(const fs::path &file, WeightsReport *report)
{
    TW_ASSIGN(mapping, MappedFile::open(file));
    const auto bytes = mapping->bytes();
    if (bytes.size() < lengthBytes)
        return refused(file, "it is shorter than 8 bytes");
    std::uint64_t headerBytes = 0;
    std::memcpy(&headerBytes, bytes.data(), lengthBytes);
    if (headerBytes > maxHeaderBytes)
        return refused(file, "its header is longer than 100 MB");
    if (headerBytes > bytes.size() - lengthBytes)
        return refused(file, "its header is longer than the file");
    SafetensorsHeader header;
    const std::string wrong = header.parse({reinterpret_cast<const char *>(bytes.data()) + lengthBytes, headerBytes});
    if (!wrong.empty())
        return refused(file, wrong);
    const std::byte *data = bytes.data() + lengthBytes + headerBytes;
    const std::uint64_t dataBytes = bytes.size() - lengthBytes - headerBytes;
    for (const SafetensorsEntry &entry : header.entries()) {
        if (const std::string reason = checkEntry(entry, dataBytes); !reason.empty())
            return refused(file, reason);
    }
    if (const std::string reason = checkCoverage(header.entries(), dataBytes); !reason.empty())
        return refused(file, reason);
    StateDict weights;
    for (SafetensorsEntry &entry : header.takeEntries())
        weights.push_back(blobOf(std::move(entry), mapping, data));
    if (report) {
        report->format = QStringLiteral("safetensors");
        for (const auto &[key, value] : header.metadataTexts()) {
            report->addExtra(QString::fromStdString(key));
            if (key == "classes")
                report->classes = classesOf(value);
        }
        reportNotFinite(weights, *report);
    }
    return weights;
}

Result<void> writeSafetensors(const fs::path &file, const StateDict &weights)
{
    TW_TRY(checkWritable(file, weights));
    OutputFile out(file);
    TW_TRY(out.open());
    TW_TRY(writeSafetensors(out, weights));
    return out.commit();
}

Result<void> writeSafetensors(ByteSink &out, const StateDict &weights)
{
    const std::vector<std::size_t> order = dataOrder(weights);
    const std::string header = headerOf(weights, order);
    const std::uint64_t headerBytes = header.size();
    TW_TRY(out.write(&headerBytes, lengthBytes));
    TW_TRY(out.write(header.data(), header.size()));
    for (const std::size_t i : order)
        TW_TRY(out.write(weights[i].data, weights[i].bytes));
    return {};
}

} // namespace tw
