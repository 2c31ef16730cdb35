// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace tw {

/// Threads LibTorch chooses when nobody asks for a number; the same for the life of the process.
int automaticTorchThreads();
/// 0: as LibTorch chooses. Returns what is in force from now on.
int useTorchThreads(int threads);

} // namespace tw
