// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/common/words.h"

#include <QCoreApplication>
#include <QLocale>

#include <cmath>

namespace tw {

static QString translated(const char *context, const QString &source)
{
    if (source.isEmpty())
        return {};
    return QCoreApplication::translate(context, source.toUtf8().constData());
}

QString componentWord(const QString &source)
{
    return translated("Component", source);
}

QString parameterWord(const QString &source)
{
    return translated("Parameter", source);
}

QString errorText(const Error &error)
{
    return fillArguments(translated("Error", error.text), error.args);
}

QString errorHint(const Error &error)
{
    return fillArguments(translated("Error", error.hint), error.args);
}

QString errorTooltip(const Error &error)
{
    const QString hint = errorHint(error);
    return hint.isEmpty() ? errorText(error) : errorText(error) + u'\n' + hint;
}

QString nodeStateWord(NodeState state)
{
    switch (state) {
    case NodeState::NotStarted:
        return QCoreApplication::translate("NodeState", "Not started");
    case NodeState::Queued:
        return QCoreApplication::translate("NodeState", "Queued");
    case NodeState::Running:
        return QCoreApplication::translate("NodeState", "Running");
    case NodeState::Paused:
        return QCoreApplication::translate("NodeState", "Paused");
    case NodeState::CancelRequested:
        return QCoreApplication::translate("NodeState", "Canceling");
    case NodeState::Completed:
        return QCoreApplication::translate("NodeState", "Completed");
    case NodeState::Failed:
        return QCoreApplication::translate("NodeState", "Failed");
    case NodeState::Canceled:
        return QCoreApplication::translate("NodeState", "Canceled");
    case NodeState::Interrupted:
        return QCoreApplication::translate("NodeState", "Interrupted");
    case NodeState::Reused:
        return QCoreApplication::translate("NodeState", "Reused from an earlier job");
    case NodeState::Skipped:
        return QCoreApplication::translate("NodeState", "Skipped, an input failed");
    }
    return {};
}

QString jobStateWord(JobState state)
{
    switch (state) {
    case JobState::NotStarted:
        return QCoreApplication::translate("JobState", "Not started");
    case JobState::Queued:
        return QCoreApplication::translate("JobState", "Queued");
    case JobState::Preparing:
        return QCoreApplication::translate("JobState", "Preparing");
    case JobState::Running:
        return QCoreApplication::translate("JobState", "Running");
    case JobState::Paused:
        return QCoreApplication::translate("JobState", "Paused");
    case JobState::Finalizing:
        return QCoreApplication::translate("JobState", "Finalizing");
    case JobState::Completed:
        return QCoreApplication::translate("JobState", "Completed");
    case JobState::Failed:
        return QCoreApplication::translate("JobState", "Failed");
    case JobState::CancelRequested:
        return QCoreApplication::translate("JobState", "Canceling");
    case JobState::Canceled:
        return QCoreApplication::translate("JobState", "Canceled");
    case JobState::Interrupted:
        return QCoreApplication::translate("JobState", "Interrupted");
    }
    return {};
}

QString durationText(double seconds)
{
    if (!std::isfinite(seconds) || seconds < 0)
        return {};
    const qint64 whole = qint64(std::llround(seconds));
    const QString minutes = QStringLiteral("%1").arg(whole / 60 % 60, whole >= 3600 ? 2 : 1, 10, QChar(u'0'));
    const QString tail = QStringLiteral("%1:%2").arg(minutes).arg(whole % 60, 2, 10, QChar(u'0'));
    return whole >= 3600 ? QStringLiteral("%1:%2").arg(whole / 3600).arg(tail) : tail;
}

QString percentText(double fraction)
{
    if (!std::isfinite(fraction))
        return QStringLiteral("–");
    return QLocale().toString(fraction * 100, 'f', 1) + QStringLiteral("\u202f%");
}

QString countText(qint64 count)
{
    return QLocale().toString(count);
}

QString plainTooltip(const QString &text)
{
    return QStringLiteral("<div style='white-space:pre-wrap'>%1</div>").arg(text.toHtmlEscaped());
}

} // namespace tw
