// SPDX-License-Identifier: GPL-3.0-or-later
// libgomp must see the wait policy at its own start, without a second start of the program.
#include "tests/support/testsupport.h"

#include <QProcess>
#include <QTest>

class WaitPolicyTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void passiveByDefault();
    void usersChoiceWins();
};

static QByteArray displayedSettings(const QByteArray &usersChoice)
{
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.remove(QStringLiteral("OMP_WAIT_POLICY"));
    environment.insert(QStringLiteral("OMP_DISPLAY_ENV"), QStringLiteral("TRUE"));
    if (!usersChoice.isEmpty())
        environment.insert(QStringLiteral("OMP_WAIT_POLICY"), QString::fromLatin1(usersChoice));
    process.setProcessEnvironment(environment);
    process.start(tw::displayPath(tw::test::programFolder() / "trainwright-cli"), {QStringLiteral("--version")});
    if (!process.waitForFinished(60000))
        return "did not end";
    return process.readAllStandardError();
}

void WaitPolicyTest::passiveByDefault()
{
    const QByteArray text = displayedSettings({});
    QVERIFY2(text.contains("OMP_WAIT_POLICY = 'PASSIVE'"), text.constData());
    QCOMPARE(text.count("OMP_WAIT_POLICY"), 1); // one start, not two
}

void WaitPolicyTest::usersChoiceWins()
{
    const QByteArray text = displayedSettings("active");
    QVERIFY2(text.contains("OMP_WAIT_POLICY = 'ACTIVE'"), text.constData());
}

QTEST_GUILESS_MAIN(WaitPolicyTest)
#include "tst_waitpolicy.moc"
