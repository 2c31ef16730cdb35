// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
/// The one function of the module trainwright_imgcodecs: decodes to 8-bit RGB rows without padding.
/// `allocate` is called once with the size and gives width·height·3 bytes, or nullptr. Returns 0,
/// or another number with the reason (zero-terminated) in `reason`. Any thread, never throws.
using TrainwrightDecodePicture = int (*)(const std::uint8_t *bytes, std::size_t size, void *context,
                                         std::uint8_t *(*allocate)(void *context, int width, int height), char *reason,
                                         std::size_t reasonSize);
}
