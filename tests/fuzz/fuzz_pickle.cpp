// SPDX-License-Identifier: GPL-3.0-or-later
// The pickle machine alone, and the tensors of what it made over storages of zeros.
#include "core/model/checkpointreader.h"
#include "core/model/pthformats.h"
#include "tests/fuzz/inputfile.h"

using namespace tw;

namespace {

/// Every storage there can be, up to a size that fits a test.
class ZeroStorages : public StorageSource
{
public:
    Result<StorageBytes> read(const StorageName &storage) override
    {
        static const auto zeros = std::make_shared<std::vector<std::byte>>(1 << 20);
        const auto bytes = static_cast<std::uint64_t>(storage.elements) * elementBytes(storage.type);
        if (bytes > zeros->size())
            return pthDamaged("zeros", QStringLiteral("a storage is too large for this test"));
        return StorageBytes{zeros, std::span<const std::byte>(*zeros).first(bytes), false};
    }
    bool isBigEndian() const override { return bigEndian; }
    bool bigEndian = false;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    if (size == 0)
        return 0;
    // The first byte chooses; the rest is the pickle.
    const bool keys = data[0] & 1;
    ZeroStorages storages;
    storages.bigEndian = data[0] & 2;
    PickleMachine machine(keys ? PickleMachine::PersistentIds::Keys : PickleMachine::PersistentIds::Storages);
    const fs::path file = "input";
    const auto root = runPickle(machine, std::as_bytes(std::span(data + 1, size - 1)), file);
    if (!root.ok()) {
        fuzz::requireSound(root.error(), {errors::InvalidModelDirectory});
        return 0;
    }
    fuzz::require(machine.consumed() <= size - 1, "no more is read than there is");
    WeightsReport report;
    const auto weights = finishPth(file, machine, *root, storages, "pytorch", &report);
    if (weights.ok())
        fuzz::requireSound(*weights);
    else
        fuzz::requireSound(weights.error(), {errors::InvalidModelDirectory});
    return 0;
}
