// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/picklemachine.h"
#include "core/model/storagesource.h"
#include "core/model/weightsfile.h"

#include <span>
#include <string_view>

namespace tw {

/// The three containers that torch.save has used, told by a file's first 512 bytes.
enum class PthFormat {
    None,
    Zip,    ///< PyTorch 1.6 and later
    Legacy, ///< from 0.1.10 on: pickles one after the other, then the storages
    Tar     ///< before 0.1.10
};
PthFormat pthFormat(std::string_view head);

// Each reads one format as readPth() describes. InvalidModelDirectoryError.
Result<StateDict> readZipPth(const fs::path &file, WeightsReport *report);
Result<StateDict> readLegacyPth(const fs::path &file, WeightsReport *report);
Result<StateDict> readTarPth(const fs::path &file, WeightsReport *report);

/// One pickle; an error names the file.
Result<std::uint32_t> runPickle(PickleMachine &machine, std::span<const std::byte> bytes, const fs::path &file);
/// The weights below `root` and the report's last fields.
Result<StateDict> finishPth(const fs::path &file, const PickleMachine &machine, std::uint32_t root,
                            StorageSource &source, const char *format, WeightsReport *report);
/// InvalidModelDirectoryError: "FILE is damaged: WHAT."
Error pthDamaged(const fs::path &file, const QString &what);

} // namespace tw
