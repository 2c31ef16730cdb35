// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/metricstoolbar.h"

#include <QActionGroup>
#include <QButtonGroup>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QSettings>
#include <QSlider>
#include <QToolButton>

namespace tw {

namespace {
const QString axisKey = QStringLiteral("metrics/axis");
const QString logarithmKey = QStringLiteral("metrics/logarithm");
const QString smoothingKey = QStringLiteral("metrics/smoothing");
const QString plotsKey = QStringLiteral("metrics/plots");
const QString guardKey = QStringLiteral("export/guardFormulas");
} // namespace

MetricsToolBar::MetricsToolBar(const QList<PlotKind> &kinds, QWidget *parent) : QWidget(parent)
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(2, 0, 2, 0);
    layout->setSpacing(4);
    addAxisButtons();
    m_logarithm = addButton(tr("Log scale"), tr("Logarithmic scale for loss and learning rate"));
    m_logarithm->setCheckable(true);
    m_logarithm->setChecked(QSettings().value(logarithmKey).toBool());
    connect(m_logarithm, &QToolButton::toggled, this, [this](bool on) {
        QSettings().setValue(logarithmKey, on);
        Q_EMIT optionsChanged();
    });
    addSmoothing();
    layout->addStretch(1);
    QToolButton *reset = addButton(tr("Reset zoom"), tr("Show everything again (double click in a plot)"));
    connect(reset, &QToolButton::clicked, this, &MetricsToolBar::resetRequested);
    addPlotsMenu(kinds);
    addExportMenu();
}

QToolButton *MetricsToolBar::addButton(const QString &text, const QString &toolTip)
{
    auto *button = new QToolButton;
    button->setText(text);
    button->setToolTip(toolTip);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::TabFocus);
    layout()->addWidget(button);
    return button;
}

void MetricsToolBar::addAxisButtons()
{
    m_axis = MetricsAxis(qBound(0, QSettings().value(axisKey).toInt(), 2));
    auto *group = new QButtonGroup(this);
    const std::pair<QString, MetricsAxis> choices[]{
        {tr("Step"), MetricsAxis::Step}, {tr("Epoch"), MetricsAxis::Epoch}, {tr("Time"), MetricsAxis::Time}};
    for (const auto &[text, axis] : choices) {
        QToolButton *button = addButton(text, tr("Horizontal axis of all plots"));
        button->setCheckable(true);
        button->setChecked(axis == m_axis);
        button->setAccessibleName(tr("Horizontal axis: %1").arg(text));
        group->addButton(button, int(axis));
    }
    connect(group, &QButtonGroup::idClicked, this, [this](int id) { setAxis(MetricsAxis(id)); });
    static_cast<QHBoxLayout *>(layout())->addSpacing(12);
}

void MetricsToolBar::setAxis(MetricsAxis axis)
{
    if (axis == m_axis)
        return;
    m_axis = axis;
    m_axisChanged = true;
    QSettings().setValue(axisKey, int(axis));
    Q_EMIT optionsChanged();
}

void MetricsToolBar::addSmoothing()
{
    auto *row = static_cast<QHBoxLayout *>(layout());
    row->addSpacing(12);
    auto *label = new QLabel(tr("Smoothing"));
    m_smoothing = new QSlider(Qt::Horizontal);
    m_smoothing->setRange(0, 99);
    m_smoothing->setValue(QSettings().value(smoothingKey, 80).toInt());
    m_smoothing->setFixedWidth(110);
    m_smoothing->setAccessibleName(tr("Smoothing"));
    m_smoothing->setToolTip(tr("Weight of the moving average over the values of each step"));
    m_smoothingValue = new QLabel;
    m_smoothingValue->setMinimumWidth(m_smoothingValue->fontMetrics().horizontalAdvance(QStringLiteral("0.00")) + 4);
    label->setBuddy(m_smoothing);
    for (QWidget *widget :
         {static_cast<QWidget *>(label), static_cast<QWidget *>(m_smoothing), static_cast<QWidget *>(m_smoothingValue)})
        row->addWidget(widget);
    const auto showValue = [this] { m_smoothingValue->setText(QLocale().toString(smoothing(), 'f', 2)); };
    showValue();
    connect(m_smoothing, &QSlider::valueChanged, this, [this, showValue](int value) {
        showValue();
        QSettings().setValue(smoothingKey, value);
        Q_EMIT optionsChanged();
    });
}

void MetricsToolBar::addPlotsMenu(const QList<PlotKind> &kinds)
{
    QToolButton *button = addButton(tr("Plots"), tr("Choose the plots to show"));
    auto *menu = new QMenu(button);
    const QVariant stored = QSettings().value(plotsKey);
    for (const PlotKind &kind : kinds) {
        QAction *action = menu->addAction(kind.title);
        action->setData(kind.id);
        action->setCheckable(true);
        action->setChecked(stored.isValid() ? stored.toStringList().contains(kind.id) : kind.shownAtFirst);
        connect(action, &QAction::toggled, this, [this] {
            QSettings().setValue(plotsKey, shownPlots());
            Q_EMIT plotsChanged();
        });
        m_plotActions << action;
    }
    button->setMenu(menu);
    button->setPopupMode(QToolButton::InstantPopup);
}

void MetricsToolBar::addExportMenu()
{
    QToolButton *button = addButton(tr("Export"), tr("Save the plots or their numbers"));
    m_exportMenu = new QMenu(button);
    const std::pair<QString, MetricsExport> choices[]{{tr("Save as PNG…"), MetricsExport::Png},
                                                      {tr("Save as SVG…"), MetricsExport::Svg},
                                                      {tr("Save as PDF…"), MetricsExport::Pdf},
                                                      {tr("Save numbers as CSV…"), MetricsExport::Csv},
                                                      {tr("Copy picture"), MetricsExport::Copy}};
    for (const auto &[text, what] : choices)
        m_exportMenu->addAction(text)->setData(int(what));
    m_exportMenu->addSeparator();
    m_guardFormulas = m_exportMenu->addAction(tr("Mark CSV cells that look like formulas"));
    m_guardFormulas->setCheckable(true);
    m_guardFormulas->setChecked(QSettings().value(guardKey).toBool());
    connect(m_guardFormulas, &QAction::toggled, this, [](bool on) { QSettings().setValue(guardKey, on); });
    button->setMenu(m_exportMenu);
    button->setPopupMode(QToolButton::InstantPopup);
    connect(m_exportMenu, &QMenu::triggered, this, [this](const QAction *action) {
        if (!m_asking && action != m_guardFormulas)
            Q_EMIT exportRequested(MetricsExport(action->data().toInt()));
    });
}

std::optional<MetricsExport> MetricsToolBar::askExport(const QPoint &globalPosition)
{
    m_asking = true;
    const QAction *chosen = m_exportMenu->exec(globalPosition);
    m_asking = false;
    if (!chosen || chosen == m_guardFormulas)
        return std::nullopt;
    return MetricsExport(chosen->data().toInt());
}

bool MetricsToolBar::isLogarithmic() const
{
    return m_logarithm->isChecked();
}

double MetricsToolBar::smoothing() const
{
    return m_smoothing->value() / 100.0;
}

QStringList MetricsToolBar::shownPlots() const
{
    QStringList ids;
    for (const QAction *action : m_plotActions) {
        if (action->isChecked())
            ids << action->data().toString();
    }
    return ids;
}

CsvFormulas MetricsToolBar::csvFormulas() const
{
    return m_guardFormulas->isChecked() ? CsvFormulas::Guard : CsvFormulas::Keep;
}

} // namespace tw
