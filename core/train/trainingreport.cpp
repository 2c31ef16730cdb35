// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/trainingreport.h"

#include "core/train/processusage.h"

#include <cmath>

namespace tw {

namespace trainingreport {

QString padded(std::int64_t value)
{
    return QStringLiteral("%1").arg(value, 3, 10, QLatin1Char('0'));
}

QString fixed(double value, int decimals)
{
    return QString::number(value, 'f', decimals);
}

QString duration(double seconds)
{
    const auto whole = std::int64_t(std::llround(seconds));
    return QStringLiteral("%1:%2:%3")
        .arg(whole / 3600, 2, 10, QLatin1Char('0'))
        .arg(whole / 60 % 60, 2, 10, QLatin1Char('0'))
        .arg(whole % 60, 2, 10, QLatin1Char('0'));
}

} // namespace trainingreport

using namespace trainingreport;

TrainingReport::TrainingReport(RunContext &context, const TrainingSpec &spec) : m_context(context), m_spec(spec) {}

double TrainingReport::seconds() const
{
    return std::chrono::duration<double>(Clock::now() - m_start).count();
}

void TrainingReport::header(const QStringList &lines)
{
    for (const QString &text : lines)
        line(text);
}

void TrainingReport::line(const QString &text)
{
    m_context.driverLog(0, text);
}

void TrainingReport::warning(const QString &text)
{
    m_context.log(LogLevel::Warning, text);
    m_context.driverLog(0, QStringLiteral("Warning: ") + text);
}

void TrainingReport::metric(const QString &series, std::int64_t step, double epoch, double value)
{
    MetricPoint point;
    point.series = series;
    point.step = step;
    point.epoch = epoch;
    point.seconds = seconds();
    point.value = value;
    m_context.metric(point);
}

QString TrainingReport::epochText(int epoch) const
{
    return QStringLiteral("Epoch: %1/%2").arg(padded(epoch), padded(m_spec.epochs));
}

void TrainingReport::startEpoch(int epoch, std::int64_t batches)
{
    m_epoch = epoch;
    m_batches = batches;
    m_batchesDone = 0;
    m_running = {};
    m_secondsAtEpoch = seconds();
    m_cpuAtEpoch = processCpuSeconds();
}

void TrainingReport::step(const StepFigures &figures)
{
    m_batchesDone = figures.batch + 1;
    m_images += figures.images;
    m_trainingSeconds += figures.waitSeconds + figures.stepSeconds;
    m_running.add({figures.images, figures.loss * figures.images, 0, 0});
    const double rate = figures.images / std::max(1e-9, figures.waitSeconds + figures.stepSeconds);
    // From 1, so that the whole part is the epoch that the log names.
    const double epoch = figures.epoch + double(figures.batch) / double(m_batches);
    metric(QStringLiteral("train_loss"), figures.step, epoch, figures.loss);
    metric(QStringLiteral("learning_rate"), figures.step, epoch, figures.learningRate);
    metric(QStringLiteral("images_per_second"), figures.step, epoch, rate);
    metric(QStringLiteral("loader_wait_ms"), figures.step, epoch, figures.waitSeconds * 1e3);
    metric(QStringLiteral("step_ms"), figures.step, epoch, figures.stepSeconds * 1e3);
    const double done = (m_epoch - 1 + double(m_batchesDone) / double(m_batches)) / m_spec.epochs;
    m_context.progress(done, QStringLiteral("epoch %1/%2, batch %3/%4, %5 images/s, %6 left")
                                 .arg(figures.epoch)
                                 .arg(m_spec.epochs)
                                 .arg(figures.batch)
                                 .arg(m_batches)
                                 .arg(fixed(rate, 0), timeLeft()));
    if (figures.iteration % m_spec.printFrequency == 0)
        logStep(figures, rate);
}

void TrainingReport::loader(const LoaderFigures &figures)
{
    const double batches = double(std::max<std::int64_t>(1, figures.batches));
    metric(QStringLiteral("loader_decode_ms"), figures.step, figures.epoch, figures.decodeSeconds * 1e3 / batches);
    metric(QStringLiteral("loader_transform_ms"), figures.step, figures.epoch,
           figures.transformSeconds * 1e3 / batches);
    metric(QStringLiteral("loader_mb_per_second"), figures.step, figures.epoch,
           figures.megabytes / std::max(1e-9, figures.seconds));
}

void TrainingReport::logStep(const StepFigures &figures, double rate)
{
    line(QStringLiteral("%1 | Batch %2/%3 | Train Loss: %4 | Images/s: %5 | Learning Rate: %6 | Left: %7")
             .arg(epochText(figures.epoch), padded(figures.batch), padded(m_batches), fixed(m_running.loss(), 4),
                  fixed(rate, 1), QString::number(figures.learningRate, 'g', 6), timeLeft()));
}

void TrainingReport::validating(std::int64_t images, std::int64_t total)
{
    const double done = (m_epoch - 1 + double(m_batchesDone) / double(m_batches)) / m_spec.epochs;
    m_context.progress(
        std::min(1.0, done),
        QStringLiteral("epoch %1/%2, validated %3 of %4").arg(m_epoch).arg(m_spec.epochs).arg(images).arg(total));
}

void TrainingReport::epoch(const EpochFigures &figures)
{
    const double wall = std::max(1e-9, seconds() - m_secondsAtEpoch);
    const auto emitPoint = [&](const QString &series, double value) {
        metric(series, figures.step, figures.epoch, value);
    };
    emitPoint(QStringLiteral("val_loss"), figures.validation.loss());
    emitPoint(QStringLiteral("val_top1"), figures.validation.top1());
    emitPoint(QStringLiteral("val_top5"), figures.validation.top5());
    emitPoint(QStringLiteral("train_top1"), figures.training.top1());
    emitPoint(QStringLiteral("train_top5"), figures.training.top5());
    if (figures.trainingSetTop1)
        emitPoint(QStringLiteral("train_eval_top1"), *figures.trainingSetTop1);
    emitPoint(QStringLiteral("epoch_seconds"), figures.seconds);
    emitPoint(QStringLiteral("memory_mb"), residentMegabytes());
    emitPoint(QStringLiteral("cpu_percent"), 100 * (processCpuSeconds() - m_cpuAtEpoch) / wall);
    emitPoint(QStringLiteral("best_val_top1"), figures.bestValTop1);
    line(QStringLiteral(
             "%1 | Train Loss: %2 | Val Loss: %3 | Val Top-1: %4 | Val Top-5: %5 | Train Top-1: %6 | Time: %7 s")
             .arg(epochText(figures.epoch), fixed(figures.training.loss(), 4), fixed(figures.validation.loss(), 4),
                  fixed(figures.validation.top1(), 4), fixed(figures.validation.top5(), 4),
                  fixed(figures.training.top1(), 4), fixed(figures.seconds, 1)));
}

void TrainingReport::trainingSet(std::int64_t step, int epoch, double top1)
{
    metric(QStringLiteral("train_eval_top1"), step, epoch, top1);
    line(QStringLiteral("Training pictures in evaluation mode, weights of epoch %1: Top-1: %2")
             .arg(epoch)
             .arg(top1, 0, 'f', 4));
}

double TrainingReport::imagesPerSecond() const
{
    return double(m_images) / std::max(1e-9, m_trainingSeconds);
}

QString TrainingReport::timeLeft() const
{
    const double done = m_epoch - 1 + double(m_batchesDone) / double(m_batches);
    return duration(done > 0 ? seconds() * (m_spec.epochs - done) / done : 0);
}

} // namespace tw
