// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/jobs/jobstate.h"

#include <QColor>
#include <QString>

class QPainter;
class QRectF;

namespace tw {

/// In the interface language.
QString jobStateText(JobState state);
QColor jobStateColor(JobState state, bool dark);
/// A disc whose sign tells the state without its colour.
void paintJobState(QPainter &painter, const QRectF &box, JobState state, bool dark);

} // namespace tw
