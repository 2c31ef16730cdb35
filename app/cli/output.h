// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <QByteArray>

namespace tw::cli {

/// Written whole and at once; after the first failure nothing more is.
void writeOut(const QByteArray &text);
/// errno of the first writeOut() that failed, else 0; a closed pipe is no error of ours.
int outputFailure();
void writeError(const QByteArray &text);
/// "NAME: sentence" and the hint on the next line, on stderr. The node stands before the sentence.
void printError(const Error &error);
bool isTerminal(int descriptor);

} // namespace tw::cli
