// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/idxfiles.h"

#include <fstream>
#include <initializer_list>
#include <string>

namespace tw::test {

static void writeBigEndian(std::ofstream &out, std::initializer_list<unsigned> numbers)
{
    for (const unsigned number : numbers)
        for (int shift = 24; shift >= 0; shift -= 8)
            out.put(char((number >> shift) & 0xff));
}

fs::path writeIdxPair(const fs::path &folder, const char *name, int count, int classes, int size)
{
    const fs::path images = folder / (std::string(name) + "-images-idx3-ubyte");
    std::ofstream pixels(images, std::ios::binary),
        labels(folder / (std::string(name) + "-labels-idx1-ubyte"), std::ios::binary);
    writeBigEndian(pixels, {0x803, unsigned(count), unsigned(size), unsigned(size)});
    writeBigEndian(labels, {0x801, unsigned(count)});
    for (int i = 0; i < count; ++i) {
        const int label = i % classes;
        labels.put(char(label));
        for (int y = 0; y < size; ++y)
            for (int x = 0; x < size; ++x) {
                const bool bar = y * classes / size == label;
                const unsigned noise = unsigned(i * 7919 + y * 104729 + x * 1299709) % 40;
                pixels.put(char((bar ? 200u : 10u) + noise));
            }
    }
    return images;
}

} // namespace tw::test
