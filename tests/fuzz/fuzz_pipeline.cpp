// SPDX-License-Identifier: GPL-3.0-or-later
// Pipeline files: what is read can be judged, written and read again as the same.
#include "core/pipeline/pipelinefile.h"
#include "core/pipeline/validator.h"
#include "tests/core/pipeline/fakecomponents.h"
#include "tests/fuzz/inputfile.h"

using namespace tw;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const ComponentRegistry &registry = test::fakeComponents();
    const QByteArray bytes(reinterpret_cast<const char *>(data), static_cast<qsizetype>(size));
    const auto loaded = readPipeline(bytes, registry);
    if (!loaded.ok()) {
        fuzz::require(!loaded.error().sentence().isEmpty() && !loaded.error().name.isEmpty(), "a refusal says why");
        return 0;
    }
    for (const Error &fault : validate(loaded->pipeline, registry))
        fuzz::require(!fault.sentence().isEmpty(), "a fault says what it is");
    const QByteArray written = writePipeline(loaded->pipeline, registry);
    const auto again = readPipeline(written, registry);
    fuzz::require(again.ok(), "what was written is read");
    fuzz::require(writePipeline(again->pipeline, registry) == written, "writing again gives the same bytes");
    return 0;
}
