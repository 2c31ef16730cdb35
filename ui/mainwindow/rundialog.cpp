// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/mainwindow/rundialog.h"

#include "ui/common/usersettings.h"

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
    : QDialog(parent), m_experiment(new QLineEdit), m_name(new QLineEdit), m_description(new QLineEdit),
      m_tags(new QLineEdit), m_askAgain(new QCheckBox(tr("Ask at every run")))
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
    buttons->button(QDialogButtonBox::Ok)->setText(tr("Run"));
    auto *form = new QFormLayout;
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->setHorizontalSpacing(14);
    form->setVerticalSpacing(9);
    form->addRow(tr("Experiment"), m_experiment);
    form->addRow(tr("Name"), m_name);
    form->addRow(tr("Description"), m_description);
    form->addRow(tr("Tags"), m_tags);
    auto *note = new QLabel(tr("All of this may stay as it is. It is remembered for the next run."));
    note->setWordWrap(true);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(18, 16, 18, 14);
    layout->setSpacing(12);
    layout->addWidget(note);
    layout->addLayout(form);
    layout->addWidget(m_askAgain);
    layout->addWidget(buttons);
    setMinimumWidth(440);
    buttons->button(QDialogButtonBox::Ok)->setDefault(true);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
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
