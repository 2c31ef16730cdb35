// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonValue>

class QTreeWidget;

namespace tw {

/// Fills `tree` (two columns) with a JSON value; branches are made when they are opened, at most
/// 1000 children each.
void showJson(QTreeWidget *tree, const QJsonValue &value);
/// Connects `tree` once so that branches open.
void prepareJsonTree(QTreeWidget *tree);

} // namespace tw
