// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/mainwindow/statusstrip.h"

#include "ui/common/words.h"

#include <QFile>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QProgressBar>
#include <QTimer>

#include <unistd.h>

namespace tw {

constexpr int memoryMs = 2000;

static qint64 residentBytes()
{
    QFile file(QStringLiteral("/proc/self/statm"));
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    return file.readAll().split(' ').value(1).toLongLong() * sysconf(_SC_PAGESIZE);
}

StatusStrip::StatusStrip(QWidget *parent) : QWidget(parent), m_progress(new QProgressBar)
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 2, 8, 2);
    layout->setSpacing(18);
    m_job = addField(tr("Running job"));
    m_progress->setRange(0, 1000);
    m_progress->setTextVisible(false);
    m_progress->setFixedSize(120, 8);
    m_progress->setAccessibleName(tr("Progress"));
    m_progress->hide();
    layout->addWidget(m_progress);
    m_epoch = addField(tr("Epoch"));
    m_rate = addField(tr("Images per second"));
    m_left = addField(tr("Time left"));
    m_memory = addField(tr("Memory of the program"));
    m_device = addField(tr("Device"));
    auto *timer = new QTimer(this);
    connect(timer, &QTimer::timeout, this, &StatusStrip::showMemory);
    timer->start(memoryMs);
    showMemory();
}

QLabel *StatusStrip::addField(const QString &name)
{
    auto *label = new QLabel;
    label->setTextFormat(Qt::PlainText);
    label->setAccessibleName(name);
    label->setToolTip(name);
    label->hide();
    layout()->addWidget(label);
    return label;
}

static void showText(QLabel *label, const QString &text)
{
    label->setText(text);
    label->setVisible(!text.isEmpty());
}

void StatusStrip::setDevice(const QString &text)
{
    showText(m_device, text);
}

void StatusStrip::showMemory()
{
    const qint64 bytes = residentBytes();
    showText(m_memory, bytes ? QLocale().formattedDataSize(bytes, 0, QLocale::DataSizeIecFormat) : QString());
}

void StatusStrip::showFigures(const RunFigures &figures)
{
    const bool active = !figures.job.isEmpty() && !isFinal(figures.state);
    const QString phase = jobStateWord(figures.state);
    showText(m_job, !active                  ? (figures.job.isEmpty() ? QString() : phase)
                    : figures.node.isEmpty() ? phase
                                             : QStringLiteral("%1 · %2").arg(phase, figures.node));
    m_progress->setVisible(active);
    if (active && figures.progress < 0)
        m_progress->setRange(0, 0);
    else
        m_progress->setRange(0, 1000);
    m_progress->setValue(qRound(figures.progress * 1000));
    showText(m_epoch,
             active && figures.epoch >= 0 ? tr("epoch %1").arg(QLocale().toString(figures.epoch, 'f', 1)) : QString());
    showText(m_rate, active && figures.imagesPerSecond >= 0
                         ? tr("%1 images/s").arg(countText(qRound64(figures.imagesPerSecond)))
                         : QString());
    const QString left = durationText(figures.secondsLeft);
    showText(m_left, active && !left.isEmpty() ? tr("%1 left").arg(left) : QString());
}

} // namespace tw
