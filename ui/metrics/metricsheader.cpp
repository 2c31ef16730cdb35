// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/metricsheader.h"

#include "ui/metrics/numberformat.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>

#include <cmath>

namespace tw {

namespace {
enum TileIndex { BestTop1, Loss, Speed, Epoch, Elapsed };

QLabel *plainLabel(const QFont &font)
{
    auto *label = new QLabel;
    label->setTextFormat(Qt::PlainText);
    label->setFont(font);
    return label;
}

void setColor(QLabel *label, const QColor &color)
{
    QPalette palette = label->palette();
    palette.setColor(QPalette::WindowText, color);
    label->setPalette(palette);
}

QString orDash(const std::optional<double> &value, NumberStyle style)
{
    return value ? formatValue(*value, style) : QStringLiteral("–");
}
} // namespace

MetricsHeader::MetricsHeader(QWidget *parent) : QWidget(parent)
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(16, 8, 16, 8);
    layout->setSpacing(24);
    m_tiles = {addTile(tr("Best top-1")), addTile(tr("Training loss")), addTile(tr("Images per second")),
               addTile(tr("Epoch")), addTile(tr("Training time"))};
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    show({}, {});
}

MetricsHeader::Tile MetricsHeader::addTile(const QString &caption)
{
    Tile tile{plainLabel(plotFont(-1)), plainLabel(plotFont(7, true)), plainLabel(plotFont(-1))};
    tile.caption->setText(caption);
    auto *column = new QVBoxLayout;
    column->setSpacing(0);
    for (QLabel *label : {tile.caption, tile.value, tile.note})
        column->addWidget(label);
    tile.value->setAccessibleName(caption);
    static_cast<QHBoxLayout *>(layout())->addLayout(column, 1);
    return tile;
}

void MetricsHeader::Tile::set(const QString &valueText, const QString &noteText) const
{
    value->setText(valueText);
    value->setAccessibleDescription(valueText + QLatin1Char(' ') + noteText);
    note->setText(noteText);
}

QString MetricsHeader::stoppingNote(const MetricsSummary &summary)
{
    const bool lastEpoch = summary.epoch && summary.epochs && *summary.epoch + 1e-9 >= *summary.epochs;
    if (!summary.epochsUntilStop || lastEpoch)
        return {};
    return *summary.epochsUntilStop > 0 ? tr("early stop in %n epoch(s)", nullptr, *summary.epochsUntilStop)
                                        : tr("early stop: patience used up");
}

void MetricsHeader::show(const MetricsSummary &summary, std::optional<double> bestEpoch)
{
    m_tiles[BestTop1].set(orDash(summary.bestTop1, NumberStyle::Ratio),
                          bestEpoch ? tr("validation, epoch %1").arg(formatValue(*bestEpoch, NumberStyle::Count))
                                    : QString());
    m_tiles[Loss].set(orDash(summary.trainLoss, NumberStyle::Plain),
                      summary.valLoss ? tr("validation %1").arg(formatValue(*summary.valLoss, NumberStyle::Plain))
                                      : QString());
    m_tiles[Speed].set(orDash(summary.imagesPerSecond, NumberStyle::Rate),
                       summary.imagesPerSecond ? tr("mean of the last steps") : QString());
    QString epoch = QStringLiteral("–");
    if (summary.epoch)
        epoch = QString::number(qint64(std::clamp(std::floor(*summary.epoch + 1e-9), 0.0, 1e15)));
    if (summary.epoch && summary.epochs)
        epoch += QStringLiteral(" / %1").arg(*summary.epochs);
    m_tiles[Epoch].set(epoch, stoppingNote(summary));
    m_tiles[Epoch].note->setToolTip(
        tr("Training stops early when the validation loss does not fall for that many epochs."));
    m_tiles[Elapsed].set(summary.seconds ? formatDuration(*summary.seconds) : QStringLiteral("–"), QString());
}

void MetricsHeader::applyTheme(const PlotTheme &theme)
{
    m_theme = theme;
    for (const Tile &tile : m_tiles) {
        setColor(tile.caption, theme.muted);
        setColor(tile.value, theme.text);
        setColor(tile.note, theme.muted);
    }
    update();
}

void MetricsHeader::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(m_theme.border);
    painter.setBrush(m_theme.card);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
}

} // namespace tw
