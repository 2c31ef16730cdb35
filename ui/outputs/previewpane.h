// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/outputs/preview.h"

#include <QFutureWatcher>
#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QPushButton;
class QStackedWidget;
class QTableView;
class QToolButton;
class QTreeWidget;

namespace tw {

/// Shows one file or folder; it is read by a worker.
class PreviewPane : public QWidget
{
    Q_OBJECT
public:
    explicit PreviewPane(QWidget *parent = nullptr);

    /// Empty: nothing chosen.
    void show(const fs::path &path);
    const fs::path &path() const { return m_path; }
    bool isReading() const { return m_reader.isRunning(); }
    /// What is shown; set when the worker is done.
    const Preview &preview() const { return m_preview; }

Q_SIGNALS:
    void shown();
    void exportRequested(const QByteArray &folder);

private:
    QWidget *makeHeader();
    QWidget *makeCard();
    void take();
    void present();
    void presentFacts();

    fs::path m_path;
    Preview m_preview;
    QFutureWatcher<Preview> m_reader;
    QLabel *m_title = nullptr, *m_note = nullptr, *m_picture = nullptr, *m_message = nullptr;
    QToolButton *m_copyPath = nullptr, *m_openFolder = nullptr;
    QStackedWidget *m_pages = nullptr;
    QPlainTextEdit *m_text = nullptr;
    QTreeWidget *m_tree = nullptr;
    QTableView *m_table = nullptr;
    QWidget *m_card = nullptr, *m_facts = nullptr;
    QLabel *m_classes = nullptr, *m_cardTitle = nullptr;
    QPushButton *m_export = nullptr;
};

} // namespace tw
