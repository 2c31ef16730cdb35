// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/parameters/datasetreportview.h"

#include "ui/common/icons.h"
#include "ui/common/theme.h"
#include "ui/common/usersettings.h"
#include "ui/common/words.h"

#include <QHeaderView>
#include <QToolButton>
#include <QTreeWidget>
#include <QTreeWidgetItemIterator>
#include <QVBoxLayout>
#include <QtConcurrent/QtConcurrentRun>

namespace tw {

namespace {

constexpr char openKey[] = "panel/dataReportOpen";
constexpr int warningRole = Qt::UserRole;
constexpr int mostRows = 30;

QTreeWidgetItem *itemOf(const ReportRow &row)
{
    auto *item = new QTreeWidgetItem({row.name, row.value});
    item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
    item->setToolTip(0, plainTooltip(row.name));
    item->setToolTip(1, plainTooltip(row.value));
    item->setData(0, warningRole, row.isWarning);
    for (const ReportRow &child : row.children)
        item->addChild(itemOf(child));
    return item;
}

} // namespace

DatasetReportView::DatasetReportView(QWidget *parent)
    : QWidget(parent), m_button(new QToolButton), m_tree(new QTreeWidget)
{
    m_button->setObjectName(QStringLiteral("dataReportButton"));
    m_button->setText(tr("Data of the last run"));
    m_button->setCheckable(true);
    m_button->setAutoRaise(true);
    m_button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_button->setFocusPolicy(Qt::StrongFocus);
    m_tree->setObjectName(QStringLiteral("dataReport"));
    m_tree->setAccessibleName(tr("Data of the last run"));
    m_tree->setColumnCount(2);
    m_tree->setHeaderHidden(true);
    m_tree->setRootIsDecorated(true);
    m_tree->setUniformRowHeights(true);
    m_tree->setIndentation(16);
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setTextElideMode(Qt::ElideMiddle);
    m_tree->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_tree->setTabKeyNavigation(false);
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_tree->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    m_tree->header()->setMaximumSectionSize(200);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 6, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(m_button);
    layout->addWidget(m_tree);
    hide();
    connect(m_button, &QToolButton::clicked, this, &DatasetReportView::setOpen);
    connect(m_tree, &QTreeWidget::itemExpanded, this, &DatasetReportView::fitHeight);
    connect(m_tree, &QTreeWidget::itemCollapsed, this, &DatasetReportView::fitHeight);
    connect(&Theme::instance(), &Theme::changed, this, &DatasetReportView::paintWarnings);
    connect(&m_reader, &QFutureWatcherBase::finished, this, [this] {
        if (m_reader.future().resultCount() > 0) // none: the panel has nothing to report on any more
            show(m_reader.result());
    });
    setOpen(userSettings().value(QLatin1String(openKey), true).toBool());
}

DatasetReportView::~DatasetReportView()
{
    m_reader.waitForFinished();
}

void DatasetReportView::setFiles(const QList<fs::path> &files)
{
    if (files.isEmpty()) {
        m_reader.setFuture({});
        show(std::nullopt);
    } else {
        m_reader.setFuture(QtConcurrent::run(&DatasetReportRows::read, files));
    }
}

void DatasetReportView::show(const std::optional<QList<ReportRow>> &rows)
{
    m_tree->clear();
    setVisible(rows.has_value());
    if (!rows)
        return;
    for (const ReportRow &row : *rows)
        m_tree->addTopLevelItem(itemOf(row));
    for (QTreeWidgetItemIterator it(m_tree); *it; ++it) {
        (*it)->setFirstColumnSpanned((*it)->text(1).isEmpty());
        (*it)->setSizeHint(0, QSize(0, m_tree->fontMetrics().height() + 6));
    }
    paintWarnings();
    fitHeight();
}

void DatasetReportView::paintWarnings()
{
    for (QTreeWidgetItemIterator it(m_tree); *it; ++it) {
        const bool isWarning = (*it)->data(0, warningRole).toBool();
        const bool isChild = (*it)->parent() != nullptr;
        const ThemeColors &colors = themeColors();
        (*it)->setForeground(0, isWarning ? colors.warning : isChild ? colors.mutedText : colors.text);
        (*it)->setForeground(1, isWarning ? colors.warning : colors.text);
    }
}

/// As high as its rows, up to a limit: the panel scrolls as a whole.
void DatasetReportView::fitHeight()
{
    int rows = 0;
    for (int i = 0; i < m_tree->topLevelItemCount(); ++i) {
        const QTreeWidgetItem *item = m_tree->topLevelItem(i);
        rows += 1 + (item->isExpanded() ? item->childCount() : 0);
    }
    const int height = std::max(m_tree->sizeHintForRow(0), m_tree->fontMetrics().height() + 2);
    m_tree->setFixedHeight(std::min(rows, mostRows) * height + 4);
}

void DatasetReportView::setOpen(bool open)
{
    m_button->setChecked(open);
    m_button->setIcon(themedIcon(open ? QStringLiteral("chevron-down") : QStringLiteral("chevron-right")));
    m_tree->setVisible(open);
    userSettings().setValue(QLatin1String(openKey), open);
}

} // namespace tw
