// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/output.h"

#include <cstdio>

#include <unistd.h>

namespace tw::cli {

static void writeTo(FILE *stream, const QByteArray &text)
{
    std::fwrite(text.constData(), 1, std::size_t(text.size()), stream);
    std::fflush(stream);
}

void writeOut(const QByteArray &text)
{
    writeTo(stdout, text);
}

void writeError(const QByteArray &text)
{
    writeTo(stderr, text);
}

void printError(const Error &error)
{
    QString place = error.nodeId;
    if (!place.isEmpty() && !error.parameter.isEmpty())
        place += u'.' + error.parameter;
    QByteArray text = error.name.toUtf8() + ": " + error.sentence().toUtf8();
    if (!place.isEmpty())
        text += " (" + place.toUtf8() + ')';
    text += '\n';
    if (!error.hint.isEmpty())
        text += error.hintSentence().toUtf8() + '\n';
    writeError(text);
}

bool isTerminal(int descriptor)
{
    return ::isatty(descriptor) == 1;
}

} // namespace tw::cli
