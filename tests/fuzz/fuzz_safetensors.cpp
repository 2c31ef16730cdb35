// SPDX-License-Identifier: GPL-3.0-or-later
// A safetensors file.
#include "core/model/weightsfile.h"
#include "tests/fuzz/inputfile.h"

using namespace tw;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    static fuzz::InputFile input;
    WeightsReport report;
    const auto weights = readSafetensors(input.hold(data, size), &report);
    if (weights.ok())
        fuzz::requireSound(*weights);
    else
        fuzz::requireSound(weights.error(), {errors::InvalidModelDirectory});
    return 0;
}
