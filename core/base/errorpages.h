// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

namespace tw {

/// What `explain` and the generated page say of an error name. English.
struct ErrorPage
{
    QString name;         ///< as in result.h
    QString meaning;      ///< one or two sentences
    QStringList causes;   ///< typical ones, the most frequent first
    QStringList remedies; ///< what to do
};

/// One page for every name of result.h, in its order, and for UsageError of the command line.
const QList<ErrorPage> &errorPages();
/// `name` in any case, "Error" at the end may be missing; null when there is no such page.
const ErrorPage *errorPage(const QString &name);

} // namespace tw
