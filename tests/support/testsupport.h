// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <QByteArray>
#include <QString>

#include <optional>

namespace tw::test {

/// Folder of shared hard inputs (TRAINWRIGHT_CASES, default ../shared/cases beside the project);
/// nothing when it is absent: then QSKIP("not found").
std::optional<fs::path> casesFolder();
/// Built programs (build/<preset>/bin).
fs::path programFolder();
/// The project's root.
fs::path sourceFolder();

struct ProcessOutcome
{
    int exitCode = -1;
    QByteArray out, err;
};
ProcessOutcome runProcess(const QString &program, const QStringList &arguments, int timeoutMs = 60000,
                          const QByteArray &input = {});

} // namespace tw::test

/// QVERIFY for a Result that prints the error's sentence.
#define TW_VERIFY(result)                                                                                              \
    do {                                                                                                               \
        const auto &tw_checked_ = (result);                                                                            \
        QVERIFY2(tw_checked_.ok(), tw_checked_.ok() ? "" : qPrintable(tw_checked_.error().toString()));                \
    } while (false)
