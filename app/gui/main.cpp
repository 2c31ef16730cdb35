// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/grab.h"
#include "app/gui/options.h"
#include "core/base/startup.h"
#include "core/component/componentregistry.h"
#include "core/jobs/environment.h"
#include "core/jobs/workspace.h"
#include "core/pipeline/pipelinefile.h"
#include "core/train/devices.h"
#include "ui/common/theme.h"
#include "ui/common/usersettings.h"
#include "ui/mainwindow/mainwindow.h"

#include <QApplication>
#include <QMessageBox>
#include <QTemporaryDir>

#include <cstdio>

namespace {

int fail(const tw::Error &error, int code, bool showsWindow)
{
    std::fprintf(stderr, "%s\n%s\n", qPrintable(error.toString()), qPrintable(error.hintSentence()));
    if (showsWindow)
        QMessageBox::critical(nullptr, QStringLiteral("Trainwright"), error.sentence() + u'\n' + error.hintSentence());
    return code;
}

QString deviceSummary()
{
    const QList<tw::DeviceInfo> found = tw::devices();
    if (found.isEmpty())
        return {};
    const tw::DeviceInfo &best = found.last();
    return best.threads > 0
               ? QStringLiteral("%1 · %2 threads").arg(best.name.isEmpty() ? best.id : best.name).arg(best.threads)
               : QStringLiteral("%1 · %2").arg(best.id, best.name);
}

int runProgram(int argc, char **argv)
{
    const bool hasDisplay = !qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
    if (!hasDisplay && !qEnvironmentVariableIsSet("QT_QPA_PLATFORM") && tw::needsNoDisplay(argc, argv))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication application(argc, argv);
    tw::useCNumbers();
    QApplication::setApplicationName(QStringLiteral("trainwright"));
    QApplication::setApplicationDisplayName(QStringLiteral("Trainwright"));
    QApplication::setApplicationVersion(QStringLiteral(TRAINWRIGHT_VERSION));
    const tw::Result<tw::GuiOptions> options = tw::parseGuiOptions(QApplication::arguments());
    if (!options)
        return fail(options.error(), 2, false);
    // A picture must not depend on, nor change, how this person has arranged the window.
    QTemporaryDir grabSettings;
    if (!options->grab.isEmpty())
        tw::setUserSettingsFile(grabSettings.filePath(QStringLiteral("grab.ini")));
    tw::openCudaLibrary();
    tw::setEnvironmentProvider(tw::describeComputation);
    tw::ComponentRegistry registry;
    tw::registerAllComponents(registry);
    auto workspace =
        tw::Workspace::open(options->workspace.empty() ? tw::Workspace::defaultFolder() : options->workspace);
    if (!workspace)
        return fail(workspace.error(), 1, options->grab.isEmpty());
    if (!options->grab.isEmpty() && !options->file.isEmpty()) {
        // Nobody sees the window's own message: a picture of an empty canvas would pass for the file's.
        if (const auto loaded = tw::loadPipelineFile(tw::pathFromText(options->file), registry); !loaded)
            return fail(loaded.error(), 1, false);
    }
    if (!options->job.isEmpty()) {
        if (const auto job = (*workspace)->job(options->job); !job)
            return fail(job.error(), 1, false);
    }
    const QString theme =
        options->theme.isEmpty() ? tw::userSettings().value(QStringLiteral("window/theme")).toString() : options->theme;
    tw::Theme::instance().setChoice(tw::Theme::choiceFromId(theme));
    tw::MainWindow window({&registry, workspace->get(), deviceSummary});
    if (!options->grab.isEmpty() && !options->job.isEmpty() && options->file.isEmpty())
        window.showJobPipeline(options->job);
    else
        window.start(options->file);
    if (!options->job.isEmpty())
        window.showJob(options->job);
    std::unique_ptr<tw::WindowGrab> grab;
    if (!options->grab.isEmpty())
        grab = std::make_unique<tw::WindowGrab>(window, *options);
    window.show();
    return QApplication::exec();
}

} // namespace

int main(int argc, char **argv)
{
    tw::prepareProcess(argv);
    tw::leaveProcess(runProgram(argc, argv));
}
