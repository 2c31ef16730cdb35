// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/jobevent.h"

#include <QElapsedTimer>

namespace tw::cli {

/// Shows a running job: a bar on a terminal, lines now and then elsewhere, or one JSON object a
/// line (kinds job, node, progress, metric, log, error, result).
class JobPrinter
{
public:
    enum class Mode { Terminal, Plain, Json };

    explicit JobPrinter(Mode mode);
    void print(const JobEvent &event);
    /// A line between two states of the bar (always; with JSON nothing).
    void say(const QByteArray &line);
    /// With JSON: says that a slow reader missed points or lines, and where the files have them all.
    void tellDropped(qint64 events, const fs::path &jobFolder);
    /// Takes the bar away.
    void finish();
    const QList<Error> &errors() const { return m_errors; }

private:
    void printJson(const JobEvent &event);
    void printText(const JobEvent &event);
    void show(const NodeStateEvent &event);
    void show(const ProgressEvent &event);
    void show(const LogEvent &event);
    void show(const ErrorEvent &event);
    void line(const QByteArray &text);
    void drawBar(const ProgressEvent &event);
    QString remaining(const ProgressEvent &event) const;

    Mode m_mode;
    QElapsedTimer m_nodeTimer, m_lastLine;
    QString m_node;
    double m_firstFraction = -1;
    double m_imagesPerSecond = 0;
    bool m_barShown = false;
    QList<Error> m_errors;
};

} // namespace tw::cli
