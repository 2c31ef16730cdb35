// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/scoretable.h"

#include "core/base/files.h"
#include "core/base/json.h"

#include <QJsonArray>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace tw {

namespace {

constexpr char tableFormat[] = "trainwright-scored-table";
constexpr int tableVersion = 1;
constexpr int significantDigits = 9;
constexpr char probabilityPrefix[] = "Scored Probabilities_";
constexpr char logitPrefix[] = "Scored Logits_";

struct Column
{
    std::string name;
    const char *type;
    const char *role;
};

std::vector<Column> columnsOf(const ScoreLayout &layout)
{
    std::vector<Column> columns{{"path", "text", "path"}};
    if (layout.labelled)
        columns.push_back({"category", "text", "category"});
    for (int i = 1; i <= layout.topK; ++i) {
        columns.push_back({"Top " + std::to_string(i) + " Label", "text", "top_label"});
        columns.push_back({"Top " + std::to_string(i) + " Probability", "number", "top_probability"});
    }
    for (const std::string &name : layout.classes)
        if (layout.topK == 0)
            columns.push_back({probabilityPrefix + name, "number", "probability"});
    for (const std::string &name : layout.classes)
        if (layout.logits)
            columns.push_back({logitPrefix + name, "number", "logit"});
    columns.push_back({"Scored Labels", "text", "label"});
    return columns;
}

/// A name's bytes: a text where they are UTF-8, else percent-encoded (as paths are).
QJsonValue nameToJson(const std::string &name)
{
    return pathToJson(fs::path(name));
}

QString textOf(std::string_view bytes)
{
    return QString::fromUtf8(bytes.data(), qsizetype(bytes.size()));
}

std::string numberField(double value)
{
    QByteArray text = jsonNumber(value, significantDigits);
    if (text.startsWith('"'))
        text = text.mid(1, text.size() - 2);
    return text.toStdString();
}

/// NaN sorts last; it would break the order otherwise.
double comparable(double probability)
{
    return std::isnan(probability) ? -1.0 : probability;
}

Error notScored(const fs::path &file, const QString &reason)
{
    return makeError(errors::NotScoredDataset, QT_TRANSLATE_NOOP("Error", "'%1' is not a table of scored images: %2."),
                     {displayPath(file), reason},
                     QT_TRANSLATE_NOOP("Error", "Connect the output of Score Image Model."));
}

} // namespace

std::vector<int> rankedClasses(std::span<const double> probabilities, std::size_t count)
{
    std::vector<int> order(probabilities.size());
    std::iota(order.begin(), order.end(), 0);
    const std::size_t kept = std::min(count, order.size());
    const auto before = [&](int a, int b) {
        const double left = comparable(probabilities[std::size_t(a)]),
                     right = comparable(probabilities[std::size_t(b)]);
        return left != right ? left > right : a < b;
    };
    std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(kept), order.end(), before);
    order.resize(kept);
    return order;
}

std::string csvField(std::string_view text)
{
    if (text.find_first_of(",\"\r\n") == std::string_view::npos)
        return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"')
            quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

bool readCsvRecord(std::istream &in, std::vector<std::string> &fields)
{
    fields.clear();
    std::string line;
    if (!std::getline(in, line))
        return false;
    std::string field;
    bool quoted = false;
    for (std::size_t i = 0;; ++i) {
        if (i == line.size() && quoted) {
            std::string more;
            if (!std::getline(in, more))
                break;
            field += '\n';
            line = std::move(more);
            i = std::size_t(-1);
            continue;
        }
        if (i == line.size())
            break;
        const char c = line[i];
        if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
            field += '"';
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            fields.push_back(std::move(field));
            field.clear();
        } else if (c != '\r' || quoted || i + 1 < line.size()) {
            field += c;
        }
    }
    fields.push_back(std::move(field));
    return true;
}

struct ScoreTableWriter::Private
{
    fs::path folder;
    ScoreLayout layout;
    std::ofstream out;
    std::vector<Column> columns;
    qint64 rows = 0;
};

ScoreTableWriter::ScoreTableWriter() : d(std::make_unique<Private>()) {}
ScoreTableWriter::~ScoreTableWriter() = default;

qint64 ScoreTableWriter::rows() const
{
    return d->rows;
}

Result<std::unique_ptr<ScoreTableWriter>> ScoreTableWriter::create(const fs::path &folder, const ScoreLayout &layout)
{
    std::unique_ptr<ScoreTableWriter> writer(new ScoreTableWriter);
    Private &p = *writer->d;
    p.folder = folder;
    p.layout = layout;
    p.layout.topK = std::min(layout.topK, int(layout.classes.size()));
    p.columns = columnsOf(p.layout);
    errno = 0;
    p.out.open(folder / "scored.csv", std::ios::binary | std::ios::trunc);
    std::string header;
    for (const Column &column : p.columns) {
        if (!header.empty())
            header += ',';
        header += csvField(column.name);
    }
    p.out << header << "\r\n";
    if (!p.out)
        return writeError(folder / "scored.csv", errno);
    return writer;
}

Result<void> ScoreTableWriter::add(std::string_view path, std::string_view category,
                                   std::span<const double> probabilities, std::span<const float> logits)
{
    std::string line = csvField(path);
    const std::vector<int> top = rankedClasses(probabilities, std::size_t(std::max(1, d->layout.topK)));
    if (d->layout.labelled)
        line += ',' + csvField(category);
    for (std::size_t i = 0; i < std::size_t(d->layout.topK); ++i)
        line += ',' + csvField(d->layout.classes[std::size_t(top[i])]) + ','
                + numberField(probabilities[std::size_t(top[i])]);
    for (const double value : probabilities)
        if (d->layout.topK == 0)
            line += ',' + numberField(value);
    for (const float value : logits)
        if (d->layout.logits)
            line += ',' + numberField(double(value));
    line += ',' + csvField(d->layout.classes[std::size_t(top.front())]) + "\r\n";
    errno = 0;
    d->out << line;
    ++d->rows;
    if (!d->out)
        return writeError(d->folder / "scored.csv", errno);
    return {};
}

Result<void> ScoreTableWriter::finish()
{
    errno = 0;
    d->out.close();
    if (d->out.fail())
        return writeError(d->folder / "scored.csv", errno);
    QJsonArray columns, classes;
    for (const Column &column : d->columns)
        columns.append(QJsonObject{{QStringLiteral("name"), nameToJson(column.name)},
                                   {QStringLiteral("type"), QLatin1String(column.type)},
                                   {QStringLiteral("role"), QLatin1String(column.role)}});
    for (const std::string &name : d->layout.classes)
        classes.append(nameToJson(name));
    return writeFileAtomically(d->folder / "table.json",
                               jsonObjectLine({{"format", jsonString(QLatin1String(tableFormat))},
                                               {"version", QByteArray::number(tableVersion)},
                                               {"columns", jsonCompact(columns)},
                                               {"classes", jsonCompact(classes)},
                                               {"top_k", QByteArray::number(d->layout.topK)},
                                               {"rows", QByteArray::number(d->rows)}})
                                   + '\n');
}

struct ScoreTableReader::Private
{
    fs::path file;
    ScoreLayout layout;
    qint64 rows = 0, row = 0;
    std::ifstream in;
    std::vector<std::string> fields;
    std::size_t columnCount = 0;
    std::unordered_map<std::string, int> classIds;

    Result<void> readDescription(const fs::path &folder);
    Result<void> readHeader();
    Error badRow(const QString &reason) const;
    Result<double> number(const std::string &field) const;
    Result<void> readTop(ScoredRow &out, std::size_t at) const;
    Result<void> readAll(ScoredRow &out, std::size_t at) const;
};

ScoreTableReader::ScoreTableReader() : d(std::make_unique<Private>()) {}
ScoreTableReader::~ScoreTableReader() = default;

const ScoreLayout &ScoreTableReader::layout() const
{
    return d->layout;
}

qint64 ScoreTableReader::rows() const
{
    return d->rows;
}

Result<void> ScoreTableReader::Private::readDescription(const fs::path &folder)
{
    const fs::path description = folder / "table.json";
    TW_ASSIGN(json, readJsonObject(description, errors::NotScoredDataset));
    if (json.value(QLatin1String("format")).toString() != QLatin1String(tableFormat)
        || json.value(QLatin1String("version")).toInt() != tableVersion)
        return notScored(
            description,
            QStringLiteral("format and version are not '%1' %2").arg(QLatin1String(tableFormat)).arg(tableVersion));
    for (const QJsonValue &name : json.value(QLatin1String("classes")).toArray())
        if (layout.classes.emplace_back(pathFromJson(name).native()).empty())
            return notScored(description, QStringLiteral("a class has no name"));
    for (const QJsonValue &column : json.value(QLatin1String("columns")).toArray()) {
        const QString role = column.toObject().value(QLatin1String("role")).toString();
        layout.labelled = layout.labelled || role == QLatin1String("category");
        layout.logits = layout.logits || role == QLatin1String("logit");
    }
    layout.topK = json.value(QLatin1String("top_k")).toInt();
    rows = json.value(QLatin1String("rows")).toInteger();
    if (layout.classes.empty() || layout.topK < 0 || layout.topK > int(layout.classes.size()))
        return notScored(description, QStringLiteral("it names no classes"));
    for (std::size_t i = 0; i < layout.classes.size(); ++i)
        classIds.emplace(layout.classes[i], int(i));
    return {};
}

Result<void> ScoreTableReader::Private::readHeader()
{
    in.open(file, std::ios::binary);
    if (!in || !readCsvRecord(in, fields))
        return notScored(file, QStringLiteral("it cannot be read"));
    const std::vector<Column> columns = columnsOf(layout);
    columnCount = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (i >= fields.size() || fields[i] != columns[i].name)
            return notScored(file, QStringLiteral("the column '%1' is missing").arg(textOf(columns[i].name)));
    return {};
}

Result<std::unique_ptr<ScoreTableReader>> ScoreTableReader::open(const fs::path &folder)
{
    std::unique_ptr<ScoreTableReader> reader(new ScoreTableReader);
    reader->d->file = folder / "scored.csv";
    TW_TRY(reader->d->readDescription(folder));
    TW_TRY(reader->d->readHeader());
    return reader;
}

Error ScoreTableReader::Private::badRow(const QString &reason) const
{
    return notScored(file, QStringLiteral("row %1 %2").arg(row).arg(reason));
}

Result<double> ScoreTableReader::Private::number(const std::string &field) const
{
    if (field == "NaN")
        return std::numeric_limits<double>::quiet_NaN();
    bool ok = false;
    const double value = QByteArray::fromRawData(field.data(), qsizetype(field.size())).toDouble(&ok);
    if (!ok)
        return badRow(QStringLiteral("has '%1' where a number belongs").arg(textOf(field)));
    return value;
}

Result<void> ScoreTableReader::Private::readTop(ScoredRow &out, std::size_t at) const
{
    for (int i = 0; i < layout.topK; ++i, at += 2) {
        const auto id = classIds.find(fields[at]);
        if (id == classIds.end())
            return badRow(QStringLiteral("names the unknown class '%1'").arg(textOf(fields[at])));
        TW_ASSIGN(value, number(fields[at + 1]));
        out.probabilities[std::size_t(id->second)] = value;
        out.ranking.push_back(id->second);
    }
    return {};
}

Result<void> ScoreTableReader::Private::readAll(ScoredRow &out, std::size_t at) const
{
    for (double &probability : out.probabilities) {
        TW_ASSIGN(value, number(fields[at++]));
        probability = value;
    }
    out.ranking = rankedClasses(out.probabilities, out.probabilities.size());
    return {};
}

Result<bool> ScoreTableReader::next(ScoredRow &out)
{
    if (!readCsvRecord(d->in, d->fields)) {
        if (d->row != d->rows)
            return notScored(d->file, QStringLiteral("it has %1 of %2 rows").arg(d->row).arg(d->rows));
        return false;
    }
    ++d->row;
    if (d->fields.size() != d->columnCount)
        return d->badRow(QStringLiteral("has %1 of %2 columns").arg(d->fields.size()).arg(d->columnCount));
    const std::size_t first = d->layout.labelled ? 2 : 1;
    out.path = d->fields[0];
    out.category = d->layout.labelled ? d->fields[1] : std::string();
    out.label = d->fields.back();
    out.ranking.clear();
    out.probabilities.assign(d->layout.classes.size(), std::numeric_limits<double>::quiet_NaN());
    if (d->layout.topK > 0)
        TW_TRY(d->readTop(out, first));
    else
        TW_TRY(d->readAll(out, first));
    return true;
}

} // namespace tw
