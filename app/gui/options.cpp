// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/options.h"

#include <QCommandLineParser>
#include <QRegularExpression>

#include <cstring>

namespace tw {

bool needsNoDisplay(int argc, char **argv)
{
    for (int i = 1; i < argc; ++i) {
        for (const char *option : {"--grab", "--help", "-h", "--version", "-v"}) {
            if (std::strncmp(argv[i], option, std::strlen(option)) == 0)
                return true;
        }
    }
    return false;
}

static Result<QSize> sizeFromText(const QString &text)
{
    static const QRegularExpression form(QStringLiteral("^(\\d{2,5})x(\\d{2,5})$"));
    const QRegularExpressionMatch match = form.match(text);
    if (!match.hasMatch())
        return makeError(errors::InvalidPipeline, QT_TRANSLATE_NOOP("Error", "--size \"%1\" is not a size."), {text},
                         QT_TRANSLATE_NOOP("Error", "Write it as 1440x900."));
    return QSize(match.captured(1).toInt(), match.captured(2).toInt());
}

static Result<void> checkChoice(const char *option, const QString &value, const QStringList &choices)
{
    if (value.isEmpty() || choices.contains(value))
        return {};
    return makeError(errors::InvalidPipeline, QT_TRANSLATE_NOOP("Error", "--%1 \"%2\" is not known."),
                     {QLatin1String(option), value, choices.join(QStringLiteral(", "))},
                     QT_TRANSLATE_NOOP("Error", "Choose one of: %3."));
}

Result<GuiOptions> parseGuiOptions(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Trains image classifiers from a pipeline drawn on a canvas."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(QStringLiteral("file"), QStringLiteral("Pipeline file to open."),
                                 QStringLiteral("[FILE]"));
    parser.addOptions(
        {{QStringLiteral("workspace"), QStringLiteral("Workspace folder."), QStringLiteral("DIR")},
         {QStringLiteral("job"), QStringLiteral("Show this job."), QStringLiteral("ID")},
         {QStringLiteral("grab"),
          QStringLiteral("Write a picture of the window with pipeline, metrics, outputs or logs in front, and leave."),
          QStringLiteral("TAB")},
         {QStringLiteral("size"), QStringLiteral("Size of the picture (default 1440x900)."), QStringLiteral("WxH")},
         {QStringLiteral("out"), QStringLiteral("File of the picture."), QStringLiteral("PNG")},
         {QStringLiteral("theme"), QStringLiteral("light or dark."), QStringLiteral("THEME")}});
    parser.process(arguments);
    GuiOptions options;
    options.file = parser.positionalArguments().value(0);
    if (parser.isSet(QStringLiteral("workspace")))
        options.workspace = pathFromText(parser.value(QStringLiteral("workspace")));
    options.job = parser.value(QStringLiteral("job"));
    options.grab = parser.value(QStringLiteral("grab"));
    options.out = parser.value(QStringLiteral("out"));
    options.theme = parser.value(QStringLiteral("theme"));
    TW_TRY(checkChoice(
        "grab", options.grab,
        {QStringLiteral("pipeline"), QStringLiteral("metrics"), QStringLiteral("outputs"), QStringLiteral("logs")}));
    TW_TRY(checkChoice("theme", options.theme, {QStringLiteral("light"), QStringLiteral("dark")}));
    if (parser.isSet(QStringLiteral("size"))) {
        TW_ASSIGN(size, sizeFromText(parser.value(QStringLiteral("size"))));
        options.size = size;
    }
    if (options.grab.isEmpty() != options.out.isEmpty())
        return makeError(errors::InvalidPipeline, QT_TRANSLATE_NOOP("Error", "--grab and --out belong together."), {},
                         QT_TRANSLATE_NOOP("Error", "Example: --grab metrics --out metrics.png"));
    return options;
}

} // namespace tw
