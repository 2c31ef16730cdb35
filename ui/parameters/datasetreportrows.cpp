// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/parameters/datasetreportrows.h"

#include "core/base/json.h"

#include <QJsonArray>
#include <QLocale>

namespace tw {

namespace {

constexpr qsizetype shownChildren = 100;

QString number(qint64 value)
{
    return QLocale().toString(value);
}

QString number(const QJsonValue &value)
{
    return number(value.toInteger());
}

QString nameText(const QJsonValue &name)
{
    return displayPath(pathFromJson(name));
}

QString pictureText(const QJsonValue &picture)
{
    return nameText(picture[QStringLiteral("path")]);
}

} // namespace

void DatasetReportRows::closeList(ReportRow &row, qint64 all)
{
    if (all > row.children.size())
        row.children.append({tr("and %1 more").arg(number(all - row.children.size())), {}});
}

ReportRow DatasetReportRows::classes(const QJsonObject &report)
{
    const QJsonArray classes = report[QStringLiteral("classes")].toArray();
    ReportRow row{tr("Classes"), number(classes.size())};
    const QJsonArray parts = report[QStringLiteral("parts")].toArray();
    for (qsizetype i = 0; i < std::min(classes.size(), shownChildren); ++i) {
        QString counts = number(classes[i][QStringLiteral("count")]);
        if (parts.size() == 2) { // "6,000 + 1,000": of both parts, by name
            QStringList both;
            for (const QJsonValue &part : parts)
                for (const QJsonValue &entry : part[QStringLiteral("classes")].toArray())
                    if (entry[QStringLiteral("name")] == classes[i][QStringLiteral("name")])
                        both.append(number(entry[QStringLiteral("count")]));
            counts = both.join(QStringLiteral(" + "));
        }
        row.children.append({nameText(classes[i][QStringLiteral("name")]), counts});
    }
    closeList(row, classes.size());
    return row;
}

void DatasetReportRows::addSizes(const QJsonObject &report, QList<ReportRow> &rows)
{
    const QJsonObject sizes = report[QStringLiteral("sizes")].toObject();
    if (sizes.isEmpty())
        return;
    const auto spread = [&](const char *side) {
        const QJsonObject values = sizes[QLatin1String(side)].toObject();
        const qint64 least = values[QStringLiteral("min")].toInteger(),
                     largest = values[QStringLiteral("max")].toInteger();
        if (least == largest)
            return QString::number(least);
        return tr("%1 to %2, median %3").arg(least).arg(largest).arg(values[QStringLiteral("median")].toInteger());
    };
    const QJsonArray common = sizes[QStringLiteral("common")].toArray();
    const auto size = [&](qsizetype i) {
        return QStringLiteral("%1 × %2")
            .arg(common[i][QStringLiteral("width")].toInteger())
            .arg(common[i][QStringLiteral("height")].toInteger());
    };
    const qint64 different = sizes[QStringLiteral("different")].toInteger();
    ReportRow row{tr("Sizes"), different == 1 ? size(0) : number(different)};
    if (different > 1) {
        row.children.append({tr("Width"), spread("width")});
        row.children.append({tr("Height"), spread("height")});
        for (qsizetype i = 0; i < common.size(); ++i)
            row.children.append({size(i), number(common[i][QStringLiteral("images")])});
        closeList(row, different + 2);
    }
    rows.append(row);
    const QJsonArray formats = report[QStringLiteral("formats")].toArray();
    ReportRow kinds{tr("Formats"),
                    formats.size() == 1 ? formats[0][QStringLiteral("format")].toString() : number(formats.size())};
    if (formats.size() > 1)
        for (const QJsonValue &format : formats)
            kinds.children.append(
                {format[QStringLiteral("format")].toString(), number(format[QStringLiteral("images")])});
    rows.append(kinds);
}

void DatasetReportRows::addTone(const QJsonObject &report, QList<ReportRow> &rows)
{
    const auto triple = [&](const char *key) {
        QStringList values;
        for (const QJsonValue &value : report[QLatin1String(key)].toArray())
            values.append(QLocale().toString(value.toDouble(), 'f', 3));
        return values.join(QStringLiteral("  "));
    };
    if (!report[QStringLiteral("mean_rgb")].isArray())
        return;
    rows.append({tr("Mean (R G B)"), triple("mean_rgb")});
    rows.append({tr("Std (R G B)"), triple("std_rgb")});
}

void DatasetReportRows::addNotes(const QJsonObject &report, QList<ReportRow> &rows)
{
    const QJsonArray unreadable = report[QStringLiteral("unreadable")].toArray();
    ReportRow bad{tr("Unreadable"), number(unreadable.size()), !unreadable.isEmpty()};
    for (qsizetype i = 0; i < std::min(unreadable.size(), shownChildren); ++i)
        bad.children.append(
            {nameText(unreadable[i][QStringLiteral("path")]), unreadable[i][QStringLiteral("reason")].toString()});
    closeList(bad, unreadable.size());
    rows.append(bad);
    const std::pair<QString, QString> lists[] = {{QStringLiteral("ignored"), tr("Ignored files")},
                                                 {QStringLiteral("skipped_folders"), tr("Skipped folders")},
                                                 {QStringLiteral("empty_classes"), tr("Empty classes")},
                                                 {QStringLiteral("warnings"), tr("Warnings")}};
    for (const auto &[key, title] : lists) {
        const QJsonArray names = report[key].toArray();
        if (names.isEmpty())
            continue;
        ReportRow row{title, number(names.size()), key == QLatin1String("warnings")};
        for (qsizetype i = 0; i < std::min(names.size(), shownChildren); ++i)
            row.children.append({nameText(names[i]), {}});
        closeList(row, names.size());
        rows.append(row);
    }
}

QString DatasetReportRows::withLabels(const QString &names, bool severalLabels)
{
    return severalLabels ? tr("%1 (several labels)").arg(names) : names;
}

void DatasetReportRows::addCopies(const QJsonObject &report, QList<ReportRow> &rows)
{
    const QJsonObject exact = report[QStringLiteral("duplicates")].toObject(),
                      near = report[QStringLiteral("near_duplicates")].toObject();
    ReportRow copies{tr("Exact copies"), number(exact[QStringLiteral("surplus")]),
                     exact[QStringLiteral("several_labels")].toInteger() > 0};
    for (const QJsonValue &group : exact[QStringLiteral("listed")].toArray()) {
        QStringList names;
        for (const QJsonValue &picture : group[QStringLiteral("pictures")].toArray())
            names.append(pictureText(picture));
        const bool labels = group[QStringLiteral("several_labels")].toBool();
        copies.children.append({withLabels(names.join(QStringLiteral(" = ")), labels), {}, labels});
    }
    closeList(copies, exact[QStringLiteral("groups")].toInteger());
    rows.append(copies);
    if (near[QStringLiteral("compared")].toInteger() == 0)
        return;
    ReportRow alike{tr("Near copies"), number(near[QStringLiteral("pairs")]),
                    near[QStringLiteral("several_labels")].toInteger() > 0};
    for (const QJsonValue &pair : near[QStringLiteral("listed")].toArray()) {
        const bool labels = pair[QStringLiteral("several_labels")].toBool();
        const QString names = pictureText(pair[QStringLiteral("first")]) + QStringLiteral(" ≈ ")
                              + pictureText(pair[QStringLiteral("second")]);
        alike.children.append({withLabels(names, labels), {}, labels});
    }
    closeList(alike, near[QStringLiteral("pairs")].toInteger());
    rows.append(alike);
}

void DatasetReportRows::addLeakage(const QJsonObject &report, QList<ReportRow> &rows)
{
    const QJsonObject leakage = report[QStringLiteral("leakage")].toObject();
    if (leakage.isEmpty())
        return;
    const qint64 exact = leakage[QStringLiteral("exact")].toInteger(),
                 near = leakage[QStringLiteral("near")].toInteger();
    ReportRow row{tr("Leakage"), exact + near == 0 ? tr("none found") : number(exact + near), exact + near > 0};
    if (exact + near > 0) {
        const QString of = number(leakage[QStringLiteral("images")]);
        row.children.append({tr("In both parts"), tr("%1 of %2").arg(number(exact), of)});
        row.children.append({tr("Almost the same in both"), tr("%1 of %2").arg(number(near), of)});
    }
    rows.append(row);
}

QList<ReportRow> DatasetReportRows::of(const QJsonObject &report)
{
    QList<ReportRow> rows{{tr("Images"), number(report[QStringLiteral("images")])}};
    const QJsonArray parts = report[QStringLiteral("parts")].toArray();
    if (parts.size() == 2)
        rows[0].value = number(parts[0][QStringLiteral("images")]) + QStringLiteral(" + ")
                        + number(parts[1][QStringLiteral("images")]);
    rows.append(classes(report));
    addLeakage(report, rows);
    addSizes(report, rows);
    addTone(report, rows);
    addNotes(report, rows);
    addCopies(report, rows);
    return rows;
}

std::optional<QList<ReportRow>> DatasetReportRows::read(const QList<fs::path> &files)
{
    for (const fs::path &file : files) {
        std::error_code unknown;
        if (!fs::is_regular_file(file, unknown))
            continue;
        if (const auto report = readJsonObject(file, errors::InvalidDataset); report.ok())
            return of(*report);
    }
    return std::nullopt;
}

} // namespace tw
