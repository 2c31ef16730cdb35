// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/testsupport.h"

#include <QProcess>

namespace tw::test {

static fs::path folderFromEnvironment(const char *variable, const fs::path &fallback)
{
    const QByteArray value = qgetenv(variable);
    return value.isEmpty() ? fallback : fs::path(value.toStdString());
}

std::optional<fs::path> casesFolder()
{
    const fs::path folder = folderFromEnvironment("TRAINWRIGHT_CASES", sourceFolder() / "../shared/cases");
    std::error_code ignored;
    if (!fs::exists(folder / "expected.json", ignored))
        return std::nullopt;
    return folder;
}

fs::path programFolder()
{
    return folderFromEnvironment("TRAINWRIGHT_BIN", fs::current_path() / "bin");
}

fs::path sourceFolder()
{
    return folderFromEnvironment("TRAINWRIGHT_SOURCE", fs::current_path());
}

ProcessOutcome runProcess(const QString &program, const QStringList &arguments, int timeoutMs, const QByteArray &input)
{
    QProcess process;
    process.start(program, arguments);
    process.write(input);
    process.closeWriteChannel();
    ProcessOutcome outcome;
    if (process.waitForFinished(timeoutMs) && process.exitStatus() == QProcess::NormalExit)
        outcome.exitCode = process.exitCode();
    else
        process.kill();
    process.waitForFinished(1000);
    outcome.out = process.readAllStandardOutput();
    outcome.err = process.readAllStandardError();
    return outcome;
}

} // namespace tw::test
