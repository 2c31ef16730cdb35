// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/workspace.h"
#include "core/pipeline/pipelinefile.h"
#include "tests/ui/uitest.h"
#include "ui/canvas/canvaspage.h"
#include "ui/common/actionregistry.h"
#include "ui/common/filterpopup.h"
#include "ui/common/theme.h"
#include "ui/common/usersettings.h"
#include "ui/mainwindow/mainwindow.h"
#include "ui/mainwindow/rundialog.h"
#include "ui/mainwindow/shortcutsdialog.h"
#include "ui/parameters/parameterpanel.h"

#include <QAbstractButton>
#include <QApplication>
#include <QDockWidget>
#include <QFileDialog>
#include <QLineEdit>
#include <QMessageBox>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolTip>
#include <QTreeWidget>

using namespace tw;
using namespace tw::test;

class TestMainWindow : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QApplication::setAttribute(Qt::AA_DontUseNativeDialogs); }
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        setUserSettingsFile(m_folder->filePath(QStringLiteral("settings.ini")));
        Theme::instance().setChoice(ThemeChoice::Light);
        auto opened = Workspace::open(pathFromText(m_folder->filePath(QStringLiteral("workspace"))));
        TW_VERIFY(opened);
        m_workspace = std::move(*opened);
        openWindow();
    }
    void cleanup()
    {
        m_window.reset();
        m_workspace.reset();
    }

    void savesAndOpens()
    {
        m_window->editor().insertFragment(uiPipeline(), {0, 0}, QStringLiteral("test"));
        QVERIFY(m_window->isWindowModified());
        const QString file = m_folder->filePath(QStringLiteral("mine.pipeline.json"));
        answerFileDialog(file);
        QTest::keyClick(m_window.get(), Qt::Key_S, Qt::ControlModifier);
        QVERIFY(QFile::exists(file));
        QVERIFY(!m_window->isWindowModified());
        QVERIFY(m_window->windowTitle().startsWith(QStringLiteral("mine")));
        const Pipeline saved = m_window->editor().pipeline();
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        QTest::keyClick(m_window.get(), Qt::Key_N, Qt::ControlModifier);
        QVERIFY(m_window->editor().pipeline().nodes.isEmpty());
        QVERIFY(m_window->openFile(file));
        QVERIFY(m_window->editor().pipeline() == saved);
        QCOMPARE(DocumentSession::recentFiles().first(), file);
        // Saving again asks nothing.
        m_window->editor().addNode(QStringLiteral("test-model"), {});
        QTest::keyClick(m_window.get(), Qt::Key_S, Qt::ControlModifier);
        QVERIFY(!m_window->isWindowModified());
        QCOMPARE(loadPipelineFile(pathFromText(file), m_registry)->pipeline.nodes.size(), 6);
    }

    void unsavedWorkIsGuarded_data()
    {
        QTest::addColumn<int>("button");
        QTest::addColumn<bool>("stays");
        QTest::newRow("cancel") << int(QMessageBox::Cancel) << true;
        QTest::newRow("discard") << int(QMessageBox::Discard) << false;
    }
    void unsavedWorkIsGuarded()
    {
        QFETCH(int, button);
        QFETCH(bool, stays);
        m_window->editor().addNode(QStringLiteral("test-model"), {});
        QTimer::singleShot(0, this, [button] {
            auto *box = qobject_cast<QMessageBox *>(QApplication::activeModalWidget());
            QVERIFY(box);
            box->button(QMessageBox::StandardButton(button))->click();
        });
        QTest::keyClick(m_window.get(), Qt::Key_N, Qt::ControlModifier);
        QCOMPARE(m_window->editor().pipeline().nodes.isEmpty(), !stays);
        m_window->editor().undoStack().setClean();
    }

    void aBrokenFileIsToldAndNothingIsLost()
    {
        m_window->editor().document().reset(uiPipeline());
        const QString file = m_folder->filePath(QStringLiteral("broken.pipeline.json"));
        QFile broken(file);
        QVERIFY(broken.open(QIODevice::WriteOnly));
        broken.write("{\"format\": 3");
        broken.close();
        QVERIFY(!m_window->openFile(file));
        QVERIFY2(m_window->canvas().bar().message().contains(QStringLiteral("broken.pipeline.json")),
                 qPrintable(m_window->canvas().bar().message()));
        QVERIFY(m_window->editor().pipeline() == uiPipeline());
    }

    void theSampleOpensAtTheFirstStart()
    {
        m_window->start({});
        QVERIFY(m_window->editor().pipeline().nodes.size() >= 5);
        QVERIFY(!m_window->isWindowModified());
        for (const PipelineNode &node : m_window->editor().pipeline().nodes)
            QVERIFY(m_window->canvas().scene().nodeItem(node.id));
    }

    void runWithFaultsSelectsTheNodeAndSaysWhy()
    {
        Pipeline pipeline = uiPipeline();
        pipeline.nodes[0].parameters = {};
        m_window->editor().document().reset(pipeline);
        QTest::keyClick(m_window.get(), Qt::Key_Return, Qt::ControlModifier);
        QCOMPARE(m_window->canvas().scene().selectedNodes(), QStringList{QStringLiteral("source1")});
        QVERIFY(!m_window->canvas().bar().message().isEmpty());
        QVERIFY(!m_window->findChild<RunDialog *>());
        QVERIFY(m_window->jobs().isIdle());
    }

    void runAsksOnceForTheBasics()
    {
        m_window->editor().document().reset(uiPipeline());
        QTest::keyClick(m_window.get(), Qt::Key_Return, Qt::ControlModifier);
        auto *dialog = m_window->findChild<RunDialog *>();
        QVERIFY(dialog && dialog->isVisible());
        QVERIFY(m_window->jobs().isIdle());
        dialog->reject();
        JobRequest request;
        RunDialog(QStringLiteral("p"), nullptr).store(request);
        QVERIFY(!RunDialog::isWanted());
        QCOMPARE(request.name, QStringLiteral("p"));
        QCOMPARE(
            RunDialog::tagsFromText(QStringLiteral("a=1, b , =x")),
            (QMap<QString, QString>{{QStringLiteral("a"), QStringLiteral("1")}, {QStringLiteral("b"), QString()}}));
    }

    void themesSwitch()
    {
        const QColor light = m_window->palette().color(QPalette::Window);
        m_window->actionRegistry().action(QStringLiteral("theme.dark"))->trigger();
        QApplication::processEvents();
        QVERIFY(Theme::instance().isDark());
        QVERIFY(m_window->palette().color(QPalette::Window).lightness() < 90);
        QCOMPARE(userSettings().value(QStringLiteral("window/theme")).toString(), QStringLiteral("dark"));
        m_window->actionRegistry().action(QStringLiteral("theme.light"))->trigger();
        QApplication::processEvents();
        QCOMPARE(m_window->palette().color(QPalette::Window), light);
        // Texts stay readable in both.
        for (ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
            Theme::instance().setChoice(choice);
            const ThemeColors &colors = themeColors();
            QVERIFY(contrast(colors.text, colors.node) > 7);
            QVERIFY(contrast(colors.mutedText, colors.node) > 4.5);
            QVERIFY(contrast(colors.bad, colors.nodeFooter) > 4.5);
            QVERIFY(contrast(colors.good, colors.nodeFooter) > 4.5);
        }
    }

    void toolTipsCanBeRead_data()
    {
        QTest::addColumn<int>("theme");
        QTest::newRow("light") << int(ThemeChoice::Light);
        QTest::newRow("dark") << int(ThemeChoice::Dark);
    }
    void toolTipsCanBeRead()
    {
        QFETCH(int, theme);
        Theme::instance().setChoice(ThemeChoice(theme));
        QToolTip::showText(m_window->mapToGlobal(QPoint(200, 200)), QStringLiteral("HHHHHHHHHH"), m_window.get());
        const QWidgetList widgets = QApplication::topLevelWidgets();
        const auto tip = std::find_if(widgets.begin(), widgets.end(),
                                      [](QWidget *one) { return one->inherits("QTipLabel") && one->isVisible(); });
        QVERIFY(tip != widgets.end());
        const QImage picture = (*tip)->grab().toImage();
        QColor lightest = Qt::black, darkest = Qt::white;
        for (int y = 3; y < picture.height() - 3; ++y) {
            for (int x = 3; x < picture.width() - 3; ++x) {
                const QColor color = picture.pixelColor(x, y);
                lightest = color.lightness() > lightest.lightness() ? color : lightest;
                darkest = color.lightness() < darkest.lightness() ? color : darkest;
            }
        }
        QVERIFY2(contrast(lightest, darkest) > 7, qPrintable(lightest.name() + darkest.name()));
        QToolTip::hideText();
        Theme::instance().setChoice(ThemeChoice::Light);
    }

    void everyActionIsInTheCommandListAndRuns()
    {
        QTest::keyClick(m_window.get(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
        auto *list = m_window->findChild<FilterPopup *>(QStringLiteral("commandList"));
        QVERIFY(list);
        auto *search = list->findChild<QLineEdit *>();
        QTest::keyClicks(search, QStringLiteral("metrics"));
        QTest::keyClick(search, Qt::Key_Return);
        QCOMPARE(m_window->findChild<QTabWidget *>(QStringLiteral("centreTabs"))->currentIndex(), 1);
        QSet<QKeySequence> keys;
        for (const QAction *action : m_window->actionRegistry().all()) {
            QVERIFY2(!plainActionText(action).isEmpty(), qPrintable(action->objectName()));
            for (const QKeySequence &key : action->shortcuts()) {
                QVERIFY2(!keys.contains(key), qPrintable(key.toString()));
                keys.insert(key);
            }
        }
        QTest::keyClick(m_window.get(), Qt::Key_F1);
        auto *help = m_window->findChild<ShortcutsDialog *>();
        QVERIFY(help);
        QVERIFY(!help->findChild<QTreeWidget *>()
                     ->findItems(QStringLiteral("Select all"), Qt::MatchExactly | Qt::MatchRecursive)
                     .isEmpty());
        help->close();
    }

    void selectionDrivesThePanel()
    {
        m_window->editor().document().reset(uiPipeline());
        m_window->canvas().scene().selectNodes({QStringLiteral("train1")});
        QCOMPARE(m_window->parameters().nodes(), QStringList{QStringLiteral("train1")});
        m_window->canvas().scene().clearSelection();
        QVERIFY(m_window->parameters().nodes().isEmpty());
    }

    void docksAreRemembered()
    {
        m_window->findChild<QDockWidget *>(QStringLiteral("jobsDock"))->hide();
        m_window->close();
        openWindow();
        QVERIFY(!m_window->findChild<QDockWidget *>(QStringLiteral("jobsDock"))->isVisible());
        QVERIFY(m_window->findChild<QDockWidget *>(QStringLiteral("paletteDock"))->isVisible());
    }

    void workOfACrashIsOffered()
    {
        const fs::path folder = m_workspace->folder() / "autosave";
        {
            PipelineDocument document(m_registry);
            Journal crashed(document, folder);
            document.reset(uiPipeline());
            crashed.flush();
        }
        m_window->start({});
        QVERIFY(!m_window->canvas().bar().message().isEmpty());
        for (QAbstractButton *button : m_window->canvas().bar().findChildren<QAbstractButton *>()) {
            if (button->text() == QStringLiteral("Restore"))
                button->click();
        }
        QVERIFY(m_window->editor().pipeline() == uiPipeline());
        QVERIFY(m_window->isWindowModified());
        QVERIFY(!m_window->session().journal().findLeft());
    }

    void everyWidgetThatTakesKeysHasAName()
    {
        m_window->editor().document().reset(uiPipeline());
        m_window->canvas().scene().selectNodes({QStringLiteral("train1")});
        for (const QWidget *widget : m_window->findChildren<QWidget *>()) {
            const bool takesText =
                qobject_cast<const QLineEdit *>(widget) || qobject_cast<const QAbstractItemView *>(widget);
            const bool inside = widget->objectName().startsWith(QStringLiteral("qt_"));
            if (takesText && widget->isVisible() && !inside)
                QVERIFY2(!widget->accessibleName().isEmpty(),
                         qPrintable(widget->objectName() + widget->metaObject()->className()));
        }
    }

private:
    void openWindow()
    {
        m_window = std::make_unique<MainWindow>(WindowServices{&m_registry, m_workspace.get(), {}});
        m_window->resize(1300, 860);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        m_window->activateWindow();
        m_window->canvas().view().setFocus();
    }
    static void answerFileDialog(const QString &file)
    {
        QTimer::singleShot(0, qApp, [file] {
            auto *dialog = qobject_cast<QFileDialog *>(QApplication::activeModalWidget());
            QVERIFY(dialog);
            auto *line = dialog->findChild<QLineEdit *>();
            line->setText(file);
            QTest::keyClick(line, Qt::Key_Return);
        });
    }
    /// WCAG contrast ratio.
    static double contrast(const QColor &a, const QColor &b)
    {
        const auto luminance = [](const QColor &color) {
            const auto linear = [](double c) { return c <= .03928 ? c / 12.92 : std::pow((c + .055) / 1.055, 2.4); };
            return .2126 * linear(color.redF()) + .7152 * linear(color.greenF()) + .0722 * linear(color.blueF());
        };
        const double x = luminance(a), y = luminance(b);
        return (std::max(x, y) + .05) / (std::min(x, y) + .05);
    }

    ComponentRegistry m_registry = uiRegistry();
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Workspace> m_workspace;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(TestMainWindow)
#include "tst_mainwindow.moc"
