// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"

#include <QCoreApplication>
#include <QJsonObject>
#include <QList>
#include <QString>

#include <optional>

namespace tw {

struct ReportRow
{
    QString name, value;
    bool isWarning = false;
    QList<ReportRow> children{};
};

/// A data_report.json as the rows of a table: at most 100 children each, then "and 120 more". Any thread.
class DatasetReportRows
{
    Q_DECLARE_TR_FUNCTIONS(DatasetReportRows)
public:
    static QList<ReportRow> of(const QJsonObject &report);
    /// Of the first of these files that is there; nothing where none is or can be read.
    static std::optional<QList<ReportRow>> read(const QList<fs::path> &files);

private:
    static ReportRow classes(const QJsonObject &report);
    static void addSizes(const QJsonObject &report, QList<ReportRow> &rows);
    static void addTone(const QJsonObject &report, QList<ReportRow> &rows);
    static void addNotes(const QJsonObject &report, QList<ReportRow> &rows);
    static void addCopies(const QJsonObject &report, QList<ReportRow> &rows);
    static void addLeakage(const QJsonObject &report, QList<ReportRow> &rows);
    static QString withLabels(const QString &names, bool severalLabels);
    static void closeList(ReportRow &row, qint64 all);
};

} // namespace tw
