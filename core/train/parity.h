// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/data/imagemanifest.h"
#include "core/model/modeldirectory.h"

namespace tw {

/// What was trained, as it is in memory, and the pictures to compare its files with.
struct ParityRequest
{
    const ModelInfo &info;
    const StateDict &weights;
    ManifestPtr validation;
    std::uint64_t seed = 1; ///< of the choice of pictures
    int batchSize = 16;     ///< at most 32 are taken
    QString device = QStringLiteral("auto");
    int threads = 0;
};

/// The pictures of a certificate: all of up to 256, else 256 spread evenly over the list, with an offset
/// that is drawn from the seed. Rising.
std::vector<std::uint32_t> parityPictures(std::size_t count, std::uint64_t seed);

/// Difference of two logits that counts: 0 for equal ones, two NaN included; infinite where only one of
/// them is a number.
double logitGap(float one, float other);

/// Reads model.json and both weights files of the folder that writeModelDirectory() has just filled as
/// a user's program would, scores parityPictures() through the network of each and through that in memory,
/// and writes parity.json: {format, version, pictures, validation_pictures, validation_fingerprint, seed,
/// largest_logit, tolerance, largest_gap, top1_agreement, files: {name: {sha256, largest_gap,
/// top1_agreement}}}. The tolerance is 2e-5 × max(1, largest |logit|). Results on the node: parity_gap,
/// parity_top1_agreement. Without a picture that can be read there is no certificate, and a warning.
/// FailedToWriteOutputsError: a gap above the tolerance (both are said), a file that cannot be read back
/// or is another than model.json states. CanceledError within a batch. The calling thread.
Result<void> certifyModel(const fs::path &folder, const ParityRequest &request, RunContext &context);

} // namespace tw
