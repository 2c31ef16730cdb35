// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/component/componenttype.h"
#include "core/jobs/jobstate.h"

#include <QString>

namespace tw {

// Translated texts of the engine's English source strings. Everything returned is plain text.
QString componentWord(const QString &source); ///< names, categories, descriptions, port labels
QString parameterWord(const QString &source); ///< labels, help, units, choice labels
QString errorText(const Error &error);
QString errorHint(const Error &error);
/// Sentence and, on a line of its own, the hint.
QString errorTooltip(const Error &error);
QString nodeStateWord(NodeState state);
QString jobStateWord(JobState state);
/// "1:05", "2:03:04"; "" for negative or not finite.
QString durationText(double seconds);
/// 0.9123 → "91.2 %" in the user's number format.
QString percentText(double fraction);
/// 60000 → "60,000" in the user's number format.
QString countText(qint64 count);
/// Tooltip-safe: markup characters are shown letter by letter.
QString plainTooltip(const QString &text);

} // namespace tw
