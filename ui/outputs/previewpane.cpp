// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/outputs/previewpane.h"

#include "ui/common/plaintext.h"
#include "ui/outputs/jsontree.h"
#include "ui/outputs/tablemodel.h"

#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QFontDatabase>
#include <QFormLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>
#include <QTreeWidget>
#include <QUrl>
#include <QVBoxLayout>
#include <QtConcurrent>

namespace tw {

namespace {
enum Page { MessagePage, TextPage, TreePage, PicturePage, TablePage, CardPage };
constexpr qsizetype classesShown = 60;

QLabel *plainLabel(bool wraps = true)
{
    auto *label = new QLabel;
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(wraps);
    return label;
}

QFont larger(double points, bool bold)
{
    QFont font = QApplication::font();
    font.setPointSizeF(font.pointSizeF() + points);
    font.setBold(bold);
    return font;
}
} // namespace

PreviewPane::PreviewPane(QWidget *parent) : QWidget(parent)
{
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeHeader());
    layout->addWidget(m_note = plainLabel());
    m_note->setContentsMargins(12, 4, 12, 6);
    m_note->setForegroundRole(QPalette::PlaceholderText);
    m_pages = new QStackedWidget;
    m_message = plainLabel();
    m_message->setAlignment(Qt::AlignCenter);
    m_text = new QPlainTextEdit;
    m_text->setReadOnly(true);
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_text->setAccessibleName(tr("Text of the file"));
    m_tree = new QTreeWidget;
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setAccessibleName(tr("JSON of the file"));
    prepareJsonTree(m_tree);
    auto *scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setAlignment(Qt::AlignCenter);
    scroll->setWidget(m_picture = new QLabel);
    m_table = new QTableView;
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setAlternatingRowColors(true);
    m_table->setAccessibleName(tr("Table of the file"));
    const QList<QWidget *> pages{m_message, m_text, m_tree, scroll, m_table, makeCard()};
    for (QWidget *page : pages)
        m_pages->addWidget(page);
    layout->addWidget(m_pages, 1);
    connect(&m_reader, &QFutureWatcherBase::finished, this, &PreviewPane::take);
    show({});
}

QWidget *PreviewPane::makeHeader()
{
    auto *header = new QWidget;
    auto *row = new QHBoxLayout(header);
    row->setContentsMargins(12, 4, 6, 4);
    m_title = plainLabel(false);
    m_title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    row->addWidget(m_title, 1);
    m_copyPath = new QToolButton;
    m_copyPath->setText(tr("Copy path"));
    connect(m_copyPath, &QToolButton::clicked, this,
            [this] { QApplication::clipboard()->setText(displayPath(m_path)); });
    m_openFolder = new QToolButton;
    m_openFolder->setText(tr("Open folder"));
    m_openFolder->setToolTip(tr("Open the folder in the file manager"));
    connect(m_openFolder, &QToolButton::clicked, this, [this] {
        std::error_code error;
        const fs::path folder = fs::is_directory(m_path, error) ? m_path : m_path.parent_path();
        QDesktopServices::openUrl(QUrl::fromLocalFile(displayPath(folder)));
    });
    for (QToolButton *button : {m_copyPath, m_openFolder}) {
        button->setAutoRaise(true);
        row->addWidget(button);
    }
    return header;
}

QWidget *PreviewPane::makeCard()
{
    auto *scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    m_card = new QWidget;
    auto *column = new QVBoxLayout(m_card);
    column->setContentsMargins(20, 16, 20, 16);
    column->setSpacing(12);
    column->addWidget(m_cardTitle = plainLabel());
    m_cardTitle->setFont(larger(4, true));
    column->addWidget(m_facts = new QWidget);
    column->addWidget(m_classes = plainLabel());
    m_classes->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_export = new QPushButton(tr("Export model directory…"));
    m_export->setToolTip(tr("Copy the whole model directory to a folder of your choice"));
    connect(m_export, &QPushButton::clicked, this, [this] { Q_EMIT exportRequested(bytesFromPath(m_path)); });
    column->addWidget(m_export, 0, Qt::AlignLeft);
    column->addStretch(1);
    scroll->setWidget(m_card);
    return scroll;
}

void PreviewPane::show(const fs::path &path)
{
    m_path = path;
    const bool chosen = !path.empty();
    m_title->setText(chosen ? literalText(displayPath(path.filename())) : QString());
    m_title->setToolTip(literalToolTip(displayPath(path)));
    m_copyPath->setVisible(chosen);
    m_openFolder->setVisible(chosen);
    m_note->hide();
    m_message->setText(chosen ? tr("Reading…") : tr("Choose a file or a folder on the left to see what is in it."));
    if (!chosen) {
        m_reader.setFuture({});
        m_preview = {};
        m_pages->setCurrentIndex(MessagePage);
        return;
    }
    m_reader.setFuture(QtConcurrent::run(readPreview, path));
}

void PreviewPane::take()
{
    if (m_reader.future().resultCount() == 0)
        return;
    m_preview = m_reader.result();
    present();
    Q_EMIT shown();
}

void PreviewPane::present()
{
    m_note->setText(m_preview.note);
    m_note->setVisible(!m_preview.note.isEmpty());
    switch (m_preview.kind) {
    case Preview::Kind::Text:
        m_text->setPlainText(m_preview.text);
        m_pages->setCurrentIndex(TextPage);
        break;
    case Preview::Kind::Json:
        showJson(m_tree, m_preview.json);
        m_pages->setCurrentIndex(TreePage);
        break;
    case Preview::Kind::Picture:
        m_picture->setPixmap(QPixmap::fromImage(m_preview.picture));
        m_picture->adjustSize();
        m_picture->setAccessibleName(tr("Picture %1").arg(m_title->text()));
        m_note->setText(m_preview.facts.value(0).second + QStringLiteral("  ·  ") + m_preview.facts.value(1).second);
        m_note->show();
        m_pages->setCurrentIndex(PicturePage);
        break;
    case Preview::Kind::Table: {
        QAbstractItemModel *old = m_table->model();
        m_table->setModel(new RowsModel(m_preview.rows, m_table));
        delete old;
        m_table->horizontalHeader()->setDefaultSectionSize(130);
        m_pages->setCurrentIndex(TablePage);
        break;
    }
    case Preview::Kind::Model:
    case Preview::Kind::Facts:
    case Preview::Kind::Nothing:
        presentFacts();
    }
}

void PreviewPane::presentFacts()
{
    const bool model = m_preview.kind == Preview::Kind::Model;
    auto *facts = new QWidget;
    auto *form = new QFormLayout(facts);
    form->setContentsMargins(0, 0, 0, 0);
    form->setHorizontalSpacing(24);
    form->setFormAlignment(Qt::AlignLeft | Qt::AlignTop);
    for (const auto &[name, value] : std::as_const(m_preview.facts)) {
        QLabel *label = plainLabel(false);
        label->setText(literalText(name));
        label->setForegroundRole(QPalette::PlaceholderText);
        QLabel *shownValue = plainLabel();
        shownValue->setText(shortText(value, 300));
        shownValue->setTextInteractionFlags(Qt::TextSelectableByMouse);
        form->addRow(label, shownValue);
    }
    delete m_card->layout()->replaceWidget(m_facts, facts);
    delete std::exchange(m_facts, facts);
    m_cardTitle->setText(model ? tr("Model directory") : m_title->text());
    QStringList names;
    for (const QString &name : m_preview.classes.mid(0, classesShown))
        names << shortText(name, 40);
    QString classes = names.join(QStringLiteral("  ·  "));
    if (m_preview.classes.size() > classesShown)
        classes += QStringLiteral("  ·  ") + tr("%n more", nullptr, int(m_preview.classes.size() - classesShown));
    m_classes->setText(classes);
    m_classes->setVisible(!classes.isEmpty());
    m_export->setVisible(model && m_preview.note.isEmpty());
    m_pages->setCurrentIndex(CardPage);
}

} // namespace tw
