// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/patience.h"
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/evaluation.h"
#include "core/train/torch/optimizer.h"
#include "core/train/trainer.h"
#include "core/train/trainingcache.h"
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
    enum class Outcome { Continue, User, Patience, NotANumber, Time };

    Result<void> initialise();
    Result<void> initialiseNetwork();
    Result<void> checkImages();
    Result<void> checkInputSizes();
    Result<void> checkOnlySize(const QString &role, int width, int height) const;
    Result<void> loadInitialWeights();
    void chooseLayers();
    void initialiseOptimizer();
    /// ModuleOutOfMemoryError, from the shapes alone, before any of the weights takes memory.
    Result<void> checkWeightsMemory();
    Result<void> checkMemory();
    void initialiseLoss();
    Result<void> initialiseLoaders();
    Result<void> openCaches();
    LoaderOptions loaderOptions() const;
    Result<std::unique_ptr<BatchLoader>> evaluationLoader(const ManifestPtr &manifest, const TransformList &transforms,
                                                          const std::shared_ptr<PictureCache> &cache) const;
    void writeHeader();
    Result<Outcome> trainEpochs();
    Result<Outcome> trainEpoch(int epoch);
    /// Forward and backward of one batch; the optimizer's step when it ends a group.
    Result<Outcome> trainBatch(const BatchPtr &batch, bool last, StepFigures &figures);
    void addGradients(const BatchPtr &batch);
    Result<Outcome> finishStep(StepFigures &figures);
    void reportLoader(const StepFigures &figures);
    Outcome judgeStep(double loss);
    bool isTimeUp() const;
    /// `isPart`: the time was up before the epoch's end.
    Result<Outcome> finishEpoch(int epoch, double startSeconds, bool isPart);
    Result<std::optional<Score>> validate(int epoch);
    /// The training pictures as validation sees them. Nothing when a person asks to stop.
    Result<std::optional<Score>> evaluateTrainingSet(int epoch);
    Result<void> evaluateKeptWeights(Outcome outcome);
    Outcome judge(int epoch, const Score &validation);
    void keep(int epoch, const Score &validation);
    Result<TrainingResult> finish(Outcome outcome);
    void announce(const TrainingResult &result);
    QJsonObject trainingFigures(const QString &stopped) const;
    Error notANumber() const;
    Error canceled() const;
    /// Pictures left out, and what the cache could not keep.
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
    std::unique_ptr<Optimizer> m_optimizer;
    at::Tensor m_classWeights; ///< one a class; undefined: all equal
    std::optional<at::Device> m_device;
    std::int64_t m_stepBytes = 0; ///< memory that training takes beyond what it has before the first batch
    TrainingCaches m_caches;
    int m_threads = 0;
    /// The last goes through the training pictures as validation does; only where it is asked for.
    std::unique_ptr<BatchLoader> m_trainingLoader, m_validationLoader, m_trainingEvaluationLoader;

    /// Batches whose gradients are summed for the next step. With more than one, their losses are sums
    /// and the gradients are divided by the sum of the weights: a short last group counts for itself.
    struct Group
    {
        int batches = 0;
        int images = 0;
        double lossSum = 0;
        double weightSum = 0;
        double waitSeconds = 0, stepSeconds = 0;
    };
    Group m_group;
    LoaderStatistics m_loaderReported; ///< what reportLoader() has told already
    double m_loaderReportedAt = 0;
    std::int64_t m_batchesReported = 0, m_batchesTrained = 0;
    std::int64_t m_stepsPerEpoch = 0;
    std::int64_t m_step = 0; ///< optimizer steps done, skipped ones included
    Score m_running;         ///< training figures of this epoch
    std::optional<KeptWeights> m_kept;
    double m_bestTop1 = -1;
    Patience m_patience;
    double m_keptLoss = std::numeric_limits<double>::infinity();
    std::optional<double> m_trainingSetTop1; ///< of the kept weights
    int m_epochsDone = 0;
    std::int64_t m_notANumberStep = 0; ///< first step with a loss that is not finite; 0 none
    bool m_warnedNotANumber = false;
};

} // namespace tw
