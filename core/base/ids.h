// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSet>
#include <QString>

namespace tw {

/// [a-z][a-z0-9_]{0,62}: node and pipeline-parameter ids.
bool isNodeId(const QString &text);
/// Kebab-case component id.
bool isComponentId(const QString &text);
/// Last word of the component id and the first free number from 1: "train-pytorch-model" gives "model1".
QString newNodeId(const QString &componentId, const QSet<QString> &taken);
/// YYYYMMDD-HHMMSS-xxxx (UTC and four hex digits).
QString newJobId();

} // namespace tw
