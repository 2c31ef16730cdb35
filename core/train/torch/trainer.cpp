// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainer.h"

#include "core/train/torch/torcherror.h"
#include "core/train/torch/trainingrun.h"

namespace tw {

Result<TrainingResult> train(const TrainingSpec &spec, RunContext &context)
{
    return guarded([&] { return TrainingRun(spec, context).run(); });
}

} // namespace tw
