// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/datasetreport.h"

namespace tw::cli {

/// The report of `data` for people: aligned tables, long lists cut with their number.
/// `notes`: what the scan of each part noticed, as many as there are parts.
QByteArray datasetText(const DatasetReport &report, const std::vector<DataReport> &notes);

} // namespace tw::cli
