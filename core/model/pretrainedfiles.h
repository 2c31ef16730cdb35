// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/data/download.h"
#include "core/model/pretrainedweights.h"

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

namespace tw {

/// Where torch.hub keeps its files: $TORCH_HOME/hub/checkpoints, TORCH_HOME being by default torch in
/// $XDG_CACHE_HOME or ~/.cache.
fs::path hubWeightsFolder();
/// The studio's own folder, trainwright/weights in the user's cache folder: downloads come to lie there.
fs::path ownWeightsFolder();
/// Folders that are looked into, the first that has the file wins: torch.hub's, the studio's own, that of
/// the set-up (weights in $TRAINWRIGHT_DEPS; without the variable the one the program was built with).
std::vector<fs::path> pretrainedFolders();

struct PretrainedFile
{
    fs::path path;
    QByteArray sha256;
    bool isDownloaded = false; ///< just now
};

/// The file on this machine; nothing where there is none. Its hash is remembered by size, times and
/// inode as long as the program runs.
/// InvalidModelDirectoryError: what lies under that name is not readable or another file, and no folder has the
/// right one, naming path and hashes; CanceledError. Any thread.
Result<std::optional<PretrainedFile>> findPretrainedFile(const PretrainedWeights &weights,
                                                         const StopToken *stop = nullptr);

/// Where it can be fetched from: below $TRAINWRIGHT_WEIGHTS_URL (of a mirror) where that is set, else the
/// published address; empty: nowhere. InvalidModelDirectoryError: the variable holds no address.
Result<QUrl> pretrainedAddress(const PretrainedWeights &weights);

/// InvalidModelDirectoryError: the file is not here, and `reason` why it cannot be fetched (a sentence;
/// empty: there is no address). The hint says which file to put where.
Error noPretrainedFile(const PretrainedWeights &weights, const QString &reason = {});

struct PretrainedRequest
{
    const StopToken *stop = nullptr;
    std::function<void(const QUrl &)> begins;               ///< before the first byte of a download
    std::function<void(const DownloadProgress &)> progress; ///< the caller's thread, a few times a second
    std::chrono::milliseconds silence{30'000};              ///< longest time without a byte
};

/// The file on this machine, downloaded into the studio's own folder where there is none: a part of an
/// earlier try is gone on with, the file appears under its name only when its hash is right.
/// InvalidModelDirectoryError: findPretrainedFile(), noPretrainedFile() with what download() says;
/// FailedToWriteOutputsError; CanceledError. Any thread, while a QCoreApplication exists; blocks.
Result<PretrainedFile> obtainPretrainedFile(const PretrainedWeights &weights, const PretrainedRequest &request);

/// "46.8 MB"
QString sizeText(const PretrainedWeights &weights);

} // namespace tw
