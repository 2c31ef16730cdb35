// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/train/accuracy.h"
#include "core/train/trainingspec.h"

#include <QStringList>

#include <chrono>
#include <optional>

namespace tw {

struct StepFigures
{
    int epoch = 1;              ///< from 1
    std::int64_t batch = 0;     ///< from 0; the last one of the step
    std::int64_t iteration = 0; ///< steps of this epoch before this one
    std::int64_t step = 1;      ///< optimizer steps done, this one included
    int images = 0;
    double loss = 0;
    double learningRate = 0;
    double waitSeconds = 0; ///< waiting for the loader
    double stepSeconds = 0; ///< forward, backward, update
};

/// What the loader's threads did since the last report of it.
struct LoaderFigures
{
    std::int64_t step = 1;
    double epoch = 1;            ///< as of the step's series
    std::int64_t batches = 1;    ///< since then
    double decodeSeconds = 0;    ///< reading and decoding, sum over threads
    double transformSeconds = 0; ///< transforming and normalising, sum over threads
    double megabytes = 0;        ///< encoded, read
    double seconds = 0;          ///< that have passed
};

struct EpochFigures
{
    int epoch = 1;
    std::int64_t step = 0;
    Score training; ///< running, in training mode
    Score validation;
    double seconds = 0; ///< training and validation
    double bestValTop1 = 0;
    std::optional<double> trainingSetTop1; ///< in evaluation mode
};

/// Turns what the trainer does into log lines, series, progress and results of its RunContext.
/// Names and forms: formats.md, components.md. Training thread.
class TrainingReport
{
public:
    TrainingReport(RunContext &context, const TrainingSpec &spec);

    /// The settings, one line each.
    void header(const QStringList &lines);
    void line(const QString &text);
    void warning(const QString &text);
    void startEpoch(int epoch, std::int64_t batches);
    void step(const StepFigures &figures);
    void loader(const LoaderFigures &figures);
    void validating(std::int64_t images, std::int64_t total);
    void epoch(const EpochFigures &figures);
    /// The kept weights on the training pictures, at the end.
    void trainingSet(std::int64_t step, int epoch, double top1);
    /// Over all steps and the waiting for their images, as the series; without validation.
    double imagesPerSecond() const;

private:
    using Clock = std::chrono::steady_clock;
    double seconds() const;
    void metric(const QString &series, std::int64_t step, double epoch, double value);
    void logStep(const StepFigures &figures, double rate);
    QString timeLeft() const;
    QString epochText(int epoch) const;

    RunContext &m_context;
    const TrainingSpec &m_spec;
    Clock::time_point m_start = Clock::now();
    double m_cpuAtEpoch = 0;
    double m_secondsAtEpoch = 0;
    std::int64_t m_batches = 1;     ///< of this epoch
    std::int64_t m_batchesDone = 0; ///< of this epoch
    int m_epoch = 1;
    Score m_running; ///< of this epoch; images and loss
    std::int64_t m_images = 0;
    double m_trainingSeconds = 0; ///< waiting for the loader and steps
};

} // namespace tw
