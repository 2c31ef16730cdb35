// SPDX-License-Identifier: GPL-3.0-or-later
// model.json of a model directory.
#include "core/model/modeldirectory.h"
#include "tests/fuzz/inputfile.h"

using namespace tw;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    static fuzz::InputFolder input("model.json");
    const fs::path &folder = input.hold(data, size);
    const auto info = readModelInfo(folder);
    if (!info.ok()) {
        fuzz::requireSound(info.error(), {errors::InvalidModelDirectory});
        return 0;
    }
    fuzz::require(!info->classes.empty() && info->width > 0 && info->height > 0, "a model that is read is whole");
    if (const auto warnings = checkModelHashes(folder); !warnings.ok())
        fuzz::requireSound(warnings.error(), {errors::InvalidModelDirectory});
    return 0;
}
