// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/errorpages.h"
#include "core/base/json.h"
#include "core/base/nearest.h"

#include <QJsonArray>

namespace tw::cli {

namespace {

QByteArray listText(const char *title, const QStringList &items, const char *mark)
{
    QByteArray text = title;
    for (const QString &item : items)
        text += mark + item.toUtf8() + '\n';
    return text;
}

QByteArray asText(const ErrorPage &page)
{
    return page.name.toUtf8() + '\n' + page.meaning.toUtf8() + '\n'
           + listText("\nTypical causes:\n", page.causes, "  - ") + listText("\nWhat to do:\n", page.remedies, "  - ");
}

QByteArray asMarkdown(const ErrorPage &page)
{
    return "## " + page.name.toUtf8() + "\n\n" + page.meaning.toUtf8() + '\n'
           + listText("\nTypical causes:\n\n", page.causes, "- ") + listText("\nWhat to do:\n\n", page.remedies, "- ")
           + '\n';
}

QByteArray asJson(const ErrorPage &page)
{
    return jsonCompact(QJsonObject{{QStringLiteral("name"), page.name},
                                   {QStringLiteral("meaning"), page.meaning},
                                   {QStringLiteral("causes"), QJsonArray::fromStringList(page.causes)},
                                   {QStringLiteral("remedies"), QJsonArray::fromStringList(page.remedies)}})
           + '\n';
}

int noSuchError(const QString &given)
{
    QStringList names;
    for (const ErrorPage &page : errorPages())
        names.append(page.name);
    const QString nearest = nearestText(given, names);
    return usageError(QStringLiteral("There is no error '%1'.").arg(given),
                      nearest.isEmpty() ? QStringLiteral("The errors are %1.").arg(names.join(QStringLiteral(", ")))
                                        : QStringLiteral("Did you mean %1?").arg(nearest));
}

int explain(const Arguments &arguments)
{
    QList<ErrorPage> pages;
    for (const QByteArray &word : arguments.words()) {
        const ErrorPage *page = errorPage(QString::fromUtf8(word));
        if (page == nullptr)
            return noSuchError(QString::fromUtf8(word));
        pages.append(*page);
    }
    if (arguments.has("all"))
        pages = errorPages();
    if (pages.isEmpty())
        return usageError(QStringLiteral("'explain' needs the name of an error or --all."),
                          QStringLiteral("An error is printed as NAME: sentence."));
    if (arguments.has("markdown"))
        writeOut("# Errors\n\n");
    for (qsizetype i = 0; i < pages.size(); ++i)
        writeOut(arguments.has("json")       ? asJson(pages[i])
                 : arguments.has("markdown") ? asMarkdown(pages[i])
                                             : (i == 0 ? QByteArray() : QByteArray("\n")) + asText(pages[i]));
    return exitDone;
}

} // namespace

Command explainCommand()
{
    return {"explain",
            "ERROR_NAME…",
            "Says what an error means, what causes it and what to do.",
            {{"all", nullptr, "every error"},
             {"markdown", nullptr, "as a Markdown page"},
             {"json", nullptr, "print one JSON object a line"}},
            0,
            -1,
            explain};
}

} // namespace tw::cli
