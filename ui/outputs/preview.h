// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"

#include <QImage>
#include <QJsonValue>
#include <QList>
#include <QString>
#include <QStringList>

#include <utility>

namespace tw {

/// What can be shown of a file or folder.
struct Preview
{
    enum class Kind { Nothing, Text, Json, Picture, Table, Model, Facts };
    Kind kind = Kind::Nothing;
    QString text; ///< Text
    QJsonValue json;
    QImage picture;                           ///< at most 2048 pixels a side
    QList<QStringList> rows;                  ///< Table: header and at most 1000 rows
    QList<std::pair<QString, QString>> facts; ///< Model, Facts, and the line above the others
    QStringList classes;                      ///< Model
    QString note;                             ///< what is wrong or left out; empty: nothing
};

/// Any thread; reads 4 MiB at most of texts and tables, 16 MiB of JSON. Never fails: what cannot be
/// read is said in `note`.
Preview readPreview(const fs::path &path);

} // namespace tw
