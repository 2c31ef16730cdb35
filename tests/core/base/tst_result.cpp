// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/result.h"

#include <QTest>

using namespace tw;

namespace {
Result<int> half(int value)
{
    if (value % 2 != 0)
        return makeError(errors::NotInRangeValue, "%1 is odd.", {QString::number(value)}, "Take %1 + 1.");
    return value / 2;
}

Result<int> quarter(int value)
{
    TW_ASSIGN(first, half(value));
    return half(first);
}

Result<void> onlyEven(int value)
{
    TW_TRY(half(value));
    return {};
}
} // namespace

class TestResult : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void macrosPassValuesAndErrorsOn()
    {
        QCOMPARE(*quarter(12), 3);
        QVERIFY(!quarter(6).ok());
        QCOMPARE(quarter(6).error().sentence(), QStringLiteral("3 is odd."));
        QVERIFY(onlyEven(2).ok());
        QCOMPARE(onlyEven(5).error().hintSentence(), QStringLiteral("Take 5 + 1."));
    }

    void argumentsAreNotExpandedAgain_data()
    {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QStringList>("args");
        QTest::addColumn<QString>("expected");
        QTest::newRow("argument with marker") << "%1 and %2" << QStringList{"%2", "b"} << "%2 and b";
        QTest::newRow("missing argument") << "%1 of %3" << QStringList{"a"} << "a of %3";
        QTest::newRow("percent at the end") << "100%" << QStringList{"a"} << "100%";
        QTest::newRow("percent zero") << "%0%1" << QStringList{"a"} << "%0a";
        QTest::newRow("a terminal's commands")
            << "\"%1\"" << QStringList{QStringLiteral("a\x1b[31m\nb\tc\x7f")} << "\"a\\x1b[31m\nb\tc\\x7f\"";
        QTest::newRow("twice") << "%1%1" << QStringList{"a"} << "aa";
    }
    void argumentsAreNotExpandedAgain()
    {
        QFETCH(QString, source);
        QFETCH(QStringList, args);
        QTEST(fillArguments(source, args), "expected");
    }

    void jsonLeavesEmptyKeysOut()
    {
        const Error plain = makeError(errors::Library, "broken");
        QCOMPARE(plain.toJson().keys(), QStringList({"message", "name"}));
        const Error full = makeError(errors::Library, "broken", {}, "mend it").atNode("n1").atParameter("p");
        QCOMPARE(full.toJson().keys(), QStringList({"hint", "message", "name", "node", "parameter"}));
        QCOMPARE(full.toString(), QStringLiteral("LibraryError: broken"));
    }
};

QTEST_GUILESS_MAIN(TestResult)
#include "tst_result.moc"
