// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/pipeline/pipelinedocument.h"

#include <QFuture>
#include <QLockFile>
#include <QObject>
#include <QTimer>

#include <memory>
#include <optional>

namespace tw {

/// Unsaved work of this session in <folder>/<session>.pipeline.json, rewritten on a worker thread
/// shortly after every edit, removed when the work is saved or given up. A file whose session no
/// longer lives is work that a crash left.
class Journal : public QObject
{
    Q_OBJECT
public:
    Journal(PipelineDocument &document, const fs::path &folder, QObject *parent = nullptr);
    ~Journal() override;

    /// The file the work belongs to; empty: not saved yet. Kept in the journal.
    void setFile(const QString &file) { m_file = file; }
    /// Nothing is unsaved: removes this session's journal.
    void clear();
    /// Writes now and waits (tests, before a risky step).
    void flush();

    struct Found
    {
        fs::path journal;
        QString file;
        Pipeline pipeline;
        qint64 writtenMs = 0;
    };
    /// The newest work that a crash left, if any.
    std::optional<Found> findLeft() const;
    static void discard(const Found &found);

private:
    void write();
    fs::path pathWith(const char *suffix) const;

    PipelineDocument &m_document;
    fs::path m_folder;
    std::string m_session;
    QString m_file;
    QTimer m_timer;
    QFuture<void> m_writing;
    std::unique_ptr<QLockFile> m_lock;
};

} // namespace tw
