// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/uitest.h"
#include "ui/common/theme.h"
#include "ui/common/usersettings.h"
#include "ui/parameters/parameterpanel.h"
#include "ui/parameters/parameterrow.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QLocale>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>
#include <QTreeWidget>

#include <fstream>

using namespace tw;
using namespace tw::test;

class TestParameterPanel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        Theme::instance().setChoice(ThemeChoice::Light);
        setUserSettingsFile(m_folder.filePath(QStringLiteral("settings.ini")));
    }
    void init()
    {
        userSettings().clear();
        QLocale::setDefault(QLocale::c());
        m_document = std::make_unique<PipelineDocument>(m_registry);
        m_document->reset(uiPipeline());
        m_editor = std::make_unique<PipelineEditor>(*m_document);
        m_panel = std::make_unique<ParameterPanel>(*m_editor);
        m_panel->resize(360, 700);
        m_panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_panel.get()));
        m_panel->activateWindow();
        m_panel->setNodes({QStringLiteral("train1")});
    }
    void cleanup()
    {
        m_panel.reset();
        m_editor.reset();
        m_document.reset();
    }

    void notesStandUnderTheirField()
    {
        const Error note = makeError("", "%1 pictures need %2.", {QStringLiteral("40"), QStringLiteral("14 MB")})
                               .atParameter(QStringLiteral("epochs"));
        m_panel->setNotes({Error(note).atNode(QStringLiteral("train1")), Error(note).atNode(QStringLiteral("other"))});
        ParameterRow *row = m_panel->row(QStringLiteral("epochs"));
        QCOMPARE(row->shownNote(), QStringLiteral("40 pictures need 14 MB."));
        QVERIFY(row->shownFault().isEmpty());
        m_panel->setNodes({});
        m_panel->setNodes({QStringLiteral("train1")});
        QCOMPARE(m_panel->row(QStringLiteral("epochs"))->shownNote(), QStringLiteral("40 pictures need 14 MB."));
        m_panel->setNotes({});
        QVERIFY(m_panel->row(QStringLiteral("epochs"))->shownNote().isEmpty());
    }
    /// Of the one chosen node, whole.
    void showsTheSummary()
    {
        const auto *label = m_panel->findChild<QLabel *>(QStringLiteral("summary"));
        QVERIFY(label && !label->isVisible());
        const QString found = QStringLiteral("4.7 M parameters · 391.2 MMAC · 224 × 224 · ImageNet weights");
        m_panel->setSummaries({{QStringLiteral("train1"), found}, {QStringLiteral("other"), QStringLiteral("no")}});
        QCOMPARE(label->text(), found);
        QVERIFY(label->isVisible() && label->wordWrap());
        m_panel->setNodes({});
        m_panel->setNodes({QStringLiteral("train1")});
        QCOMPARE(label->text(), found);
        m_panel->setSummaries({});
        QVERIFY(!label->isVisible());
    }
    void showsTheDataReport()
    {
        const fs::path file = fs::path(m_folder.path().toStdString()) / "data_report.json";
        QByteArray classes, bad;
        for (int i = 0; i < 150; ++i) {
            classes += (i ? "," : "") + QByteArray("{\"name\":\"c") + QByteArray::number(i) + "\",\"count\":1200}";
            bad += (i ? "," : "") + QByteArray("{\"path\":\"a/") + QByteArray::number(i) + ".png\",\"reason\":\"cut\"}";
        }
        std::ofstream(file) << "{\"images\":1234567,\"classes\":[" << classes.toStdString() << "],\"unreadable\":["
                            << bad.toStdString()
                            << "],\"mean_rgb\":[0.5,0.25,0.125],\"std_rgb\":[0,0,0],\"leakage\":{\"exact\":12,"
                               "\"near\":3,\"images\":60},\"duplicates\":{\"groups\":0,\"surplus\":0}}";
        auto *tree = m_panel->findChild<QTreeWidget *>(QStringLiteral("dataReport"));
        QVERIFY(tree && !tree->isVisible());
        m_panel->setReportFiles({}); // the end of "nothing" comes later and has no result
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
        QVERIFY(!tree->isVisible());
        m_panel->setReportFiles({"/nowhere/data_report.json", file});
        QTRY_VERIFY(tree->isVisible());
        QHash<QString, QTreeWidgetItem *> rows;
        for (int i = 0; i < tree->topLevelItemCount(); ++i)
            rows.insert(tree->topLevelItem(i)->text(0), tree->topLevelItem(i));
        QCOMPARE(rows[QStringLiteral("Images")]->text(1), QLocale().toString(1234567));
        QCOMPARE(rows[QStringLiteral("Classes")]->childCount(), 101);
        QCOMPARE(rows[QStringLiteral("Classes")]->child(100)->text(0), QStringLiteral("and 50 more"));
        QCOMPARE(rows[QStringLiteral("Unreadable")]->text(1), QStringLiteral("150"));
        QCOMPARE(rows[QStringLiteral("Unreadable")]->child(0)->text(1), QStringLiteral("cut"));
        QCOMPARE(rows[QStringLiteral("Leakage")]->child(0)->text(1), QStringLiteral("12 of 60"));
        QCOMPARE(rows[QStringLiteral("Mean (R G B)")]->text(1), QStringLiteral("0.500  0.250  0.125"));
        QVERIFY(!tree->accessibleName().isEmpty());
        const int closed = tree->height();
        rows[QStringLiteral("Leakage")]->setExpanded(true);
        QVERIFY(tree->height() > closed);
        m_panel->setReportFiles({});
        QVERIFY(!tree->isVisible());
    }

    void oneEditorForEveryParameter()
    {
        QVERIFY(m_panel->row(QStringLiteral("epochs"))->isVisible());
        QVERIFY(!m_panel->row(QStringLiteral("sizes")));
        auto *advanced = m_panel->findChild<QToolButton *>(QStringLiteral("advancedButton"));
        QTest::mouseClick(advanced, Qt::LeftButton);
        QVERIFY(m_panel->row(QStringLiteral("sizes"))->isVisible());
        const ComponentType *type = m_registry.find(QStringLiteral("test-train"));
        for (const ParameterSpec &spec : type->schema.specs()) {
            ParameterRow *row = m_panel->row(spec.id);
            QVERIFY2(row, qPrintable(spec.id));
            QVERIFY2(!row->editor()->field()->accessibleName().isEmpty(), qPrintable(spec.id));
        }
        QTest::mouseClick(advanced, Qt::LeftButton);
        QVERIFY(!m_panel->row(QStringLiteral("sizes"))->isVisible());
    }

    void typedValuesArrive_data()
    {
        QTest::addColumn<QString>("parameter");
        QTest::addColumn<QString>("typed");
        QTest::addColumn<QVariant>("value");
        QTest::newRow("int") << "epochs"
                             << "12" << QVariant(12LL);
        QTest::newRow("float") << "rate"
                               << "0.05" << QVariant(0.05);
        QTest::newRow("exponent") << "rate"
                                  << "1e-4" << QVariant(1e-4);
        QTest::newRow("automatic") << "seed"
                                   << "" << QVariant();
        QTest::newRow("list") << "sizes"
                              << "20, 30" << QVariant(QVariantList{20LL, 30LL});
        QTest::newRow("text") << "note"
                              << "a <b> & c" << QVariant(QStringLiteral("a <b> & c"));
    }
    void typedValuesArrive()
    {
        QFETCH(QString, parameter);
        QFETCH(QString, typed);
        QFETCH(QVariant, value);
        type(parameter, typed);
        QCOMPARE(effective().value(parameter), value);
        QCOMPARE(m_panel->row(parameter)->shownFault(), QString());
        QCOMPARE(m_editor->undoStack().count(), 1); // typing is one step
        m_editor->undoStack().undo();
        QVERIFY(m_editor->pipeline() == uiPipeline());
    }

    void badInputIsToldBelowTheField_data()
    {
        QTest::addColumn<QString>("parameter");
        QTest::addColumn<QString>("typed");
        QTest::newRow("letters") << "epochs"
                                 << "many";
        QTest::newRow("below the range") << "epochs"
                                         << "0";
        QTest::newRow("empty") << "epochs"
                               << "";
        QTest::newRow("fraction") << "epochs"
                                  << "1.5";
        QTest::newRow("zero rate") << "rate"
                                   << "0";
        QTest::newRow("list") << "sizes"
                              << "3,x";
    }
    void badInputIsToldBelowTheField()
    {
        QFETCH(QString, parameter);
        QFETCH(QString, typed);
        QLineEdit *line = type(parameter, typed);
        QVERIFY(!m_panel->row(parameter)->shownFault().isEmpty());
        QVERIFY(m_panel->refusal());
        QCOMPARE(m_panel->refusal()->parameter, parameter);
        QCOMPARE(line->text(), typed);
        // An edit elsewhere does not throw the text away.
        type(QStringLiteral("momentum"), QStringLiteral("0.5"));
        QCOMPARE(line->text(), typed);
        QVERIFY(!m_panel->row(parameter)->shownFault().isEmpty());
        auto *reset = m_panel->findChild<QToolButton *>(QStringLiteral("reset.") + parameter);
        reset->click();
        QVERIFY(m_panel->row(parameter)->shownFault().isEmpty());
        QVERIFY(!m_panel->refusal());
        QCOMPARE(effective().value(parameter),
                 m_registry.find(QStringLiteral("test-train"))->schema.find(parameter)->defaultValue);
    }

    void decimalCommaWhereItIsUsual()
    {
        QLocale::setDefault(QLocale(QLocale::German));
        type(QStringLiteral("rate"), QStringLiteral("0,001"));
        QCOMPARE(effective().real("rate"), 0.001);
        type(QStringLiteral("rate"), QStringLiteral("1,5e-3"));
        QCOMPARE(effective().real("rate"), 0.0015);
        type(QStringLiteral("rate"), QStringLiteral("0.002"));
        QCOMPARE(effective().real("rate"), 0.002);
        QLocale::setDefault(QLocale::c());
        type(QStringLiteral("rate"), QStringLiteral("0,001"));
        QVERIFY(!m_panel->row(QStringLiteral("rate"))->shownFault().isEmpty());
    }

    void choicesHideAndShowRows()
    {
        auto *box = qobject_cast<QComboBox *>(field(QStringLiteral("optimizer")));
        QVERIFY(m_panel->row(QStringLiteral("momentum"))->isVisible());
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Down);
        QCOMPARE(effective().text("optimizer"), QStringLiteral("adam"));
        QVERIFY(!m_panel->row(QStringLiteral("momentum"))->isVisible());
        m_editor->undoStack().undo();
        QVERIFY(m_panel->row(QStringLiteral("momentum"))->isVisible());
        QCOMPARE(box->currentData().toString(), QStringLiteral("sgd"));
    }

    void switchesAndRanges()
    {
        m_panel->focusParameter(QStringLiteral("shuffle"));
        auto *box = qobject_cast<QCheckBox *>(field(QStringLiteral("shuffle")));
        QTest::keyClick(box, Qt::Key_Space);
        QCOMPARE(effective().boolean("shuffle"), false);
        type(QStringLiteral("scale"), QStringLiteral("0.5"));
        QCOMPARE(effective().range("scale"), std::make_pair(0.5, 1.0));
        type(QStringLiteral("scale"), QStringLiteral("2")); // low above high
        QVERIFY(!m_panel->row(QStringLiteral("scale"))->shownFault().isEmpty());
    }

    void arrowKeysStepIntegers()
    {
        QTest::keyClick(field(QStringLiteral("epochs")), Qt::Key_Up);
        QCOMPARE(effective().integer("epochs"), 6);
    }

    void modifiedMarkAndReset()
    {
        auto *reset = m_panel->findChild<QToolButton *>(QStringLiteral("reset.epochs"));
        QVERIFY(!reset->isVisible());
        type(QStringLiteral("epochs"), QStringLiteral("8"));
        QVERIFY(reset->isVisible());
        QTest::mouseClick(reset, Qt::LeftButton);
        QCOMPARE(effective().integer("epochs"), 5);
        QVERIFY(!reset->isVisible());
        QVERIFY(!m_document->node(QStringLiteral("train1"))->parameters.contains(QStringLiteral("epochs")));
    }

    void helpShowsOnFocus()
    {
        QWidget *line = field(QStringLiteral("epochs"));
        line->clearFocus();
        const auto shown = [&] {
            const QList<QLabel *> labels = m_panel->row(QStringLiteral("epochs"))->findChildren<QLabel *>();
            return std::any_of(labels.begin(), labels.end(), [](const QLabel *label) {
                return label->isVisible() && label->text().contains(QStringLiteral("Passes over the data"));
            });
        };
        QVERIFY(!shown());
        line->setFocus();
        QTRY_VERIFY(shown());
    }

    void idIsEditedAndChecked()
    {
        auto *id = m_panel->findChild<QLineEdit *>(QStringLiteral("nodeId"));
        const auto submit = [&](const char *text) {
            id->setFocus();
            id->selectAll();
            QTest::keyClicks(id, QLatin1String(text));
            QTest::keyClick(id, Qt::Key_Return);
        };
        submit("model1");
        auto *fault = m_panel->findChild<QLabel *>(QStringLiteral("fault.nodeId"));
        QVERIFY(fault->isVisible());
        QVERIFY(fault->text().contains(QStringLiteral("model1")));
        submit("final_training");
        QVERIFY(!fault->isVisible());
        QVERIFY(m_document->node(QStringLiteral("final_training")));
        QCOMPARE(m_panel->nodes(), QStringList{QStringLiteral("final_training")});
        type(QStringLiteral("epochs"), QStringLiteral("3"));
        QCOMPARE(m_document->effectiveValues(QStringLiteral("final_training")).integer("epochs"), 3);
    }

    void severalNodesAreEditedTogether()
    {
        const QString second = m_editor->addNode(QStringLiteral("test-train"), {});
        m_editor->setParameter({second}, QStringLiteral("epochs"), 9LL, m_editor->newGesture());
        m_panel->setNodes({QStringLiteral("train1"), second});
        QCOMPARE(qobject_cast<QLineEdit *>(field(QStringLiteral("epochs")))->text(), QString());
        const int steps = m_editor->undoStack().count();
        type(QStringLiteral("epochs"), QStringLiteral("4"));
        QCOMPARE(m_document->effectiveValues(second).integer("epochs"), 4);
        QCOMPARE(effective().integer("epochs"), 4);
        QCOMPARE(m_editor->undoStack().count(), steps + 1);
    }

    void problemsAreListedWithoutASelection()
    {
        m_panel->setNodes({});
        auto *problems = m_panel->findChild<QListWidget *>(QStringLiteral("problems"));
        QCOMPARE(problems->count(), 0);
        m_editor->setParameter({QStringLiteral("source1")}, QStringLiteral("path"), QVariant(), 1);
        QCOMPARE(problems->count(), 1);
        QSignalSpy activated(m_panel.get(), &ParameterPanel::problemActivated);
        QTest::mouseClick(problems->viewport(), Qt::LeftButton, {},
                          problems->visualItemRect(problems->item(0)).center());
        QVERIFY(!activated.isEmpty());
        QCOMPARE(activated[0][0].value<Error>().nodeId, QStringLiteral("source1"));
    }

    void aParameterBecomesOneOfThePipeline()
    {
        const QString epochs = QStringLiteral("epochs");
        chooseInRowMenu(epochs, QStringLiteral("askAtRun"));
        const PipelineParameter expected{epochs, QStringLiteral("Epochs"), {{QStringLiteral("train1"), epochs}}, {}};
        QCOMPARE(m_editor->pipeline().parameters.size(), 1);
        QVERIFY(m_editor->pipeline().parameters.first() == expected);
        QCOMPARE(m_panel->row(epochs)->pipelineParameter(), epochs);
        QVERIFY(m_document->faults().isEmpty());
        // Chosen together, two nodes share one, under another id.
        const QString second = m_editor->addNode(QStringLiteral("test-train"), {});
        m_panel->setNodes({second});
        chooseInRowMenu(epochs, QStringLiteral("askAtRun"));
        QCOMPARE(m_panel->row(epochs)->pipelineParameter(), second + QStringLiteral("_epochs"));
        // The list of the page without a selection: Delete no longer asks.
        m_panel->setNodes({});
        auto *list = m_panel->findChild<QListWidget *>(QStringLiteral("pipelineParameters"));
        QCOMPARE(list->count(), 2);
        QCOMPARE(list->item(0)->text(), QStringLiteral("epochs = 5"));
        QSignalSpy activated(m_panel.get(), &ParameterPanel::parameterActivated);
        list->setCurrentRow(0);
        QTest::keyClick(list, Qt::Key_Return);
        QCOMPARE(activated.size(), 1);
        QVERIFY(activated[0][0].value<PortAddress>() == expected.targets.first());
        QTest::keyClick(list, Qt::Key_Delete);
        QCOMPARE(list->count(), 1);
        // A node that goes takes its parameter along; undo brings all back.
        m_editor->remove({second}, {});
        QVERIFY(m_editor->pipeline().parameters.isEmpty());
        QVERIFY(m_document->faults().isEmpty());
        m_editor->undoStack().undo();
        m_editor->undoStack().undo();
        QCOMPARE(m_editor->pipeline().parameters.size(), 2);
        m_panel->setNodes({QStringLiteral("train1")});
        chooseInRowMenu(epochs, QStringLiteral("askAtRun"));
        QCOMPARE(m_editor->pipeline().parameters.size(), 1);
        QVERIFY(m_panel->row(epochs)->pipelineParameter().isEmpty());
    }

    void aSettingIsCopiedForTheCommandLine_data()
    {
        QTest::addColumn<QString>("node");
        QTest::addColumn<QString>("parameter");
        QTest::addColumn<QVariant>("value");
        QTest::addColumn<QString>("copied");
        QTest::newRow("number") << "train1"
                                << "epochs" << QVariant(7LL) << "--set train1.epochs=7";
        QTest::newRow("automatic") << "train1"
                                   << "seed" << QVariant() << "--set train1.seed=";
        QTest::newRow("quoted") << "source1"
                                << "path" << QVariant(QByteArray("/my data/it's"))
                                << "--set 'source1.path=/my data/it'\\''s'";
    }
    void aSettingIsCopiedForTheCommandLine()
    {
        QFETCH(QString, node);
        QFETCH(QString, parameter);
        QFETCH(QVariant, value);
        m_panel->setNodes({node});
        m_editor->setParameter({node}, parameter, value, m_editor->newGesture());
        chooseInRowMenu(parameter, QStringLiteral("copyAsSetting"));
        QTEST(QGuiApplication::clipboard()->text(), "copied");
    }

private:
    /// Opens the menu of a row with the keyboard and triggers one of its actions.
    void chooseInRowMenu(const QString &parameter, const QString &action)
    {
        m_panel->focusParameter(parameter);
        QTest::keyClick(field(parameter), Qt::Key_Return, Qt::AltModifier);
        auto *menu = m_panel->row(parameter)->findChild<QMenu *>(QStringLiteral("rowMenu"));
        QVERIFY(menu && menu->isVisible());
        menu->findChild<QAction *>(action)->trigger();
        menu->close();
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
    ParameterValues effective() const { return m_document->effectiveValues(m_panel->nodes().first()); }
    QWidget *field(const QString &parameter) const { return m_panel->row(parameter)->editor()->field(); }
    QLineEdit *type(const QString &parameter, const QString &text)
    {
        m_panel->focusParameter(parameter);
        auto *line = qobject_cast<QLineEdit *>(field(parameter));
        line->setFocus();
        line->selectAll();
        QTest::keyClick(line, Qt::Key_Delete);
        QTest::keyClicks(line, text);
        return line;
    }

    QTemporaryDir m_folder;
    ComponentRegistry m_registry = uiRegistry();
    std::unique_ptr<PipelineDocument> m_document;
    std::unique_ptr<PipelineEditor> m_editor;
    std::unique_ptr<ParameterPanel> m_panel;
};

QTEST_MAIN(TestParameterPanel)
#include "tst_parameterpanel.moc"
