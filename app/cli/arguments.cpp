// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments.h"

#include "app/cli/output.h"
#include "core/base/json.h"
#include "core/base/nearest.h"

#include <algorithm>

namespace tw::cli {

int usageError(const QString &sentence, const QString &hint)
{
    writeError("UsageError: " + sentence.toUtf8() + '\n' + (hint.isEmpty() ? QByteArray() : hint.toUtf8() + '\n'));
    return exitUsage;
}

const Option *Command::find(const QByteArray &option) const
{
    const auto found =
        std::find_if(options.begin(), options.end(), [&](const Option &one) { return option == one.name; });
    return found == options.end() ? nullptr : &*found;
}

static QString nearestOption(const QByteArray &option, const QList<Option> &options)
{
    QStringList names{QStringLiteral("help")};
    for (const Option &one : options)
        names.append(QString::fromLatin1(one.name));
    const QString nearest = nearestText(QString::fromUtf8(option), names);
    if (!nearest.isEmpty())
        return QStringLiteral("Did you mean --%1?").arg(nearest);
    return QStringLiteral("The options are --%1.").arg(names.join(QStringLiteral(", --")));
}

std::optional<Arguments> Command::parse(const QList<QByteArray> &given) const
{
    Arguments result;
    bool onlyWords = false;
    for (qsizetype i = 0; i < given.size(); ++i) {
        const QByteArray &word = given[i];
        if (onlyWords || !word.startsWith("--")) {
            result.m_words.append(word);
            continue;
        }
        if (word == "--") {
            onlyWords = true;
            continue;
        }
        const qsizetype equals = word.indexOf('=');
        const QByteArray id = word.mid(2, equals < 0 ? -1 : equals - 2);
        const Option *option = find(id);
        if (!option) {
            usageError(QStringLiteral("'%1' has no option '--%2'.").arg(QString::fromUtf8(name), QString::fromUtf8(id)),
                       nearestOption(id, options));
            return std::nullopt;
        }
        const bool valueFollows = option->value && equals < 0;
        if ((valueFollows && i + 1 >= given.size()) || (!option->value && equals >= 0)) {
            usageError(valueFollows ? QStringLiteral("The option '--%1' needs a value.").arg(QString::fromUtf8(id))
                                    : QStringLiteral("The option '--%1' takes no value.").arg(QString::fromUtf8(id)),
                       QStringLiteral("See trainwright-cli %1 --help.").arg(QString::fromUtf8(name)));
            return std::nullopt;
        }
        result.m_values[id].append(valueFollows ? given[++i] : equals < 0 ? QByteArray("true") : word.mid(equals + 1));
    }
    return result;
}

QByteArray Command::helpText() const
{
    QByteArray text = QByteArray("Usage: trainwright-cli ") + name + (options.isEmpty() ? "" : " [options]")
                      + (*usage ? " " : "") + usage + '\n' + summary + '\n';
    if (options.isEmpty())
        return text;
    text += "\nOptions:\n";
    for (const Option &option : options) {
        const QByteArray left =
            QByteArray("  --") + option.name + (option.value ? QByteArray(" ") + option.value : QByteArray());
        text += left.leftJustified(30) + "  " + option.help + '\n';
    }
    return text;
}

int Command::execute(const QList<QByteArray> &given) const
{
    const qsizetype end = given.indexOf("--");
    if (given.first(end < 0 ? given.size() : end).contains("--help")) {
        writeOut(helpText());
        return exitDone;
    }
    const auto arguments = parse(given);
    if (!arguments)
        return exitUsage;
    const qsizetype words = arguments->words().size();
    if (words < leastWords || (mostWords >= 0 && words > mostWords))
        return usageError(
            words < leastWords
                ? QStringLiteral("'%1' needs more: %2.").arg(QString::fromUtf8(name), QString::fromUtf8(usage))
                : QStringLiteral("'%1' takes no '%2'.")
                      .arg(QString::fromUtf8(name), QString::fromUtf8(arguments->words().at(mostWords))),
            QStringLiteral("Usage: trainwright-cli %1 %2").arg(QString::fromUtf8(name), QString::fromUtf8(usage)));
    return run(*arguments);
}

std::optional<qint64> integerOption(const Arguments &arguments, const char *option, qint64 fallback, qint64 least,
                                    qint64 most)
{
    if (!arguments.has(option))
        return fallback;
    bool ok = false;
    const qint64 value = arguments.bytes(option).toLongLong(&ok);
    if (ok && value >= least && value <= most)
        return value;
    usageError(QStringLiteral("'--%1 %2' is not an integer in [%3, %4].")
                   .arg(QLatin1String(option), arguments.text(option))
                   .arg(least)
                   .arg(most),
               {});
    return std::nullopt;
}

std::optional<double> realOption(const Arguments &arguments, const char *option, double fallback, double least,
                                 double most)
{
    if (!arguments.has(option))
        return fallback;
    bool ok = false;
    const double value = arguments.bytes(option).toDouble(&ok);
    if (ok && value >= least && value <= most)
        return value;
    usageError(QStringLiteral("'--%1 %2' is not a number in [%3, %4].")
                   .arg(QLatin1String(option), arguments.text(option))
                   .arg(least)
                   .arg(most),
               {});
    return std::nullopt;
}

} // namespace tw::cli
