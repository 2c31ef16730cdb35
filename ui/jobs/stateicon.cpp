// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/jobs/stateicon.h"

#include <QCoreApplication>
#include <QPainter>
#include <QPainterPath>

namespace tw {

QString jobStateText(JobState state)
{
    const char *text = "";
    switch (state) {
    case JobState::NotStarted:
        text = QT_TRANSLATE_NOOP("JobState", "Not started");
        break;
    case JobState::Queued:
        text = QT_TRANSLATE_NOOP("JobState", "Queued");
        break;
    case JobState::Preparing:
        text = QT_TRANSLATE_NOOP("JobState", "Preparing");
        break;
    case JobState::Running:
        text = QT_TRANSLATE_NOOP("JobState", "Running");
        break;
    case JobState::Paused:
        text = QT_TRANSLATE_NOOP("JobState", "Paused");
        break;
    case JobState::Finalizing:
        text = QT_TRANSLATE_NOOP("JobState", "Finalizing");
        break;
    case JobState::Completed:
        text = QT_TRANSLATE_NOOP("JobState", "Completed");
        break;
    case JobState::Failed:
        text = QT_TRANSLATE_NOOP("JobState", "Failed");
        break;
    case JobState::CancelRequested:
        text = QT_TRANSLATE_NOOP("JobState", "Canceling");
        break;
    case JobState::Canceled:
        text = QT_TRANSLATE_NOOP("JobState", "Canceled");
        break;
    case JobState::Interrupted:
        text = QT_TRANSLATE_NOOP("JobState", "Interrupted");
        break;
    }
    return QCoreApplication::translate("JobState", text);
}

QColor jobStateColor(JobState state, bool dark)
{
    switch (state) {
    case JobState::Preparing:
    case JobState::Running:
    case JobState::Finalizing:
        return dark ? QColor(0x6a, 0xae, 0xff) : QColor(0x1f, 0x6f, 0xd1);
    case JobState::Completed:
        return dark ? QColor(0x3f, 0xd0, 0xa4) : QColor(0x00, 0x8a, 0x64);
    case JobState::Failed:
        return dark ? QColor(0xff, 0x8a, 0x80) : QColor(0xc6, 0x28, 0x1c);
    case JobState::Paused:
    case JobState::Interrupted:
    case JobState::CancelRequested:
        return dark ? QColor(0xf0, 0xb0, 0x4a) : QColor(0xb0, 0x6a, 0x00);
    default:
        return dark ? QColor(0x8b, 0x94, 0xa0) : QColor(0x7a, 0x83, 0x8e);
    }
}

namespace {
/// The sign in a square of side 1, lines only.
QPainterPath sign(JobState state)
{
    QPainterPath path;
    const auto line = [&path](QPointF from, QPointF to) {
        path.moveTo(from);
        path.lineTo(to);
    };
    switch (state) {
    case JobState::Completed:
        path.moveTo(0.28, 0.52);
        path.lineTo(0.44, 0.67);
        path.lineTo(0.72, 0.35);
        break;
    case JobState::Failed:
        line({0.35, 0.35}, {0.65, 0.65});
        line({0.65, 0.35}, {0.35, 0.65});
        break;
    case JobState::Canceled:
    case JobState::CancelRequested:
        line({0.32, 0.5}, {0.68, 0.5});
        break;
    case JobState::Paused:
        line({0.41, 0.34}, {0.41, 0.66});
        line({0.59, 0.34}, {0.59, 0.66});
        break;
    case JobState::Interrupted:
        line({0.5, 0.27}, {0.5, 0.55});
        line({0.5, 0.71}, {0.5, 0.73});
        break;
    case JobState::Queued:
    case JobState::NotStarted:
        path.moveTo(0.5, 0.3);
        path.lineTo(0.5, 0.52);
        path.lineTo(0.65, 0.62);
        break;
    default:
        path.moveTo(0.42, 0.33);
        path.lineTo(0.68, 0.5);
        path.lineTo(0.42, 0.67);
        path.closeSubpath();
    }
    return path;
}
} // namespace

void paintJobState(QPainter &painter, const QRectF &box, JobState state, bool dark)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(box.topLeft());
    painter.scale(box.width(), box.height());
    const bool waits = state == JobState::Queued || state == JobState::NotStarted;
    const QColor color = jobStateColor(state, dark);
    const QColor ink = waits ? color : dark ? QColor(0x16, 0x18, 0x1c) : QColor(Qt::white);
    painter.setPen(waits ? QPen(color, 0.09) : QPen(Qt::NoPen));
    painter.setBrush(waits ? QBrush(Qt::NoBrush) : QBrush(color));
    painter.drawEllipse(QRectF(0.07, 0.07, 0.86, 0.86));
    const bool filled = state == JobState::Preparing || state == JobState::Running || state == JobState::Finalizing;
    painter.setPen(QPen(ink, filled ? 0.04 : 0.11, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(filled ? QBrush(ink) : QBrush(Qt::NoBrush));
    painter.drawPath(sign(state));
    painter.restore();
}

} // namespace tw
