// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/trainingrun.h"

#include <cmath>

namespace tw {

TrainingRun::TrainingRun(const TrainingSpec &spec, RunContext &context)
    : m_spec(spec), m_context(context), m_report(context, spec)
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
    return makeError(errors::NotInRangeValue,
                     QT_TRANSLATE_NOOP("Error", "The loss was no longer a number at step %1, before any "
                                                "weights could be kept; learning_rate is %2."),
                     {QString::number(m_notANumberStep), QString::number(m_spec.learningRate, 'g', 6)},
                     QT_TRANSLATE_NOOP("Error", "Use a lower learning_rate, or warmup_epochs."))
        .atParameter(QStringLiteral("learning_rate"));
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
        if (trained != Outcome::Continue)
            return trained;
        TW_ASSIGN(judged, finishEpoch(epoch, start));
        if (judged != Outcome::Continue)
            return judged;
    }
    return Outcome::Continue;
}

Result<TrainingRun::Outcome> TrainingRun::trainEpoch(int epoch)
{
    m_running = {};
    m_network->setTraining(true);
    m_trainingLoader->startEpoch(std::uint32_t(epoch));
    m_report.startEpoch(epoch, m_stepsPerEpoch);
    StepFigures figures;
    figures.epoch = epoch;
    while (true) {
        if (m_context.isStopRequested())
            return Outcome::User;
        const double before = seconds();
        TW_ASSIGN(batch, m_trainingLoader->next(&m_context.stopToken()));
        if (!batch)
            return Outcome::Continue;
        if (m_context.isCanceled())
            return canceled();
        figures.waitSeconds = seconds() - before;
        TW_ASSIGN(outcome, trainBatch(*batch, figures));
        if (outcome != Outcome::Continue)
            return outcome;
        ++figures.batch;
    }
}

Result<TrainingRun::Outcome> TrainingRun::trainBatch(const BatchPtr &batch, StepFigures figures)
{
    reportSkipped(*m_trainingLoader);
    if (batch->count == 0)
        return Outcome::Continue;
    const double start = seconds();
    figures.learningRate = polynomialLearningRate(m_step, m_stepsPerEpoch, m_spec);
    figures.loss = trainStep(batch, figures.learningRate);
    figures.step = ++m_step;
    figures.images = batch->count;
    figures.stepSeconds = seconds() - start;
    m_report.step(figures);
    if (std::isfinite(figures.loss))
        return Outcome::Continue;
    if (m_notANumberStep == 0)
        m_notANumberStep = m_step;
    if (m_spec.onNan == QLatin1String("stop"))
        return Outcome::NotANumber;
    if (!std::exchange(m_warnedNotANumber, true))
        m_report.warning(QStringLiteral("The loss of step %1 is not a number; such steps change nothing.").arg(m_step));
    return Outcome::Continue;
}

double TrainingRun::trainStep(const BatchPtr &batch, double learningRate)
{
    m_optimizer->clearGradients();
    const at::Tensor logits = m_network->forward(inputTensor(batch, *m_device));
    const at::Tensor loss = at::cross_entropy_loss(logits, labelTensor(batch, *m_device));
    const double value = loss.item<double>();
    m_running.add(scoreLogits(logits, *batch, value));
    if (std::isfinite(value)) {
        loss.backward();
        m_optimizer->step(learningRate);
    }
    return value;
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

Result<TrainingRun::Outcome> TrainingRun::finishEpoch(int epoch, double startSeconds)
{
    TW_ASSIGN(validation, validate(epoch));
    if (!validation)
        return Outcome::User;
    m_epochsDone = epoch;
    const Outcome outcome = judge(epoch, *validation);
    EpochFigures figures;
    figures.epoch = epoch;
    figures.step = m_step;
    figures.training = m_running;
    figures.validation = *validation;
    figures.seconds = seconds() - startSeconds;
    figures.bestValTop1 = std::max(0.0, m_bestTop1);
    m_report.epoch(figures);
    return outcome;
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
    const bool gained = loss < m_bestLoss; // false for NaN
    if (gained)
        m_bestLoss = loss;
    m_epochsWithoutGain = gained ? 0 : m_epochsWithoutGain + 1;
    return m_epochsWithoutGain >= m_spec.patience && epoch < m_spec.epochs ? Outcome::Patience : Outcome::Continue;
}

} // namespace tw
