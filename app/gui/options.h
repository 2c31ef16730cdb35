// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <QSize>
#include <QString>

namespace tw {

/// Command line of the window.
struct GuiOptions
{
    QString file;
    fs::path workspace; ///< empty: the default
    QString job;
    QString grab;          ///< pipeline | metrics | outputs | logs; empty: no picture
    QSize size{1440, 900}; ///< of the picture, device-independent pixels
    QString out;
    QString theme; ///< light | dark | empty: as remembered
};

/// Answers --help and --version by leaving the program. InvalidPipelineError for a value that
/// cannot be used, naming it.
Result<GuiOptions> parseGuiOptions(const QStringList &arguments);
/// True when these arguments need no display (--grab, --help, --version).
bool needsNoDisplay(int argc, char **argv);

} // namespace tw
