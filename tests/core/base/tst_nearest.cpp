// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/nearest.h"

#include <QTest>

using namespace tw;

class TestNearest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void nearest_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("expected");
        QTest::newRow("one letter") << "epoch"
                                    << "epochs";
        QTest::newRow("swapped") << "lerning_rate"
                                 << "learning_rate";
        QTest::newRow("case") << "EPOCHS"
                              << "epochs";
        QTest::newRow("nothing like it") << "zzzz"
                                         << "";
        QTest::newRow("empty") << ""
                               << "";
        QTest::newRow("endless") << QString(100000, 'e') << "";
    }
    void nearest()
    {
        QFETCH(QString, text);
        QTEST(nearestText(text, {"epochs", "learning_rate", "patience"}), "expected");
    }
};

QTEST_GUILESS_MAIN(TestNearest)
#include "tst_nearest.moc"
