// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/ids.h"

#include <QRegularExpression>
#include <QTest>

using namespace tw;

class TestIds : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void forms_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("node");
        QTest::addColumn<bool>("component");
        QTest::newRow("word") << "train" << true << true;
        QTest::newRow("underscore") << "train_1" << true << false;
        QTest::newRow("kebab") << "image-dataset2" << false << true;
        QTest::newRow("empty") << "" << false << false;
        QTest::newRow("capital") << "Train" << false << false;
        QTest::newRow("digit first") << "1train" << false << false;
        QTest::newRow("dot") << "a.b" << false << false;
        QTest::newRow("space") << "a b" << false << false;
        QTest::newRow("umlaut") << QString::fromUtf8("zähler") << false << false;
        QTest::newRow("dash at end") << "a-" << false << false;
        QTest::newRow("two dashes") << "a--b" << false << false;
        QTest::newRow("longest") << QString(63, 'a') << true << true;
        QTest::newRow("too long") << QString(64, 'a') << false << false;
        QTest::newRow("line end") << "a\n" << false << false;
    }
    void forms()
    {
        QFETCH(QString, text);
        QTEST(isNodeId(text), "node");
        QTEST(isComponentId(text), "component");
    }

    void newIdsTakeTheFirstFreeNumber()
    {
        QCOMPARE(newNodeId("resnet", {}), QStringLiteral("resnet1"));
        QCOMPARE(newNodeId("train-pytorch-model", {"model1", "model3"}), QStringLiteral("model2"));
        for (const QString &odd : {QString(), QString("x-2d"), QString("-"), QString("a-" + QString(90, 'b'))})
            QVERIFY2(isNodeId(newNodeId(odd, {})), qPrintable(odd));
    }

    void jobIdsHaveTheirFormAndDiffer()
    {
        static const QRegularExpression form("^\\d{8}-\\d{6}-[0-9a-f]{4}$");
        QSet<QString> seen;
        for (int i = 0; i < 50; ++i) {
            QVERIFY(form.match(newJobId()).hasMatch());
            seen.insert(newJobId().right(4));
        }
        QVERIFY(seen.size() > 25);
    }
};

QTEST_GUILESS_MAIN(TestIds)
#include "tst_ids.moc"
