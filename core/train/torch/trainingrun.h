// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/torch/architecturelist.h"
#include "core/train/torch/evaluation.h"
#include "core/train/torch/sgd.h"
#include "core/train/trainer.h"
#include "core/train/trainingdata.h"
#include "core/train/trainingreport.h"

#include <limits>

namespace tw {

/// The weights to take away, with the figures they were measured with.
struct KeptWeights
{
    StateDict weights;
    int epoch = 0;
    Score validation;
};

/// One training, from a TrainingSpec to a TrainingResult. Lives on the calling thread's stack.
class TrainingRun
{
public:
    TrainingRun(const TrainingSpec &spec, RunContext &context);
    Result<TrainingResult> run();

private:
    /// Why the loop goes on or ends.
    enum class Outcome { Continue, User, Patience, NotANumber };

    Result<void> initialise();
    Result<void> initialiseNetwork();
    Result<void> checkImages();
    Result<void> checkInputSizes();
    Result<void> loadInitialWeights();
    Result<void> initialiseLoaders();
    void writeHeader();
    Result<Outcome> trainEpochs();
    Result<Outcome> trainEpoch(int epoch);
    Result<Outcome> trainBatch(const BatchPtr &batch, StepFigures figures);
    /// Forward, backward and update; the mean loss, not finite when the step was left out.
    double trainStep(const BatchPtr &batch, double learningRate);
    Result<Outcome> finishEpoch(int epoch, double startSeconds);
    Result<std::optional<Score>> validate(int epoch);
    Outcome judge(int epoch, const Score &validation);
    void keep(int epoch, const Score &validation);
    Result<TrainingResult> finish(Outcome outcome);
    void announce(const TrainingResult &result);
    QJsonObject trainingFigures(const QString &stopped) const;
    Error notANumber() const;
    Error canceled() const;
    void reportSkipped(BatchLoader &loader);
    double seconds() const;

    const TrainingSpec &m_spec;
    RunContext &m_context;
    TrainingReport m_report;
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();

    TrainingData m_data;
    ModelInfo m_info;
    const Architecture *m_architecture = nullptr;
    std::unique_ptr<Network> m_network;
    std::optional<Sgd> m_optimizer;
    std::optional<at::Device> m_device;
    int m_threads = 0;
    std::unique_ptr<BatchLoader> m_trainingLoader, m_validationLoader;

    std::int64_t m_stepsPerEpoch = 0;
    std::int64_t m_step = 0; ///< optimizer steps done, skipped ones included
    Score m_running;         ///< training figures of this epoch
    std::optional<KeptWeights> m_kept;
    double m_bestTop1 = -1, m_bestLoss = std::numeric_limits<double>::infinity();
    double m_keptLoss = std::numeric_limits<double>::infinity();
    int m_epochsWithoutGain = 0;
    int m_epochsDone = 0;
    std::int64_t m_notANumberStep = 0; ///< first step with a loss that is not finite; 0 none
    bool m_warnedNotANumber = false;
};

} // namespace tw
