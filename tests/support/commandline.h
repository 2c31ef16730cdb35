// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/testsupport.h"

#include <QJsonObject>
#include <QList>
#include <QStringList>

namespace tw::test {

/// Runs trainwright-cli.
ProcessOutcome cli(const QStringList &arguments, int timeoutMs = 240000);
QString cliProgram();
/// Every line of `bytes` as an object; a line that is none gives an empty object.
QList<QJsonObject> jsonLines(const QByteArray &bytes);
/// Lines of a kind ("metric", "node", …).
QList<QJsonObject> ofKind(const QList<QJsonObject> &lines, const char *kind);
/// A pipeline that trains a small network on an IDX pair in `folder` (written there too):
/// data → convert → split → train, score, evaluate. Returns the pipeline file.
fs::path writeTinyPipeline(const fs::path &folder, int images, int epochs);

} // namespace tw::test
