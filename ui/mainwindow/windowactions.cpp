// SPDX-License-Identifier: GPL-3.0-or-later
// Actions, menus and the toolbar of the main window.
#include "ui/canvas/canvaspage.h"
#include "ui/canvas/componentpalette.h"
#include "ui/common/actionregistry.h"
#include "ui/common/filterpopup.h"
#include "ui/common/icons.h"
#include "ui/common/usersettings.h"
#include "ui/mainwindow/mainwindow.h"
#include "ui/mainwindow/shortcutsdialog.h"

#include <QActionGroup>
#include <QApplication>
#include <QDockWidget>
#include <QFileInfo>
#include <QMenuBar>
#include <QMessageBox>
#include <QToolBar>
#include <QToolButton>

namespace tw {

namespace {

constexpr char themeKey[] = "window/theme";

} // namespace

void MainWindow::registerFileActions()
{
    const auto add = [this](const char *id, const QString &text, const char *icon, const QKeySequence &key, auto slot) {
        connect(m_actions->add({QLatin1String(id), text, QLatin1String(icon), {key}, {}, false}), &QAction::triggered,
                this, slot);
    };
    add("file.new", tr("&New"), "new", QKeySequence(Qt::CTRL | Qt::Key_N), [this] { m_session.newPipeline(); });
    add("file.open", tr("&Open…"), "open", QKeySequence(Qt::CTRL | Qt::Key_O), [this] { m_session.open(); });
    add("file.sample", tr("Open the sam&ple"), "", {}, [this] { openSample(); });
    add("file.save", tr("&Save"), "save", QKeySequence(Qt::CTRL | Qt::Key_S), [this] { m_session.save(); });
    add("file.saveAs", tr("Save &as…"), "", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S),
        [this] { m_session.saveAs(); });
    add("file.quit", tr("&Quit"), "", QKeySequence(Qt::CTRL | Qt::Key_Q), [this] { close(); });
}

void MainWindow::registerRunActions()
{
    const auto add = [this](const char *id, const QString &text, const char *icon, const QKeySequence &key,
                            const QString &help, auto slot) {
        connect(m_actions->add({QLatin1String(id), text, QLatin1String(icon), {key}, help, false}), &QAction::triggered,
                this, slot);
    };
    add("run.run", tr("&Run"), "run", QKeySequence(Qt::CTRL | Qt::Key_Return), tr("Run the whole pipeline"),
        [this] { run(false, {}); });
    add("run.upTo", tr("Run &up to the selection"), "run-to", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Return),
        tr("Run the selected nodes and what they need"), [this] { run(false, m_canvas->scene().selectedNodes()); });
    add("run.details", tr("Run with &details…"), "", QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_Return),
        tr("Name, experiment and tags of the run"), [this] { run(true, {}); });
    add("run.keep", tr("&Stop and keep"), "stop-keep", QKeySequence(Qt::CTRL | Qt::Key_Period),
        tr("Finish the batch and keep the best model so far"), [this] { m_jobs.stopAndKeep(); });
    add("run.cancel", tr("&Cancel"), "cancel", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Period),
        tr("Stop now and keep no output"), [this] { m_jobs.cancel(m_jobs.runningJob()); });
    add("run.export", tr("&Export model directory…"), "export", QKeySequence(Qt::CTRL | Qt::Key_E),
        tr("Copy the trained model of the job shown"), [this] { exportModel(); });
}

void MainWindow::registerViewActions()
{
    const std::pair<const char *, QString> tabs[] = {
        {"view.pipeline", tr("&Pipeline")}, {"view.metrics", tr("&Metrics")}, {"view.outputs", tr("O&utputs + logs")}};
    for (int i = 0; i < 3; ++i) {
        QAction *action = m_actions->add({QLatin1String(tabs[i].first),
                                          tabs[i].second,
                                          {},
                                          {QKeySequence(Qt::ALT | Qt::Key(Qt::Key_1 + i))},
                                          {},
                                          false});
        connect(action, &QAction::triggered, this, [this, i] { showTab(Tab(i)); });
    }
    auto *group = new QActionGroup(this);
    const std::pair<ThemeChoice, QString> themes[] = {{ThemeChoice::System, tr("Theme: &system")},
                                                      {ThemeChoice::Light, tr("Theme: &light")},
                                                      {ThemeChoice::Dark, tr("Theme: &dark")}};
    for (const auto &[choice, text] : themes) {
        QAction *action = m_actions->add({QStringLiteral("theme.") + Theme::choiceId(choice), text, {}, {}, {}, true});
        action->setActionGroup(group);
        action->setChecked(Theme::instance().choice() == choice);
        connect(action, &QAction::triggered, this, [this, theme = choice] { setThemeChoice(theme); });
    }
    connect(m_actions->add({QStringLiteral("view.palette"),
                            tr("&Components"),
                            QStringLiteral("add"),
                            {QKeySequence(Qt::CTRL | Qt::Key_K)},
                            tr("Search the components"),
                            false}),
            &QAction::triggered, this, [this] {
                findChild<QDockWidget *>(QStringLiteral("paletteDock"))->show();
                m_palette->focusSearch();
            });
}

void MainWindow::registerHelpActions()
{
    const auto add = [this](const char *id, const QString &text, const char *icon, const QKeySequence &key, auto slot) {
        connect(m_actions->add({QLatin1String(id), text, QLatin1String(icon), {key}, {}, false}), &QAction::triggered,
                this, slot);
    };
    add("help.commands", tr("&Command list…"), "commands", QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P),
        [this] { openCommandList(); });
    add("help.shortcuts", tr("&Keyboard shortcuts"), "help", QKeySequence(Qt::Key_F1), [this] { showShortcuts(); });
    m_actions->action(QStringLiteral("help.shortcuts"))
        ->setShortcuts({QKeySequence(Qt::Key_F1), QKeySequence(Qt::Key_Question)});
    add("help.about", tr("&About Trainwright"), "", {}, [this] { showAbout(); });
}

void MainWindow::buildMenus()
{
    const auto fill = [this](QMenu *menu, const QStringList &ids) {
        for (const QString &id : ids) {
            if (id.isEmpty())
                menu->addSeparator();
            else
                menu->addAction(m_actions->action(id));
        }
    };
    const auto ids = [](const char *text) { return QString::fromLatin1(text).split(u' '); };
    QMenu *file = menuBar()->addMenu(tr("&File"));
    fill(file, ids("file.new file.open file.sample"));
    QMenu *recent = file->addMenu(tr("Open &recent"));
    recent->setObjectName(QStringLiteral("recentMenu"));
    connect(recent, &QMenu::aboutToShow, this, &MainWindow::fillRecentMenu);
    fill(file, ids(" file.save file.saveAs  file.quit"));
    fill(menuBar()->addMenu(tr("&Edit")), ids("edit.undo edit.redo  edit.cut edit.copy edit.paste edit.duplicate "
                                              "edit.delete edit.selectAll  edit.find edit.layout edit.align"));
    QMenu *view = menuBar()->addMenu(tr("&View"));
    fill(view, ids("view.pipeline view.metrics view.outputs  view.zoomIn view.zoomOut view.actualSize view.fit  "
                   "view.palette"));
    for (QDockWidget *dock : findChildren<QDockWidget *>())
        view->addAction(dock->toggleViewAction());
    view->addSeparator();
    fill(view, ids("theme.system theme.light theme.dark"));
    fill(menuBar()->addMenu(tr("&Run")), ids("run.run run.upTo run.details  run.keep run.cancel  run.export"));
    fill(menuBar()->addMenu(tr("&Help")), ids("help.commands help.shortcuts  help.about"));
    connect(m_canvas, &CanvasPage::contextMenuRequested, this, [this, fill, ids](const QPoint &position) {
        QMenu menu(this);
        fill(
            &menu,
            ids("run.upTo  edit.cut edit.copy edit.paste edit.duplicate edit.delete  edit.layout edit.align view.fit"));
        menu.exec(position);
    });
}

QToolButton *MainWindow::makeRunButton()
{
    // The one obvious button: filled, so it is no plain picture of its action.
    QAction *action = m_actions->action(QStringLiteral("run.run"));
    auto *button = new QToolButton;
    button->setObjectName(QStringLiteral("runButton"));
    button->setText(plainActionText(action));
    button->setToolTip(action->toolTip());
    button->setIcon(themedIcon(QStringLiteral("run"), QPalette::HighlightedText));
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    connect(button, &QToolButton::clicked, action, &QAction::trigger);
    return button;
}

void MainWindow::buildToolBar()
{
    auto *bar = addToolBar(tr("Toolbar"));
    bar->setObjectName(QStringLiteral("toolBar"));
    bar->setMovable(false);
    bar->setIconSize(QSize(18, 18));
    const auto groups = QStringLiteral("file.new file.open file.save||edit.undo edit.redo||edit.layout "
                                       "view.fit||run.run run.keep run.cancel||run.export");
    for (const QString &part : groups.split(QStringLiteral("||"))) {
        if (!bar->actions().isEmpty())
            bar->addSeparator();
        for (const QString &id : part.split(u' ')) {
            if (id == u"run.run")
                bar->addWidget(makeRunButton());
            else
                bar->addAction(m_actions->action(id));
        }
    }
    for (const char *id : {"run.keep", "run.cancel", "run.export"}) {
        auto *button = qobject_cast<QToolButton *>(bar->widgetForAction(m_actions->action(QLatin1String(id))));
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        button->setObjectName(QStringLiteral("tool.") + QLatin1String(id));
    }
    for (QToolButton *button : bar->findChildren<QToolButton *>())
        button->setFocusPolicy(Qt::TabFocus);
}

void MainWindow::fillRecentMenu()
{
    auto *menu = findChild<QMenu *>(QStringLiteral("recentMenu"));
    menu->clear();
    for (const QString &file : DocumentSession::recentFiles()) {
        QString shown = file;
        // Whether it still exists is told when it is opened: looking may hang on a network folder.
        menu->addAction(shown.replace(u'&', QStringLiteral("&&")), this, [this, file] { openFile(file); });
    }
    if (menu->isEmpty())
        menu->addAction(tr("None yet"))->setEnabled(false);
}

void MainWindow::setThemeChoice(ThemeChoice choice)
{
    userSettings().setValue(QLatin1String(themeKey), Theme::choiceId(choice));
    Theme::instance().setChoice(choice);
}

void MainWindow::openCommandList()
{
    QPixmap nothing(18, 18); // keeps the texts on one line
    nothing.fill(Qt::transparent);
    QList<FilterEntry> entries;
    for (QAction *action : m_actions->all())
        entries.append({plainActionText(action), action->shortcut().toString(QKeySequence::NativeText),
                        action->icon().isNull() ? QIcon(nothing) : action->icon(), QVariant::fromValue(action),
                        action->isEnabled()});
    auto *popup = new FilterPopup(tr("Type a command"), entries, this);
    popup->setObjectName(QStringLiteral("commandList"));
    connect(popup, &FilterPopup::chosen, this, [](const QVariant &action) { action.value<QAction *>()->trigger(); });
    popup->openAt(mapToGlobal(QPoint(width() / 2 - popup->width() / 2, 90)));
}

void MainWindow::showShortcuts()
{
    auto *dialog = new ShortcutsDialog(*m_actions, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show();
}

void MainWindow::showAbout()
{
    auto *box = new QMessageBox(QMessageBox::NoIcon, tr("About Trainwright"),
                                QStringLiteral("Trainwright %1").arg(QStringLiteral(TRAINWRIGHT_VERSION)),
                                QMessageBox::Close, this);
    box->setIconPixmap(applicationIcon().pixmap(64, 64));
    box->setInformativeText(
        tr("A studio for training image classifiers on your own machine, with LibTorch and Qt %1.\n\n"
           "Free software under the GNU General Public License, version 3 or later.")
            .arg(QString::fromLatin1(qVersion())));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

} // namespace tw
