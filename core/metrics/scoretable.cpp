// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/scoretable.h"

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/metrics/scorecolumns.h"

#include <QJsonArray>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tw {

namespace {

/// NaN sorts last; it would break the order otherwise.
double comparable(double probability)
{
    return std::isnan(probability) ? -1.0 : probability;
}

QByteArray tableJson(const ScoreLayout &layout, qint64 rows)
{
    // A name's bytes: a text where they are UTF-8, else percent-encoded (as paths are).
    const auto nameToJson = [](const std::string &name) { return pathToJson(fs::path(name)); };
    QJsonArray columns, classes;
    for (const ScoreColumn &column : scoreColumns(layout))
        columns.append(QJsonObject{{QStringLiteral("name"), nameToJson(column.name)},
                                   {QStringLiteral("type"), QLatin1String(column.type)},
                                   {QStringLiteral("role"), QLatin1String(column.role)}});
    for (const std::string &name : layout.classes)
        classes.append(nameToJson(name));
    return jsonObjectLine({{"format", jsonString(QLatin1String(scoreTableFormat))},
                           {"version", QByteArray::number(scoreTableVersion)},
                           {"columns", jsonCompact(columns)},
                           {"classes", jsonCompact(classes)},
                           {"top_k", QByteArray::number(layout.topK)},
                           {"rows", QByteArray::number(rows)}})
           + '\n';
}

} // namespace

std::vector<ScoreColumn> scoreColumns(const ScoreLayout &layout)
{
    std::vector<ScoreColumn> columns{{"path", "text", "path"}};
    if (layout.labelled)
        columns.push_back({"category", "text", "category"});
    for (int i = 1; i <= layout.topK; ++i) {
        columns.push_back({"Top " + std::to_string(i) + " Label", "text", "top_label"});
        columns.push_back({"Top " + std::to_string(i) + " Probability", "number", "top_probability"});
    }
    for (const std::string &name : layout.classes)
        if (layout.topK == 0)
            columns.push_back({"Scored Probabilities_" + name, "number", "probability"});
    for (const std::string &name : layout.classes)
        if (layout.logits)
            columns.push_back({"Scored Logits_" + name, "number", "logit"});
    columns.push_back({"Scored Labels", "text", "label"});
    return columns;
}

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

std::optional<int> bestClass(std::span<const double> probabilities)
{
    const auto isNan = [](double value) { return std::isnan(value); };
    if (probabilities.empty() || std::any_of(probabilities.begin(), probabilities.end(), isNan))
        return std::nullopt;
    return int(std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin());
}

Result<void> ScoreCsvWriter::open(const fs::path &file, const ScoreLayout &layout)
{
    m_layout = layout;
    m_layout.topK = std::min(layout.topK, int(layout.classes.size()));
    m_rows = 0;
    m_labels.clear();
    for (const std::string &name : layout.classes)
        m_labels.push_back(csvField(name));
    TW_TRY(m_file.open(file));
    m_line.clear();
    for (const ScoreColumn &column : scoreColumns(m_layout)) {
        if (!m_line.empty())
            m_line += ',';
        m_line += csvField(column.name);
    }
    return m_file.write(m_line);
}

Result<void> ScoreCsvWriter::add(std::string_view path, std::string_view category,
                                 std::span<const double> probabilities, std::span<const float> logits)
{
    const std::optional<int> best = bestClass(probabilities);
    const auto number = [this](double value) {
        m_line += ',';
        appendCsvNumber(m_line, value);
    };
    m_line = csvField(path);
    if (m_layout.labelled)
        m_line += ',' + csvField(category);
    if (m_layout.topK > 0)
        for (const int id : rankedClasses(probabilities, std::size_t(m_layout.topK))) {
            m_line += ',' + (best ? m_labels[std::size_t(id)] : std::string());
            number(best ? probabilities[std::size_t(id)] : std::nan(""));
        }
    else
        std::for_each(probabilities.begin(), probabilities.end(), number);
    if (m_layout.logits)
        std::for_each(logits.begin(), logits.end(), number);
    m_line += ',' + (best ? m_labels[std::size_t(*best)] : std::string());
    ++m_rows;
    return m_file.write(m_line);
}

Result<void> ScoreCsvWriter::close()
{
    return m_file.close();
}

Result<std::unique_ptr<ScoreTableWriter>> ScoreTableWriter::create(const fs::path &folder, const ScoreLayout &layout)
{
    std::unique_ptr<ScoreTableWriter> writer(new ScoreTableWriter);
    writer->m_folder = folder;
    TW_TRY(writer->m_csv.open(folder / "scored.csv", layout));
    return writer;
}

Result<void> ScoreTableWriter::finish()
{
    TW_TRY(m_csv.close());
    return writeFileAtomically(m_folder / "table.json", tableJson(m_csv.layout(), m_csv.rows()));
}

} // namespace tw
