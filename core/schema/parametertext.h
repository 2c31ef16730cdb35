// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/schema/parameterspec.h"

namespace tw {

/// The allowed range without the kind: "≥ 1", "> 0", "in (0, 1]"; empty when there is none.
QString boundsText(const ParameterSpec &spec);
/// One number as messages and the command line write it (C locale, shortest form).
QString numberText(double value);
/// Any value as a message shows it, of the right kind or not.
QString valueText(const QVariant &value);
/// InvalidPipelineError: "Parameter 'x' is 'abc'; it takes …", on the parameter.
Error wrongKind(const ParameterSpec &spec, const QString &shownValue, const char *hint = "");

} // namespace tw
