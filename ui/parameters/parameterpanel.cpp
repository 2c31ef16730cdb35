// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/parameters/parameterpanel.h"

#include "ui/common/icons.h"
#include "ui/common/theme.h"
#include "ui/common/usersettings.h"
#include "ui/common/words.h"
#include "ui/parameters/datasetreportview.h"
#include "ui/parameters/parameterrow.h"
#include "ui/parameters/pipelineparameterlist.h"
#include "ui/parameters/texteditors.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QScrollArea>
#include <QStackedWidget>
#include <QToolButton>
#include <QVBoxLayout>

namespace tw {

namespace {

constexpr char advancedKey[] = "panel/advancedOpen";

QLabel *plainLabel(const QString &text = {})
{
    auto *label = new QLabel(text);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    return label;
}

void setColor(QWidget *widget, const QColor &color)
{
    QPalette palette = widget->palette();
    palette.setColor(QPalette::WindowText, color);
    widget->setPalette(palette);
}

QFont titleFont(const QWidget *widget, double factor)
{
    QFont font = widget->font();
    font.setBold(true);
    font.setPointSizeF(font.pointSizeF() * factor);
    return font;
}

} // namespace

ParameterPanel::ParameterPanel(PipelineEditor &editor, QWidget *parent)
    : QWidget(parent), m_editor(editor), m_pages(new QStackedWidget)
{
    setObjectName(QStringLiteral("parameterPanel"));
    m_pages->addWidget(makePipelinePage());
    m_pages->addWidget(makeNodePage());
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_pages);
    const PipelineDocument *document = &editor.document();
    connect(document, &PipelineDocument::parameterChanged, this, [this](const QString &id) {
        if (m_nodes.contains(id))
            refresh();
    });
    connect(document, &PipelineDocument::nodeRenamed, this, [this](const QString &oldId, const QString &newId) {
        if (const auto place = m_nodes.indexOf(oldId); place >= 0)
            m_nodes[place] = newId;
        refresh();
    });
    connect(document, &PipelineDocument::nodeRemoved, this, [this](const QString &id) {
        QStringList rest = m_nodes;
        if (rest.removeAll(id))
            setNodes(rest);
    });
    connect(document, &PipelineDocument::wasReset, this, [this] { setNodes({}); });
    connect(document, &PipelineDocument::changed, this, &ParameterPanel::refreshPipelinePage);
    connect(document, &PipelineDocument::pipelineParametersChanged, this, [this] { refresh(); });
    connect(document, &PipelineDocument::faultsChanged, this, &ParameterPanel::refreshFaults);
    connect(&Theme::instance(), &Theme::changed, this, [this] { refresh(); });
    setNodes({});
}

QWidget *ParameterPanel::makePipelinePage()
{
    auto *page = new QWidget;
    auto *layout = new QVBoxLayout(page);
    layout->setContentsMargins(12, 12, 12, 12);
    layout->setSpacing(6);
    auto *title = plainLabel(tr("Pipeline"));
    title->setFont(titleFont(title, 1.15));
    m_name = new QLineEdit;
    m_name->setObjectName(QStringLiteral("pipelineName"));
    m_name->setAccessibleName(tr("Name of the pipeline"));
    m_name->setPlaceholderText(tr("Name"));
    m_counts = plainLabel();
    m_problemsTitle = plainLabel();
    m_problemsTitle->setFont(titleFont(m_problemsTitle, 1));
    m_problems = new QListWidget;
    m_problems->setObjectName(QStringLiteral("problems"));
    m_problems->setAccessibleName(tr("Problems"));
    m_problems->setWordWrap(true);
    m_problems->setFrameShape(QFrame::NoFrame);
    layout->addWidget(title);
    layout->addWidget(m_name);
    m_parametersTitle = plainLabel(tr("Asked for at every run"));
    m_parametersTitle->setFont(titleFont(m_parametersTitle, 1));
    m_pipelineParameters = new PipelineParameterList(m_editor);
    layout->addWidget(m_counts);
    layout->addSpacing(10);
    layout->addWidget(m_parametersTitle);
    layout->addWidget(m_pipelineParameters);
    layout->addWidget(m_problemsTitle);
    layout->addWidget(m_problems, 1);
    m_hint = plainLabel(tr("Select a node to see its parameters. Several nodes of one kind are edited together."));
    layout->addSpacing(6);
    layout->addWidget(m_hint);
    layout->addStretch();
    connect(m_pipelineParameters, &PipelineParameterList::targetActivated, this, &ParameterPanel::parameterActivated);
    connect(m_name, &QLineEdit::editingFinished, this, [this] { m_editor.setName(m_name->text().trimmed()); });
    connect(m_problems, &QListWidget::itemActivated, this, [this](const QListWidgetItem *item) {
        const QList<Error> faults = m_editor.document().faults() + m_machineFaults;
        const int index = item->data(Qt::UserRole).toInt();
        if (index < faults.size())
            Q_EMIT problemActivated(faults[index]);
    });
    connect(m_problems, &QListWidget::itemClicked, m_problems, &QListWidget::itemActivated);
    return page;
}

QWidget *ParameterPanel::makeNodePage()
{
    auto *page = new QWidget;
    auto *layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto *head = new QWidget;
    auto *headLayout = new QVBoxLayout(head);
    headLayout->setContentsMargins(12, 12, 12, 8);
    headLayout->setSpacing(5);
    auto *titleRow = new QHBoxLayout;
    m_chip = new QLabel;
    m_title = plainLabel();
    m_title->setFont(titleFont(m_title, 1.15));
    titleRow->addWidget(m_chip);
    titleRow->addWidget(m_title, 1);
    m_description = plainLabel();
    m_summary = plainLabel();
    m_summary->setObjectName(QStringLiteral("summary"));
    m_summary->hide();
    m_id = new QLineEdit;
    m_id->setObjectName(QStringLiteral("nodeId"));
    m_id->setAccessibleName(tr("Id of the node"));
    m_idFault = plainLabel();
    m_idFault->setObjectName(QStringLiteral("fault.nodeId"));
    m_idFault->hide();
    headLayout->addLayout(titleRow);
    headLayout->addWidget(m_description);
    headLayout->addWidget(m_summary);
    auto *idRow = new QHBoxLayout;
    auto *idLabel = new QLabel(tr("Id"));
    idLabel->setBuddy(m_id);
    idRow->addWidget(idLabel);
    idRow->addWidget(m_id, 1);
    headLayout->addLayout(idRow);
    headLayout->addWidget(m_idFault);
    m_scroll = new QScrollArea;
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    layout->addWidget(head);
    layout->addWidget(m_scroll, 1);
    connect(m_id, &QLineEdit::textEdited, this, [this] { m_idFault->hide(); });
    connect(m_id, &QLineEdit::editingFinished, this, &ParameterPanel::submitId);
    return page;
}

void ParameterPanel::submitId()
{
    if (m_nodes.size() != 1)
        return;
    const Result<void> renamed = m_editor.renameNode(m_nodes.first(), m_id->text().trimmed());
    markInvalid(m_id, !renamed.ok());
    m_idFault->setVisible(!renamed.ok());
    if (!renamed) {
        setColor(m_idFault, themeColors().bad);
        m_idFault->setText(errorTooltip(renamed.error()));
    }
}

void ParameterPanel::setNodes(const QStringList &ids)
{
    QStringList known;
    QString component;
    bool mixed = false;
    for (const QString &id : ids) {
        const PipelineNode *node = m_editor.document().node(id);
        if (!node)
            continue;
        mixed = mixed || (!component.isEmpty() && component != node->component);
        component = node->component;
        known.append(id);
    }
    const bool rebuild = mixed || known != m_nodes || component != m_component;
    m_nodes = mixed ? QStringList() : known;
    m_component = mixed ? QString() : component;
    if (rebuild)
        rebuildRows();
    m_pages->setCurrentIndex(m_nodes.isEmpty() ? 0 : 1);
    refreshPipelinePage();
    refresh();
}

void ParameterPanel::rebuildRows()
{
    m_rows.clear();
    m_advancedButton = nullptr;
    m_advanced = nullptr;
    m_advancedBuilt = false;
    auto *body = new QWidget;
    auto *layout = new QVBoxLayout(body);
    layout->setContentsMargins(12, 4, 6, 12);
    layout->setSpacing(7);
    const ComponentType *type = m_nodes.isEmpty() ? nullptr : m_editor.document().componentOf(m_nodes.first());
    if (type) {
        addRows(layout, false);
        const QList<ParameterSpec> &specs = type->schema.specs();
        if (std::any_of(specs.begin(), specs.end(), [](const ParameterSpec &spec) { return spec.advanced; })) {
            m_advancedButton = new QToolButton;
            m_advancedButton->setObjectName(QStringLiteral("advancedButton"));
            m_advancedButton->setText(tr("Advanced"));
            m_advancedButton->setCheckable(true);
            m_advancedButton->setAutoRaise(true);
            m_advancedButton->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
            m_advancedButton->setFocusPolicy(Qt::StrongFocus);
            m_advanced = new QWidget;
            layout->addSpacing(4);
            layout->addWidget(m_advancedButton);
            layout->addWidget(m_advanced);
            connect(m_advancedButton, &QToolButton::clicked, this, &ParameterPanel::setAdvancedOpen);
            setAdvancedOpen(userSettings().value(QLatin1String(advancedKey), false).toBool());
        }
        if (specs.isEmpty())
            layout->addWidget(plainLabel(tr("This component has no parameters.")));
    }
    m_report = new DatasetReportView;
    layout->addWidget(m_report);
    layout->addStretch();
    m_scroll->setWidget(body);
}

void ParameterPanel::addRows(QVBoxLayout *layout, bool advanced)
{
    const ComponentType *type = m_editor.document().componentOf(m_nodes.first());
    for (const ParameterSpec &spec : type->schema.specs()) {
        if (spec.advanced != advanced)
            continue;
        auto *row = new ParameterRow(spec, this);
        m_rows.insert(spec.id, row);
        layout->addWidget(row);
        connectRow(row);
    }
}

void ParameterPanel::connectRow(ParameterRow *row)
{
    const QString id = row->spec().id;
    connect(row, &ParameterRow::edited, this, [this, id](const QVariant &value, bool startsGesture) {
        if (startsGesture)
            m_gesture = m_editor.newGesture();
        m_editor.setParameter(m_nodes, id, value, m_gesture);
    });
    connect(row, &ParameterRow::resetRequested, this, [this, id] { m_editor.resetParameter(m_nodes, id); });
    connect(row, &ParameterRow::askAtRunRequested, this, [this, id](bool ask) {
        if (ask)
            m_editor.addPipelineParameter(m_nodes, id);
        else
            m_editor.unbindPipelineParameter(m_nodes, id);
    });
    connect(row, &ParameterRow::copyAsSettingRequested, this, [this, row] { copyAsSettings(row->spec()); });
}

void ParameterPanel::copyAsSettings(const ParameterSpec &spec) const
{
    QStringList settings;
    for (const QString &node : m_nodes)
        settings.append(
            settingText(node + u'.' + spec.id, spec, m_editor.document().effectiveValues(node).value(spec.id)));
    QGuiApplication::clipboard()->setText(settings.join(u' '));
}

void ParameterPanel::setAdvancedOpen(bool open)
{
    // Dozens of rows: made when they are wanted.
    if (open && !m_advancedBuilt) {
        m_advancedBuilt = true;
        auto *layout = new QVBoxLayout(m_advanced);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(7);
        addRows(layout, true);
        refresh();
    }
    m_advancedButton->setChecked(open);
    m_advancedButton->setIcon(themedIcon(open ? QStringLiteral("chevron-down") : QStringLiteral("chevron-right")));
    m_advanced->setVisible(open);
    userSettings().setValue(QLatin1String(advancedKey), open);
}

void ParameterPanel::refresh()
{
    if (m_nodes.isEmpty())
        return;
    const ComponentType *type = m_editor.document().componentOf(m_nodes.first());
    const bool single = m_nodes.size() == 1;
    m_title->setText(!type ? m_component : componentWord(type->displayName));
    m_chip->setPixmap(QPixmap());
    if (type) {
        QPixmap chip(QSize(10, 22) * devicePixelRatioF());
        chip.setDevicePixelRatio(devicePixelRatioF());
        chip.fill(categoryColor(type->category));
        m_chip->setPixmap(chip.copy(0, 0, qRound(4 * devicePixelRatioF()), chip.height()));
    }
    m_description->setText(
        single ? (type ? componentWord(type->description) : tr("Unknown component; it is kept as it is."))
               : tr("Nodes selected: %1").arg(m_nodes.size()));
    setColor(m_description, themeColors().mutedText);
    refreshSummary();
    m_id->setVisible(single);
    if (m_id->text() != m_nodes.first() && !m_id->hasFocus())
        m_id->setText(m_nodes.first());
    if (!single || m_id->text() == m_nodes.first()) {
        m_idFault->hide();
        markInvalid(m_id, false);
    }
    if (!type)
        return;
    const ParameterValues effective = m_editor.document().effectiveValues(m_nodes.first());
    for (ParameterRow *row : std::as_const(m_rows)) {
        const QString id = row->spec().id;
        QList<QVariant> values;
        bool modified = false;
        for (const QString &node : std::as_const(m_nodes)) {
            values.append(m_editor.document().effectiveValues(node).value(id));
            modified = modified || m_editor.document().node(node)->parameters.contains(id);
        }
        row->setValues(values);
        row->setModified(modified);
        const PipelineParameter *asked = m_editor.pipelineParameterOf(m_nodes.first(), id);
        row->setPipelineParameter(asked ? asked->id : QString());
        row->setVisible(type->schema.isVisible(id, effective));
    }
    refreshFaults();
}

void ParameterPanel::refreshFaults()
{
    QHash<QString, Error> byParameter;
    for (const Error &fault : m_editor.document().faults() + m_machineFaults) {
        if (m_nodes.contains(fault.nodeId) && !byParameter.contains(fault.parameter))
            byParameter.insert(fault.parameter, fault);
    }
    for (ParameterRow *row : std::as_const(m_rows)) {
        const auto found = byParameter.constFind(row->spec().id);
        row->setFault(found == byParameter.constEnd() ? std::nullopt : std::optional<Error>(*found));
    }
    refreshNotes();
    refreshPipelinePage();
}

void ParameterPanel::setNotes(const QList<Error> &notes)
{
    m_notes = notes;
    refreshNotes();
}

/// Of several nodes each has its own size to tell: then none does.
void ParameterPanel::refreshNotes()
{
    QHash<QString, QStringList> texts;
    for (const Error &note : std::as_const(m_notes))
        if (m_nodes.size() == 1 && note.nodeId == m_nodes.first())
            texts[note.parameter].append(errorText(note));
    for (ParameterRow *row : std::as_const(m_rows))
        row->setNote(texts.value(row->spec().id).join(u'\n'));
}

void ParameterPanel::setSummaries(const QMap<QString, QString> &summaries)
{
    m_summaries = summaries;
    refreshSummary();
}

/// The block itself has one line for it, which cuts a long one.
void ParameterPanel::refreshSummary()
{
    const QString text = m_nodes.size() == 1 ? m_summaries.value(m_nodes.first()) : QString();
    m_summary->setText(text);
    m_summary->setVisible(!text.isEmpty());
}

void ParameterPanel::setMachineFaults(const QList<Error> &faults)
{
    m_machineFaults = faults;
    refreshFaults();
}

void ParameterPanel::setReportFiles(const QList<fs::path> &files)
{
    if (m_report) // made with the first node's rows
        m_report->setFiles(files);
}

void ParameterPanel::refreshPipelinePage()
{
    if (m_pages->currentIndex() != 0 || m_pages->count() < 2)
        return;
    const Pipeline &pipeline = m_editor.pipeline();
    if (!m_name->hasFocus()) {
        m_name->setText(pipeline.name);
        m_name->setCursorPosition(0); // a long one shows its beginning
    }
    m_counts->setText(tr("Nodes: %1 · connections: %2").arg(pipeline.nodes.size()).arg(pipeline.connections.size()));
    setColor(m_counts, themeColors().mutedText);
    setColor(m_hint, themeColors().mutedText);
    m_parametersTitle->setVisible(!pipeline.parameters.isEmpty());
    m_pipelineParameters->refresh();
    const QList<Error> faults = m_editor.document().faults() + m_machineFaults;
    m_problemsTitle->setText(faults.isEmpty() ? tr("No problems: ready to run")
                                              : tr("Problems: %1").arg(faults.size()));
    setColor(m_problemsTitle, faults.isEmpty() ? themeColors().good : themeColors().bad);
    m_problems->clear();
    m_problems->setVisible(!faults.isEmpty());
    for (int i = 0; i < faults.size(); ++i) {
        const QString where = faults[i].nodeId.isEmpty() ? QString() : faults[i].nodeId + QStringLiteral(": ");
        auto *item = new QListWidgetItem(where + errorText(faults[i]), m_problems);
        item->setData(Qt::UserRole, i);
        item->setToolTip(plainTooltip(errorTooltip(faults[i])));
    }
}

std::optional<Error> ParameterPanel::refusal() const
{
    for (const ParameterRow *row : m_rows) {
        if (row->refusal() && !row->isHidden())
            return Error(*row->refusal()).atNode(m_nodes.first()).atParameter(row->spec().id);
    }
    return std::nullopt;
}

void ParameterPanel::focusParameter(const QString &parameter)
{
    const ComponentType *type = m_nodes.isEmpty() ? nullptr : m_editor.document().componentOf(m_nodes.first());
    const ParameterSpec *spec = type ? type->schema.find(parameter) : nullptr;
    if (!spec)
        return focusFirst();
    if (spec->advanced && m_advanced && m_advanced->isHidden())
        setAdvancedOpen(true);
    ParameterRow *row = m_rows.value(parameter);
    m_scroll->ensureWidgetVisible(row);
    row->editor()->field()->setFocus(Qt::OtherFocusReason);
}

void ParameterPanel::focusFirst()
{
    const ComponentType *type = m_nodes.isEmpty() ? nullptr : m_editor.document().componentOf(m_nodes.first());
    if (!type)
        return;
    for (const ParameterSpec &spec : type->schema.specs()) {
        if (!spec.advanced) {
            m_rows.value(spec.id)->editor()->field()->setFocus(Qt::OtherFocusReason);
            return;
        }
    }
    m_id->setFocus();
}

} // namespace tw
