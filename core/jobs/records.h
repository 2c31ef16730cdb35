// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/workspace.h"

#include <QSqlQuery>
#include <QVariantList>

namespace tw {

// Rows of the store as records and back. Private to core/jobs.

QString errorToText(const Error &error);
std::optional<Error> errorFromText(const QString &text);

/// Columns of nodes after job and id, in the order of nodeValues().
inline constexpr char nodeColumns[] =
    "component, state, started_ms, finished_ms, stopped, reused_from, key, outputs, results, error";
QVariantList nodeValues(const NodeRecord &node);
/// A row of "job, id, " + nodeColumns.
NodeRecord nodeFromRow(const QSqlQuery &row);

inline constexpr char jobColumns[] =
    "id, experiment, name, description, state, created_ms, started_ms, finished_ms, error";
QVariantList jobValues(const JobRecord &job);
JobRecord jobFromRow(const QSqlQuery &row);

/// A number as value column (NULL when not finite) and kind column.
QVariant finiteOrNull(double value);
int numberKind(double value);
double numberFromRow(const QVariant &value, int kind);

} // namespace tw
