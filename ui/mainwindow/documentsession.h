// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/canvas/pipelineeditor.h"
#include "ui/mainwindow/journal.h"

#include <QObject>

class QWidget;

namespace tw {

/// The open file: new, open, save, save as, recent files, the question before unsaved work is
/// lost, and the journal.
class DocumentSession : public QObject
{
    Q_OBJECT
public:
    DocumentSession(PipelineEditor &editor, const fs::path &journalFolder, QWidget *window);

    QString file() const { return m_file; }
    bool isModified() const;
    /// "fashion-mnist" or the pipeline's name, for the title.
    QString displayName() const;
    static QStringList recentFiles();

    void newPipeline();
    /// Asks for a file when `file` is empty. False when nothing was opened.
    bool open(const QString &file = {});
    /// The embedded sample, as unsaved new work that needs no saving until it is edited.
    void openSample();
    /// The pipeline in `file` without a tie to that file.
    void openDraft(const fs::path &file);
    bool save();
    bool saveAs();
    /// Save / Discard / Cancel where there is unsaved work; false: stay.
    bool mayDiscard();
    /// After the window has decided to close.
    void finish() { m_journal.clear(); }
    Journal &journal() { return m_journal; }
    /// Asks first where there is unsaved work.
    void restore(const Journal::Found &found);

Q_SIGNALS:
    void fileChanged();
    void modifiedChanged(bool modified);
    void opened(const QStringList &notes);
    /// `file` is the one that was to be read or written.
    void failed(const QString &file, const tw::Error &error);

private:
    void setFile(const QString &file);
    bool saveTo(const QString &file);
    void show(const Pipeline &pipeline, const QString &file, const QStringList &notes);

    PipelineEditor &m_editor;
    QWidget *m_window;
    Journal m_journal;
    QString m_file;
    bool m_restored = false;
};

} // namespace tw
