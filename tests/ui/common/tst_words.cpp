// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/common/icons.h"
#include "ui/common/theme.h"
#include "ui/common/words.h"

#include <QDirIterator>
#include <QLocale>
#include <QTest>

#include <cmath>

using namespace tw;

class TestWords : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }

    void durations_data()
    {
        QTest::addColumn<double>("seconds");
        QTest::addColumn<QString>("text");
        QTest::newRow("zero") << 0.0 << "0:00";
        QTest::newRow("rounds") << 59.6 << "1:00";
        QTest::newRow("minutes") << 65.0 << "1:05";
        QTest::newRow("hours") << 7384.0 << "2:03:04";
        QTest::newRow("unknown") << -1.0 << "";
        QTest::newRow("nan") << std::nan("") << "";
    }
    void durations()
    {
        QFETCH(double, seconds);
        QFETCH(QString, text);
        QCOMPARE(durationText(seconds), text);
    }

    void aRatioIsShownAsPercent()
    {
        QCOMPARE(percentText(0.7), QStringLiteral("70.0\u202f%"));
        QCOMPARE(percentText(1), QStringLiteral("100.0\u202f%"));
        QCOMPARE(percentText(std::nan("")), QStringLiteral("–"));
        QCOMPARE(countText(60000), QStringLiteral("60,000"));
    }

    void markupInNamesIsShownLetterByLetter()
    {
        const QString tip = plainTooltip(QStringLiteral("<img src='x'> R&D"));
        QVERIFY(!tip.contains(QStringLiteral("<img")));
        QVERIFY(tip.contains(QStringLiteral("&lt;img")));
        QVERIFY(tip.contains(QStringLiteral("R&amp;D")));
    }

    void errorsAreFilledIn()
    {
        const Error error = makeError(errors::InvalidDataset, "\"%1\" has %2 images.",
                                      {QStringLiteral("a %2"), QStringLiteral("3")}, "Look at %1.");
        QCOMPARE(errorText(error), QStringLiteral("\"a %2\" has 3 images."));
        QCOMPARE(errorTooltip(error), QStringLiteral("\"a %2\" has 3 images.\nLook at a %2."));
    }

    void everyIconIsDrawnInBothThemes()
    {
        int icons = 0;
        for (ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
            Theme::instance().setChoice(choice);
            QDirIterator names(QStringLiteral(":/icons"));
            while (names.hasNext()) {
                names.next();
                const QImage picture = themedIcon(names.fileInfo().completeBaseName()).pixmap(24, 24).toImage();
                QVERIFY2(!picture.isNull(), qPrintable(names.fileName()));
                int drawn = 0;
                for (int y = 0; y < picture.height(); ++y) {
                    for (int x = 0; x < picture.width(); ++x)
                        drawn += picture.pixelColor(x, y).alpha() > 100;
                }
                QVERIFY2(drawn > 10, qPrintable(names.fileName()));
                ++icons;
            }
        }
        QVERIFY(icons > 40);
        QVERIFY(themedIcon(QStringLiteral("no-such-icon")).isNull());
    }
};

QTEST_MAIN(TestWords)
#include "tst_words.moc"
