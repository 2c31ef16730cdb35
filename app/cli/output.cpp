// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/output.h"

#include <atomic>
#include <cerrno>
#include <cstdio>

#include <unistd.h>

namespace tw::cli {

static std::atomic<int> firstFailure = 0;

static bool writeTo(FILE *stream, const QByteArray &text)
{
    const auto size = std::size_t(text.size());
    return std::fwrite(text.constData(), 1, size, stream) == size && std::fflush(stream) == 0;
}

void writeOut(const QByteArray &text)
{
    if (firstFailure == 0 && !writeTo(stdout, text))
        firstFailure = errno == 0 ? EIO : errno;
}

int outputFailure()
{
    // A reader that has seen enough (head, less) closes the pipe.
    return firstFailure == EPIPE ? 0 : firstFailure.load();
}

void writeError(const QByteArray &text)
{
    (void)writeTo(stderr, text);
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
