// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/metrics/metricpoint.h"

#include "core/base/json.h"

#include <QJsonDocument>
#include <QJsonObject>

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace tw {

namespace {

/// Reads exactly what toJsonLine() writes; anything else is left to the general JSON parser.
/// A job has up to millions of lines, and this is some ten times faster.
class LineScanner
{
public:
    explicit LineScanner(const QByteArray &line) : m_rest(line.constData(), static_cast<size_t>(line.size())) {}

    bool take(std::string_view text)
    {
        if (m_rest.substr(0, text.size()) != text)
            return false;
        m_rest.remove_prefix(text.size());
        return true;
    }

    bool plainString(QString *out)
    {
        if (!take("\""))
            return false;
        const size_t end = m_rest.find('"');
        if (end == std::string_view::npos || m_rest.substr(0, end).find('\\') != std::string_view::npos)
            return false;
        *out = QString::fromUtf8(m_rest.data(), static_cast<qsizetype>(end));
        m_rest.remove_prefix(end + 1);
        return true;
    }

    template <typename Number> bool number(Number *out)
    {
        const bool digits = !m_rest.empty() && (m_rest[0] == '-' || (m_rest[0] >= '0' && m_rest[0] <= '9'));
        if (!digits || m_rest.substr(0, 2) == "-i" || m_rest.substr(0, 2) == "-n")
            return false;
        const auto [end, fault] = std::from_chars(m_rest.data(), m_rest.data() + m_rest.size(), *out);
        if (fault != std::errc())
            return false;
        m_rest.remove_prefix(static_cast<size_t>(end - m_rest.data()));
        return true;
    }

    bool real(double *out)
    {
        if (take("\"NaN\""))
            *out = std::numeric_limits<double>::quiet_NaN();
        else if (take("\"Infinity\""))
            *out = std::numeric_limits<double>::infinity();
        else if (take("\"-Infinity\""))
            *out = -std::numeric_limits<double>::infinity();
        else
            return number(out);
        return true;
    }

    bool atEnd() const { return m_rest.empty(); }

private:
    std::string_view m_rest;
};

std::optional<MetricPoint> scanLine(const QByteArray &line)
{
    LineScanner scan(line);
    MetricPoint point;
    const bool complete = scan.take("{\"node\":") && scan.plainString(&point.node) && scan.take(",\"series\":")
                          && scan.plainString(&point.series) && scan.take(",\"step\":") && scan.number(&point.step)
                          && scan.take(",\"epoch\":") && scan.real(&point.epoch) && scan.take(",\"seconds\":")
                          && scan.real(&point.seconds) && scan.take(",\"rank\":") && scan.number(&point.rank)
                          && scan.take(",\"value\":") && scan.real(&point.value) && scan.take("}") && scan.atEnd();
    if (!complete)
        return std::nullopt;
    return point;
}

bool isReal(const QJsonValue &value)
{
    const QString text = value.toString();
    return value.isDouble() || text == QLatin1String("NaN") || text == QLatin1String("Infinity")
           || text == QLatin1String("-Infinity");
}

bool isWhole(const QJsonValue &value, qint64 low, qint64 high)
{
    const qint64 outside = low == std::numeric_limits<qint64>::min() ? high : low - 1;
    const qint64 number = value.toInteger(outside);
    return value.isDouble() && number >= low && number <= high;
}

Error noPoint(const QByteArray &line)
{
    constexpr qsizetype shownBytes = 200;
    return makeError(errors::Library, QT_TRANSLATE_NOOP("Error", "This line is not a metric point: %1"),
                     {QString::fromUtf8(line.left(shownBytes))});
}

} // namespace

QByteArray MetricPoint::toJsonLine() const
{
    return jsonObjectLine({{"node", jsonString(node)},
                           {"series", jsonString(series)},
                           {"step", QByteArray::number(step)},
                           {"epoch", jsonNumber(epoch)},
                           {"seconds", jsonNumber(seconds)},
                           {"rank", QByteArray::number(rank)},
                           {"value", jsonNumber(value)}});
}

Result<MetricPoint> MetricPoint::fromJsonLine(const QByteArray &line)
{
    if (auto fast = scanLine(line))
        return *fast;
    const QJsonDocument document = QJsonDocument::fromJson(line);
    if (!document.isObject())
        return noPoint(line);
    const QJsonObject json = document.object();
    const QJsonValue rank = json.contains("rank") ? json["rank"] : QJsonValue(0);
    const QJsonValue epoch = json.contains("epoch") ? json["epoch"] : QJsonValue(0);
    const QJsonValue seconds = json.contains("seconds") ? json["seconds"] : QJsonValue(0);
    constexpr qint64 exactDoubles = qint64(1) << 53;
    if (!json["node"].isString() || !json["series"].isString() || !isWhole(json["step"], -exactDoubles, exactDoubles)
        || !isWhole(rank, 0, std::numeric_limits<int>::max()) || !isReal(json["value"]) || !isReal(epoch)
        || !isReal(seconds))
        return noPoint(line);
    MetricPoint point;
    point.node = json["node"].toString();
    point.series = json["series"].toString();
    point.step = json["step"].toInteger();
    point.epoch = doubleFromJson(epoch, 0);
    point.seconds = doubleFromJson(seconds, 0);
    point.rank = static_cast<int>(rank.toInteger());
    point.value = doubleFromJson(json["value"], 0);
    return point;
}

} // namespace tw
