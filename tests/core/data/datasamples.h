// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/imagebuffer.h"
#include "core/data/imagemanifest.h"

#include <QByteArray>

namespace tw::test {

/// A binary PPM of a picture: the simplest file that a decoder reads.
QByteArray ppmOf(const ImageBuffer &image);
/// Pixels that differ from picture to picture and from place to place.
ImageBuffer patternImage(int width, int height, unsigned seed);
void writeBytes(const fs::path &file, const QByteArray &bytes);
/// `count` pictures "<class>/<number>.ppm" in classes "a", "b", "c" in turn.
void writeClassFolders(const fs::path &root, int count, int width, int height);
/// An IDX pair of `count` images; label = number modulo 3. Gives the images file.
fs::path writeIdxPair(const fs::path &folder, int count, int rows, int columns);

} // namespace tw::test
