// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"

#include <QByteArray>
#include <QList>
#include <QMap>
#include <QString>

#include <functional>
#include <optional>

namespace tw::cli {

inline constexpr int exitDone = 0;
inline constexpr int exitFailed = 1;
inline constexpr int exitUsage = 2;
inline constexpr int exitCanceled = 130;

struct Option
{
    const char *name;  ///< without the dashes
    const char *value; ///< what its value is called in the help; null: a switch
    const char *help;
};

/// What was given; words are the bytes of the command line.
class Arguments
{
public:
    bool has(const char *option) const { return m_values.contains(QByteArray(option)); }
    QByteArray bytes(const char *option) const { return m_values.value(QByteArray(option)).value(0); }
    QString text(const char *option) const { return QString::fromUtf8(bytes(option)); }
    QList<QByteArray> all(const char *option) const { return m_values.value(QByteArray(option)); }
    const QList<QByteArray> &words() const { return m_words; }
    fs::path path(const char *option) const { return pathFromBytes(bytes(option)); }

private:
    friend struct Command;
    QMap<QByteArray, QList<QByteArray>> m_values;
    QList<QByteArray> m_words;
};

/// One command of the program. Options may stand anywhere; "--" ends them; "--name=value" works.
struct Command
{
    const char *name;
    const char *usage; ///< words after the name, for the help
    const char *summary;
    QList<Option> options;
    int leastWords = 0;
    int mostWords = -1; ///< −1: any number
    std::function<int(const Arguments &)> run;

    /// Parses and runs; prints help or a usage error.
    int execute(const QList<QByteArray> &given) const;
    QByteArray helpText() const;

private:
    std::optional<Arguments> parse(const QList<QByteArray> &given) const;
    const Option *find(const QByteArray &option) const;
};

/// "UsageError: sentence" and the hint on stderr; returns exitUsage.
int usageError(const QString &sentence, const QString &hint);
/// An integer option in [least, most], `fallback` where it is absent; says what is wrong itself.
std::optional<qint64> integerOption(const Arguments &arguments, const char *option, qint64 fallback, qint64 least,
                                    qint64 most);
std::optional<double> realOption(const Arguments &arguments, const char *option, double fallback, double least,
                                 double most);

} // namespace tw::cli
