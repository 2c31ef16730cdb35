// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/imagebuffer.h"

#include <QByteArray>

namespace tw::test {

struct JpegForm
{
    int across = 2, down = 2; ///< luma samples per colour sample
    bool isProgressive = false;
    bool isGray = false;
    int restartRows = 0;
    int orientation = 1; ///< an EXIF mark where it is not 1
    int quality = 90;
};

QByteArray jpegOf(const ImageBuffer &image, const JpegForm &form = {});

} // namespace tw::test
