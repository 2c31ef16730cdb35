// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/errorpages.h"

#include "core/base/files.h"
#include "tests/support/testsupport.h"

#include <QRegularExpression>
#include <QTest>

using namespace tw;
using namespace tw::test;

/// Every error that the program can show has a page of its own.
class TestErrorPages : public QObject
{
    Q_OBJECT

    /// The names that result.h declares.
    static QStringList declaredNames()
    {
        const auto header = readFile(sourceFolder() / "core/base/result.h", errors::Library);
        static const QRegularExpression declaration(QStringLiteral("constexpr char \\w+\\[\\] = \"(\\w+)\""));
        QStringList names;
        auto found = declaration.globalMatch(header.ok() ? QString::fromUtf8(*header) : QString());
        while (found.hasNext())
            names.append(found.next().captured(1));
        return names;
    }

private Q_SLOTS:
    void everyNameHasAPage()
    {
        QStringList names = declaredNames();
        QVERIFY(names.contains("InvalidDatasetError") && names.contains("LibraryError"));
        names.append("UsageError");
        QStringList paged;
        for (const ErrorPage &page : errorPages())
            paged.append(page.name);
        QCOMPARE(paged.removeDuplicates(), 0);
        names.sort();
        paged.sort();
        QCOMPARE(paged, names);
    }

    void pagesSaySomething_data()
    {
        QTest::addColumn<QString>("name");
        for (const ErrorPage &page : errorPages())
            QTest::newRow(qPrintable(page.name)) << page.name;
    }
    void pagesSaySomething()
    {
        QFETCH(QString, name);
        const ErrorPage *page = errorPage(name);
        QVERIFY(page != nullptr);
        QVERIFY(page->meaning.size() > 20 && page->meaning.endsWith(u'.'));
        QVERIFY(!page->causes.isEmpty() && !page->remedies.isEmpty());
        for (const QString &line : page->causes + page->remedies)
            QVERIFY2(line.size() > 20 && !line.contains(u'%'), qPrintable(line));
    }

    void namesAreFoundAsTyped()
    {
        const ErrorPage *page = errorPage(QStringLiteral("InvalidDatasetError"));
        QVERIFY(page != nullptr);
        QCOMPARE(errorPage(QStringLiteral("invaliddataseterror")), page);
        QCOMPARE(errorPage(QStringLiteral("InvalidDataset")), page);
        QVERIFY(errorPage(QStringLiteral("Invalid")) == nullptr);
        QVERIFY(errorPage(QString()) == nullptr);
    }
};

QTEST_GUILESS_MAIN(TestErrorPages)
#include "tst_errorpages.moc"
