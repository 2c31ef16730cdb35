// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/mainwindow/rundialog.h"

#include "ui/common/theme.h"
#include "ui/common/usersettings.h"
#include "ui/common/words.h"
#include "ui/parameters/parametereditor.h"
#include "ui/parameters/pipelineparameterlist.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace tw {

static QString remembered(const char *key)
{
    return userSettings().value(QStringLiteral("run/") + QLatin1String(key)).toString();
}

RunDialog::RunDialog(const QString &pipelineName, QWidget *parent)
    : QDialog(parent), m_form(new QFormLayout), m_note(new QLabel), m_fault(new QLabel), m_run(nullptr),
      m_experiment(new QLineEdit), m_name(new QLineEdit), m_description(new QLineEdit), m_tags(new QLineEdit),
      m_askAgain(new QCheckBox(tr("Ask at every run")))
{
    setObjectName(QStringLiteral("runDialog"));
    setWindowTitle(tr("Run"));
    const QString experiment = remembered("experiment");
    m_experiment->setText(experiment.isEmpty() ? pipelineName : experiment);
    m_name->setPlaceholderText(pipelineName);
    m_description->setText(remembered("description"));
    m_tags->setText(remembered("tags"));
    m_tags->setPlaceholderText(tr("stage=trial, owner=me"));
    m_askAgain->setChecked(userSettings().value(QStringLiteral("run/askAgain"), false).toBool());
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    m_run = buttons->button(QDialogButtonBox::Ok);
    m_run->setText(tr("Run"));
    m_run->setDefault(true);
    m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_form->setHorizontalSpacing(14);
    m_form->setVerticalSpacing(9);
    m_form->addRow(tr("Experiment"), m_experiment);
    m_form->addRow(tr("Name"), m_name);
    m_form->addRow(tr("Description"), m_description);
    m_form->addRow(tr("Tags"), m_tags);
    m_note->setText(tr("All of this may stay as it is. It is remembered for the next run."));
    m_note->setWordWrap(true);
    m_fault->setObjectName(QStringLiteral("parameterFault"));
    m_fault->setTextFormat(Qt::PlainText);
    m_fault->setWordWrap(true);
    m_fault->hide();
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(18, 16, 18, 14);
    layout->setSpacing(12);
    layout->addWidget(m_note);
    layout->addLayout(m_form);
    layout->addWidget(m_fault);
    layout->addWidget(m_askAgain);
    layout->addWidget(buttons);
    setMinimumWidth(440);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

void RunDialog::askFor(const PipelineDocument &document)
{
    if (document.pipeline().parameters.isEmpty())
        return;
    m_note->setText(tr("The pipeline's parameters hold for this run only; the rest is remembered."));
    m_askAgain->hide(); // it is asked at every run anyway
    for (const PipelineParameter &parameter : document.pipeline().parameters)
        addParameter(document, parameter);
}

void RunDialog::addParameter(const PipelineDocument &document, const PipelineParameter &parameter)
{
    const ParameterSpec *spec = specOf(document, parameter);
    if (!spec)
        return;
    auto *editor = makeParameterEditor(*spec, this);
    editor->setObjectName(QStringLiteral("pipelineParameter.") + parameter.id);
    const QVariant value = document.effectiveValues(parameter.targets.first().node).value(spec->id);
    editor->setValue(value);
    m_values.insert(parameter.id, value);
    const QString label = parameter.label.isEmpty() ? parameter.id : parameterWord(parameter.label);
    auto *caption = new QLabel(label);
    caption->setTextFormat(Qt::PlainText);
    caption->setBuddy(editor->field());
    const QString help = QStringLiteral("%1 (%2)").arg(parameterWord(spec->help), parameter.id);
    caption->setToolTip(plainTooltip(help));
    m_form->addRow(caption, editor);
    connect(editor, &ParameterEditor::edited, this, [this, editor, id = parameter.id](const QVariant &edited) {
        m_values.insert(id, edited);
        editor->setInvalidMark(false);
        showRefusal(id, {});
    });
    connect(editor, &ParameterEditor::refused, this, [this, editor, id = parameter.id](const Error &reason) {
        editor->setInvalidMark(true);
        showRefusal(id, errorTooltip(reason));
    });
}

void RunDialog::showRefusal(const QString &parameter, const QString &text)
{
    if (text.isEmpty())
        m_refusals.remove(parameter);
    else
        m_refusals.insert(parameter, text);
    QPalette palette = m_fault->palette();
    palette.setColor(QPalette::WindowText, themeColors().bad);
    m_fault->setPalette(palette);
    m_fault->setText(m_refusals.isEmpty() ? QString() : m_refusals.first());
    m_fault->setVisible(!m_refusals.isEmpty());
    m_run->setEnabled(m_refusals.isEmpty());
}

bool RunDialog::isWanted()
{
    return !userSettings().contains(QStringLiteral("run/experiment"))
           || userSettings().value(QStringLiteral("run/askAgain"), false).toBool();
}

QMap<QString, QString> RunDialog::tagsFromText(const QString &text)
{
    QMap<QString, QString> tags;
    for (const QString &part : text.split(u',', Qt::SkipEmptyParts)) {
        const QString key = part.section(u'=', 0, 0).trimmed();
        if (!key.isEmpty())
            tags.insert(key, part.section(u'=', 1).trimmed());
    }
    return tags;
}

void RunDialog::store(JobRequest &request) const
{
    QSettings settings = userSettings(); // one object: written together
    settings.setValue(QStringLiteral("run/experiment"), m_experiment->text().trimmed());
    settings.setValue(QStringLiteral("run/description"), m_description->text().trimmed());
    settings.setValue(QStringLiteral("run/tags"), m_tags->text().trimmed());
    settings.setValue(QStringLiteral("run/askAgain"), m_askAgain->isChecked());
    settings.sync();
    fillRemembered(request, m_name->placeholderText());
    if (!m_name->text().trimmed().isEmpty())
        request.name = m_name->text().trimmed();
    for (const PipelineParameter &parameter : std::as_const(request.pipeline.parameters)) {
        for (const PortAddress &target : parameter.targets) {
            if (PipelineNode *node = request.pipeline.find(target.node); node && m_values.contains(parameter.id))
                node->parameters.set(target.port, m_values.value(parameter.id));
        }
    }
}

void RunDialog::fillRemembered(JobRequest &request, const QString &pipelineName)
{
    request.name = pipelineName;
    request.experiment = remembered("experiment");
    if (request.experiment.isEmpty())
        request.experiment = pipelineName;
    request.description = remembered("description");
    request.tags = tagsFromText(remembered("tags"));
}

} // namespace tw
