// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "core/metrics/scorecolumns.h"

#include <QJsonArray>

#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace tw {

namespace {

QString textOf(std::string_view bytes)
{
    return QString::fromUtf8(bytes.data(), qsizetype(bytes.size()));
}

Error notScored(const fs::path &file, const QString &reason)
{
    return makeError(errors::NotScoredDataset, QT_TRANSLATE_NOOP("Error", "'%1' is not a table of scored images: %2."),
                     {displayPath(file), reason},
                     QT_TRANSLATE_NOOP("Error", "Connect the output of Score Image Model."));
}

} // namespace

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
    Result<std::optional<int>> classOf(const std::string &field) const;
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
    if (json.value(QLatin1String("format")).toString() != QLatin1String(scoreTableFormat)
        || json.value(QLatin1String("version")).toInt() != scoreTableVersion)
        return notScored(description, QStringLiteral("format and version are not '%1' %2")
                                          .arg(QLatin1String(scoreTableFormat))
                                          .arg(scoreTableVersion));
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
        if (!classIds.emplace(layout.classes[i], int(i)).second)
            return notScored(description, QStringLiteral("two classes are named '%1'").arg(textOf(layout.classes[i])));
    return {};
}

Result<void> ScoreTableReader::Private::readHeader()
{
    in.open(file, std::ios::binary);
    if (!in || !readCsvRecord(in, fields))
        return notScored(file, QStringLiteral("it cannot be read"));
    const std::vector<ScoreColumn> columns = scoreColumns(layout);
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
    double value = 0;
    const char *const end = field.data() + field.size();
    const auto parsed = std::from_chars(field.data(), end, value);
    if (parsed.ec != std::errc() || parsed.ptr != end)
        return badRow(QStringLiteral("has '%1' where a number belongs").arg(textOf(field)));
    if (value < 0 || value > 1)
        return badRow(QStringLiteral("has the probability '%1', outside of 0 to 1").arg(textOf(field)));
    return value;
}

Result<std::optional<int>> ScoreTableReader::Private::classOf(const std::string &field) const
{
    if (field.empty())
        return std::optional<int>();
    const auto id = classIds.find(field);
    if (id == classIds.end())
        return badRow(QStringLiteral("names the unknown class '%1'").arg(textOf(field)));
    return std::optional<int>(id->second);
}

Result<void> ScoreTableReader::Private::readTop(ScoredRow &out, std::size_t at) const
{
    for (int i = 0; i < layout.topK; ++i, at += 2) {
        TW_ASSIGN(id, classOf(fields[at]));
        TW_ASSIGN(value, number(fields[at + 1]));
        if (!id)
            continue;
        out.probabilities[std::size_t(*id)] = value;
        out.ranking.push_back(*id);
    }
    return {};
}

Result<void> ScoreTableReader::Private::readAll(ScoredRow &out, std::size_t at) const
{
    for (double &probability : out.probabilities) {
        TW_ASSIGN(value, number(fields[at++]));
        probability = value;
    }
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
    out.ranking.clear();
    out.probabilities.assign(d->layout.classes.size(), std::numeric_limits<double>::quiet_NaN());
    if (d->layout.topK > 0)
        TW_TRY(d->readTop(out, first));
    else
        TW_TRY(d->readAll(out, first));
    TW_ASSIGN(label, d->classOf(d->fields.back()));
    out.label = label;
    return true;
}

} // namespace tw
