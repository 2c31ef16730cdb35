// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"

namespace tw::test {

/// Writes <name>-images-idx3-ubyte and <name>-labels-idx1-ubyte: `count` pictures of size × size,
/// labels 0 … classes−1 in turn, each class with a bright bar at its own place so that a network
/// learns it within an epoch. Returns the images file.
fs::path writeIdxPair(const fs::path &folder, const char *name, int count, int classes, int size = 28);

} // namespace tw::test
