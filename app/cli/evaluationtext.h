// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/metrics/evaluation.h"

namespace tw::cli {

/// What a person reads of an evaluation: figures, a line a class (the worst first where there are
/// many), the most frequent confusions, and the comparison of two models.
QByteArray evaluationText(const EvaluationReport &report);

} // namespace tw::cli
