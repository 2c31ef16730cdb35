// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/trainingrun.h"

#include <cmath>

namespace tw {

TrainingRun::TrainingRun(const TrainingSpec &spec, RunContext &context)
    : m_spec(spec), m_context(context), m_report(context, spec), m_patience(spec.patience, spec.patienceAgainstPrevious)
{
}

double TrainingRun::seconds() const
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
}

Error TrainingRun::canceled() const
{
    return makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The training was canceled."));
}

Error TrainingRun::notANumber() const
{
    if (m_notANumberStep == 1) // no setting of the optimizer has had a say yet
        return makeError(
            errors::NotInRangeValue,
            QT_TRANSLATE_NOOP("Error", "The loss was not a number at step %1, before any weight was moved."),
            {QString::number(m_notANumberStep)},
            QT_TRANSLATE_NOOP("Error", "Look at the initial weights with inspect --values, and at the "
                                       "pictures."));
    // A decay of the whole weight in one step overshoots whatever the loss is.
    const bool decayed = m_spec.weightDecay >= 1 && m_spec.learningRate * m_spec.weightDecay >= 1;
    return makeError(errors::NotInRangeValue,
                     QT_TRANSLATE_NOOP("Error", "The loss was no longer a number at step %1, before any "
                                                "weights could be kept; learning_rate is %2, weight_decay %3."),
                     {QString::number(m_notANumberStep), QString::number(m_spec.learningRate, 'g', 6),
                      QString::number(m_spec.weightDecay, 'g', 6)},
                     decayed ? QT_TRANSLATE_NOOP("Error", "Use a lower weight_decay: learning_rate × weight_decay "
                                                          "must be far below 1.")
                             : QT_TRANSLATE_NOOP("Error", "Use a lower learning_rate, or warmup_epochs."))
        .atParameter(decayed ? QStringLiteral("weight_decay") : QStringLiteral("learning_rate"));
}

Result<TrainingResult> TrainingRun::run()
{
    TW_TRY(initialise());
    TW_ASSIGN(outcome, trainEpochs());
    return finish(outcome);
}

Result<TrainingRun::Outcome> TrainingRun::trainEpochs()
{
    for (int epoch = 1; epoch <= m_spec.epochs; ++epoch) {
        const double start = seconds();
        TW_ASSIGN(trained, trainEpoch(epoch));
        if (trained != Outcome::Continue && trained != Outcome::Time)
            return trained;
        // Time that is up in the middle of an epoch: what was trained since is validated and judged too.
        TW_ASSIGN(judged, finishEpoch(epoch, start, trained == Outcome::Time));
        if (trained == Outcome::Time && judged == Outcome::Continue)
            return trained;
        if (judged != Outcome::Continue)
            return judged;
    }
    return Outcome::Continue;
}

Result<TrainingRun::Outcome> TrainingRun::trainEpoch(int epoch)
{
    m_running = {};
    m_group = {};
    m_network->setTraining(true);
    m_trainingLoader->startEpoch(std::uint32_t(epoch));
    const auto batches = std::int64_t(m_trainingLoader->batchesPerEpoch());
    m_report.startEpoch(epoch, batches);
    StepFigures figures;
    figures.epoch = epoch;
    for (; figures.batch < batches; ++figures.batch) {
        if (m_context.isStopRequested())
            return Outcome::User;
        const double before = seconds();
        TW_ASSIGN(batch, m_trainingLoader->next(&m_context.stopToken()));
        if (m_context.isCanceled())
            return canceled();
        if (!batch)
            return Outcome::Continue;
        m_group.waitSeconds += seconds() - before;
        TW_ASSIGN(outcome, trainBatch(*batch, figures.batch + 1 == batches, figures));
        const bool whole = figures.batch + 1 == batches; // finishEpoch() looks at the time then
        if (outcome != Outcome::Continue && !(whole && outcome == Outcome::Time))
            return outcome;
    }
    return Outcome::Continue;
}

Result<TrainingRun::Outcome> TrainingRun::trainBatch(const BatchPtr &batch, bool last, StepFigures &figures)
{
    reportSkipped(*m_trainingLoader);
    const double start = seconds();
    if (batch->count > 0)
        addGradients(batch);
    m_group.stepSeconds += seconds() - start;
    ++m_group.batches;
    ++m_batchesTrained;
    if (m_group.batches < m_spec.accumulationSteps && !last)
        return Outcome::Continue;
    if (m_group.images > 0)
        return finishStep(figures);
    m_group = {};
    return Outcome::Continue;
}

void TrainingRun::addGradients(const BatchPtr &batch)
{
    const bool single = m_spec.accumulationSteps == 1;
    if (m_group.images == 0)
        m_optimizer->clearGradients();
    const at::Tensor logits = m_network->forward(inputTensor(batch, *m_device));
    const at::Tensor labels = labelTensor(batch, *m_device);
    const double weights =
        m_classWeights.defined() ? m_classWeights.index_select(0, labels).sum().item<double>() : double(batch->count);
    const at::Tensor loss = at::cross_entropy_loss(
        logits, labels, m_classWeights, single ? at::Reduction::Mean : at::Reduction::Sum, -100, m_spec.labelSmoothing);
    const double value = loss.item<double>();
    const double sum = single ? value * weights : value;
    m_running.add(scoreLogits(logits, *batch, weights > 0 ? sum / weights : 0));
    m_group.images += batch->count;
    m_group.lossSum += sum;
    m_group.weightSum += weights;
    if (std::isfinite(m_group.lossSum))
        loss.backward();
}

Result<TrainingRun::Outcome> TrainingRun::finishStep(StepFigures &figures)
{
    const double start = seconds();
    figures.learningRate = learningRate(m_step, m_stepsPerEpoch, m_spec);
    figures.loss = m_group.lossSum / m_group.weightSum;
    if (std::isfinite(figures.loss)) {
        if (m_spec.accumulationSteps > 1)
            m_optimizer->scaleGradients(1 / m_group.weightSum);
        if (m_spec.gradientClipNorm > 0)
            m_optimizer->clipGradientNorm(m_spec.gradientClipNorm);
        m_optimizer->step(figures.learningRate);
    }
    figures.step = ++m_step;
    figures.images = m_group.images;
    figures.waitSeconds = m_group.waitSeconds;
    figures.stepSeconds = m_group.stepSeconds + seconds() - start;
    m_report.step(figures);
    if (figures.iteration % m_spec.printFrequency == 0)
        reportLoader(figures);
    ++figures.iteration;
    m_group = {};
    const Outcome outcome = judgeStep(figures.loss);
    return outcome == Outcome::Continue && isTimeUp() ? Outcome::Time : outcome;
}

void TrainingRun::reportLoader(const StepFigures &figures)
{
    const LoaderStatistics now = m_trainingLoader->statistics();
    LoaderFigures loader;
    loader.step = figures.step;
    loader.epoch = figures.epoch + double(figures.batch) / double(m_trainingLoader->batchesPerEpoch());
    loader.batches = m_batchesTrained - std::exchange(m_batchesReported, m_batchesTrained);
    loader.decodeSeconds = now.decodeSeconds - m_loaderReported.decodeSeconds;
    loader.transformSeconds = now.transformSeconds - m_loaderReported.transformSeconds;
    loader.megabytes = double(now.bytesRead - m_loaderReported.bytesRead) / 1e6;
    loader.seconds = seconds() - std::exchange(m_loaderReportedAt, seconds());
    m_loaderReported = now;
    m_report.loader(loader);
}

TrainingRun::Outcome TrainingRun::judgeStep(double loss)
{
    if (std::isfinite(loss))
        return Outcome::Continue;
    if (m_notANumberStep == 0)
        m_notANumberStep = m_step;
    if (m_spec.onNan == QLatin1String("stop"))
        return Outcome::NotANumber;
    if (!std::exchange(m_warnedNotANumber, true))
        m_report.warning(QStringLiteral("The loss of step %1 is not a number; such steps change nothing.").arg(m_step));
    return Outcome::Continue;
}

bool TrainingRun::isTimeUp() const
{
    return m_spec.stopAfterMinutes > 0 && seconds() >= 60 * m_spec.stopAfterMinutes;
}

Result<std::optional<Score>> TrainingRun::validate(int epoch)
{
    m_validationLoader->startEpoch(std::uint32_t(epoch));
    const auto total = std::int64_t(m_data.validation->size());
    // A first validation is finished even when a person asks to stop and keep: there is nothing else.
    const auto poll = [&](const Score &sofar) {
        m_report.validating(sofar.images, total);
        return !m_context.isCanceled() && (!m_kept || !m_context.isStopRequested());
    };
    TW_ASSIGN(score, evaluate(*m_network, *m_validationLoader, *m_device, &m_context.stopToken(), poll));
    reportSkipped(*m_validationLoader);
    if (!score && m_context.isCanceled())
        return canceled();
    return score;
}

Result<std::optional<Score>> TrainingRun::evaluateTrainingSet(int epoch)
{
    m_trainingEvaluationLoader->startEpoch(std::uint32_t(epoch));
    const auto total = std::int64_t(m_data.training->size());
    const auto poll = [&](const Score &sofar) {
        m_report.validating(sofar.images, total);
        return !m_context.isCanceled() && !m_context.isStopRequested();
    };
    TW_ASSIGN(score, evaluate(*m_network, *m_trainingEvaluationLoader, *m_device, &m_context.stopToken(), poll));
    reportSkipped(*m_trainingEvaluationLoader);
    if (!score && m_context.isCanceled())
        return canceled();
    return score;
}

Result<TrainingRun::Outcome> TrainingRun::finishEpoch(int epoch, double startSeconds, bool isPart)
{
    TW_ASSIGN(validation, validate(epoch));
    if (!validation)
        return Outcome::User;
    m_epochsDone = isPart ? epoch - 1 : epoch;
    const Outcome outcome = judge(epoch, *validation);
    EpochFigures figures;
    if (m_spec.evaluateTrainingSet == QLatin1String("each_epoch")) {
        TW_ASSIGN(score, evaluateTrainingSet(epoch));
        if (score)
            figures.trainingSetTop1 = score->top1();
        if (score && m_kept && m_kept->epoch == epoch)
            m_trainingSetTop1 = score->top1();
    }
    figures.epoch = epoch;
    figures.step = m_step;
    figures.training = m_running;
    figures.validation = *validation;
    figures.seconds = seconds() - startSeconds;
    figures.bestValTop1 = std::max(0.0, m_bestTop1);
    m_report.epoch(figures);
    return outcome == Outcome::Continue && !isPart && epoch < m_spec.epochs && isTimeUp() ? Outcome::Time : outcome;
}

TrainingRun::Outcome TrainingRun::judge(int epoch, const Score &validation)
{
    const double loss = validation.loss(), top1 = validation.top1();
    if (!std::isfinite(loss)) {
        if (m_notANumberStep == 0)
            m_notANumberStep = m_step;
        if (m_spec.onNan == QLatin1String("stop"))
            return Outcome::NotANumber;
    } else {
        const bool better = m_spec.keep == QLatin1String("last")
                            || (m_spec.keep == QLatin1String("best_loss") ? loss < m_keptLoss : top1 > m_bestTop1);
        m_bestTop1 = std::max(m_bestTop1, top1);
        if (better || !m_kept)
            keep(epoch, validation);
    }
    m_patience.epoch(loss);
    return m_patience.isOver() && epoch < m_spec.epochs ? Outcome::Patience : Outcome::Continue;
}

} // namespace tw
