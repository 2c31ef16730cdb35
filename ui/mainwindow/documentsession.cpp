// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/mainwindow/documentsession.h"

#include "core/pipeline/pipelinefile.h"
#include "ui/common/resources.h"
#include "ui/common/usersettings.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>

namespace tw {

namespace {

constexpr char recentKey[] = "files/recent";
constexpr int mostRecent = 10;
constexpr char sampleResource[] = ":/samples/fashion-mnist.pipeline.json";
constexpr char fileSuffix[] = ".pipeline.json";

QString fileFilter()
{
    return DocumentSession::tr("Pipelines (*.pipeline.json);;JSON files (*.json);;All files (*)");
}

void remember(const QString &file)
{
    QStringList files = DocumentSession::recentFiles();
    files.removeAll(file);
    files.prepend(file);
    userSettings().setValue(QLatin1String(recentKey), files.mid(0, mostRecent));
}

} // namespace

DocumentSession::DocumentSession(PipelineEditor &editor, const fs::path &journalFolder, QWidget *window)
    : QObject(window), m_editor(editor), m_window(window), m_journal(editor.document(), journalFolder)
{
    connect(&editor.undoStack(), &QUndoStack::cleanChanged, this, [this] { Q_EMIT modifiedChanged(isModified()); });
}

bool DocumentSession::isModified() const
{
    return m_restored || !m_editor.undoStack().isClean();
}

QString DocumentSession::displayName() const
{
    if (!m_file.isEmpty())
        return QFileInfo(m_file).fileName().remove(QLatin1String(fileSuffix));
    return m_editor.pipeline().name.isEmpty() ? tr("Untitled") : m_editor.pipeline().name;
}

QStringList DocumentSession::recentFiles()
{
    return userSettings().value(QLatin1String(recentKey)).toStringList();
}

void DocumentSession::setFile(const QString &file)
{
    m_file = file;
    m_journal.setFile(file);
    if (!file.isEmpty())
        remember(file);
    Q_EMIT fileChanged();
}

void DocumentSession::show(const Pipeline &pipeline, const QString &file, const QStringList &notes)
{
    m_restored = false;
    m_editor.document().reset(pipeline);
    m_editor.undoStack().clear();
    setFile(file);
    m_journal.clear();
    Q_EMIT modifiedChanged(false);
    Q_EMIT opened(notes);
}

void DocumentSession::newPipeline()
{
    if (mayDiscard())
        show({}, {}, {});
}

bool DocumentSession::open(const QString &file)
{
    if (!mayDiscard())
        return false;
    const QString chosen = file.isEmpty() ? QFileDialog::getOpenFileName(m_window, tr("Open a pipeline"),
                                                                         QFileInfo(m_file).path(), fileFilter())
                                          : QFileInfo(file).absoluteFilePath();
    if (chosen.isEmpty())
        return false;
    const Result<LoadedPipeline> loaded =
        loadPipelineFile(pathFromBytes(QFile::encodeName(chosen)), m_editor.document().registry());
    if (!loaded) {
        Q_EMIT failed(chosen, loaded.error());
        return false;
    }
    show(loaded->pipeline, chosen, loaded->notes);
    return true;
}

void DocumentSession::openSample()
{
    if (!mayDiscard())
        return;
    initResources();
    QFile resource{QLatin1String(sampleResource)};
    if (!resource.open(QIODevice::ReadOnly))
        return;
    const Result<LoadedPipeline> loaded = readPipeline(resource.readAll(), m_editor.document().registry());
    if (loaded)
        show(loaded->pipeline, {}, {});
    else
        Q_EMIT failed(tr("The sample"), loaded.error());
}

void DocumentSession::openDraft(const fs::path &file)
{
    if (!mayDiscard())
        return;
    const Result<LoadedPipeline> loaded = loadPipelineFile(file, m_editor.document().registry());
    if (loaded)
        show(loaded->pipeline, {}, loaded->notes);
    else
        Q_EMIT failed(displayPath(file), loaded.error());
}

void DocumentSession::restore(const Journal::Found &found)
{
    if (!mayDiscard())
        return;
    show(found.pipeline, found.file, {});
    m_restored = true;
    m_journal.flush();
    Journal::discard(found);
    Q_EMIT modifiedChanged(true);
}

bool DocumentSession::save()
{
    return m_file.isEmpty() ? saveAs() : saveTo(m_file);
}

bool DocumentSession::saveAs()
{
    const QString start = m_file.isEmpty() ? displayName() + QLatin1String(fileSuffix) : m_file;
    QString chosen = QFileDialog::getSaveFileName(m_window, tr("Save the pipeline"), start, fileFilter());
    if (chosen.isEmpty())
        return false;
    if (!chosen.endsWith(QStringLiteral(".json"), Qt::CaseInsensitive))
        chosen += QLatin1String(fileSuffix);
    return saveTo(QFileInfo(chosen).absoluteFilePath());
}

bool DocumentSession::saveTo(const QString &file)
{
    const Result<void> saved =
        savePipelineFile(pathFromBytes(QFile::encodeName(file)), m_editor.pipeline(), m_editor.document().registry());
    if (!saved) {
        Q_EMIT failed(file, saved.error());
        return false;
    }
    m_restored = false;
    m_editor.undoStack().setClean();
    setFile(file);
    m_journal.clear();
    Q_EMIT modifiedChanged(false);
    return true;
}

bool DocumentSession::mayDiscard()
{
    if (!isModified())
        return true;
    QMessageBox box(QMessageBox::Question, tr("Unsaved changes"), tr("Save the changes to \"%1\"?").arg(displayName()),
                    QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, m_window);
    box.setTextFormat(Qt::PlainText);
    box.setInformativeText(tr("They are lost otherwise."));
    box.setDefaultButton(QMessageBox::Save);
    switch (box.exec()) {
    case QMessageBox::Save:
        return save();
    case QMessageBox::Discard:
        return true;
    default:
        return false;
    }
}

} // namespace tw
