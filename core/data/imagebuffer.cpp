// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/imagebuffer.h"

#include <cstring>

namespace tw {

ImageBuffer bufferOf(const PixelView &view)
{
    ImageBuffer out{view.width, view.height, {}};
    out.pixels.resize(std::size_t(view.width) * std::size_t(view.height) * 3);
    for (int y = 0; y < view.height; ++y) {
        const std::uint8_t *in = view.row(y);
        std::uint8_t *to = out.row(y);
        if (view.channels == 3) {
            std::memcpy(to, in, view.rowBytes());
            continue;
        }
        for (int x = 0; x < view.width; ++x, to += 3)
            to[0] = to[1] = to[2] = in[x];
    }
    return out;
}

} // namespace tw
