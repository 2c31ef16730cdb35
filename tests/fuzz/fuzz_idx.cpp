// SPDX-License-Identifier: GPL-3.0-or-later
// IDX files of images and of labels, plain and gzip-compressed.
#include "core/data/idxfile.h"
#include "tests/fuzz/inputfile.h"

using namespace tw;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    static fuzz::InputFile input;
    const fs::path &file = input.hold(data, size);
    for (const std::size_t dimensions : {std::size_t(1), std::size_t(3)}) {
        const auto read = readIdxFile(file, dimensions);
        if (read.ok()) {
            fuzz::require(read->header.sizes.size() == dimensions, "as many sizes as asked for");
            fuzz::require(read->values.size() == read->header.valueCount(), "as many values as the sizes say");
        } else {
            fuzz::requireSound(read.error(), {errors::InvalidDataset});
        }
    }
    return 0;
}
