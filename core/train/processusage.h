// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace tw {

/// Processor seconds (user and system) of all threads so far.
double processCpuSeconds();
/// Resident memory now, MB (10^6 bytes).
double residentMegabytes();
/// Largest resident memory so far, MB (10^6 bytes).
double peakResidentMegabytes();
/// Seconds since the operating system started this process (10 ms steps).
double secondsSinceProcessStart();

} // namespace tw
