// SPDX-License-Identifier: GPL-3.0-or-later
// A weights file of any kind, told by its content; the seeds are zips, and checksums are not looked at.
#include "core/model/weightsfile.h"
#include "tests/fuzz/inputfile.h"

using namespace tw;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    static fuzz::InputFile input;
    WeightsReport report;
    const auto weights = readWeights(input.hold(data, size), &report);
    if (weights.ok())
        fuzz::requireSound(*weights);
    else
        fuzz::requireSound(weights.error(), {errors::InvalidModelDirectory});
    return 0;
}
