// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/picklemachine.h"
#include "tests/support/testsupport.h"

#include <QTest>

using namespace tw;

static std::span<const std::byte> view(const QByteArray &bytes)
{
    return std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(bytes.size())));
}

class PickleMachineTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void numbers_data();
    void numbers();
    void refused_data();
    void refused();
    void nothingMadeOfSizesAlone();
    void cyclesEnd();
};

void PickleMachineTest::numbers_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<qint64>("value");
    QTest::newRow("BININT1") << QByteArray("\x80\x02K\xff.") << qint64(255);
    QTest::newRow("BININT2") << QByteArray("\x80\x02M\xff\xff.") << qint64(65535);
    QTest::newRow("BININT") << QByteArray("\x80\x02J\xfe\xff\xff\xff.") << qint64(-2);
    QTest::newRow("LONG1 empty") << QByteArray("\x80\x02\x8a\x00.", 5) << qint64(0);
    QTest::newRow("LONG1 minus one") << QByteArray("\x80\x02\x8a\x01\xff.") << qint64(-1);
    QTest::newRow("LONG1 five bytes") << QByteArray("\x80\x02\x8a\x05\x00\x00\x00\x00\x01.", 10) << (qint64(1) << 32);
    QTest::newRow("NEWTRUE") << QByteArray("\x80\x02\x88.") << qint64(1);
}

void PickleMachineTest::numbers()
{
    QFETCH(QByteArray, bytes);
    QFETCH(qint64, value);
    PickleMachine machine;
    const auto root = machine.run(view(bytes));
    TW_VERIFY(root);
    QCOMPARE(machine.value(*root).integer, value);
    QCOMPARE(machine.consumed(), static_cast<std::size_t>(bytes.size()));
}

void PickleMachineTest::refused_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("word");
    const auto row = [](const char *name, QByteArray bytes, const char *word) {
        QTest::newRow(name) << "\x80\x02" + bytes << QString::fromLatin1(word);
    };
    row("system", "cposix\nsystem\nX\x04\x00\x00\x00", "posix.system");
    row("system", QByteArray("cos\nsystem\n."), "os.system");
    row("eval", QByteArray("c__builtin__\neval\n."), "__builtin__.eval");
    row("dots in the second word", QByteArray("ctorch\nserialization.os.system\n."), "serialization.os.system");
    row("dots moved", QByteArray("ctorch._utils._rebuild_tensor_v2\n\n."), "Python object");
    row("unlike module", QByteArray("ctorch\n_utils._rebuild_tensor_v2\n."), "Python object");
    row("constant called", QByteArray("ctorch\nFloatStorage\n)R."), "constant");
    row("OrderedDict with arguments", QByteArray("ccollections\nOrderedDict\nK\x01\x85R."), "arguments");
    row("INST", QByteArray("(ios\nsystem\n."), "0x69");
    row("OBJ", QByteArray("(o."), "0x6f");
    row("NEWOBJ", QByteArray(")\x81."), "0x81");
    row("STACK_GLOBAL", QByteArray("\x93."), "0x93");
    row("FRAME", QByteArray("\x95."), "0x95");
    row("EXT1", QByteArray("\x82\x01."), "0x82");
    row("INT as text", QByteArray("I1\n."), "0x49");
    row("PERSID as text", QByteArray("Pabc\n."), "0x50");
    row("protocol", QByteArray("\x80\x04N."), "protocol 4");
    row("no STOP", QByteArray("N"), "too early");
    row("nothing on the stack", QByteArray("."), "stack");
    row("memo that is not there", QByteArray("h\x07."), "not there");
    row("mark that is not there", QByteArray("t."), "not opened");
    row("below the mark", QByteArray("K\x01(R."), "stack");
    row("BUILD of a number", QByteArray("K\x01}b."), "state");
    row("APPEND to a tuple", QByteArray(")Na."), "list");
    row("SETITEMS of an odd count", QByteArray("}(Nu."), "dictionary");
    row("BINPERSID of a number", QByteArray("K\x01Q."), "storage");
    row("tensor without storage", QByteArray("ctorch._utils\n_rebuild_tensor_v2\n(NNNNNNtR."), "storage");
}

void PickleMachineTest::refused()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QString, word);
    PickleMachine machine;
    const auto root = machine.run(view(bytes));
    QVERIFY(!root.ok());
    QVERIFY2(root.error().sentence().contains(word), qPrintable(root.error().sentence()));
    QVERIFY(!root.error().hintSentence().isEmpty());
}

/// Lengths and memo numbers are only words of the file: nothing is allocated for them.
void PickleMachineTest::nothingMadeOfSizesAlone()
{
    PickleMachine machine;
    QVERIFY(!machine
                 .run(view(QByteArray("\x80\x02X\xff\xff\xff\x7f"
                                      "abc.")))
                 .ok());
    const auto root = machine.run(view(QByteArray("\x80\x02K\x05r\xfe\xff\xff\xff.")));
    TW_VERIFY(root);
    QCOMPARE(machine.value(*root).integer, 5);
}

void PickleMachineTest::cyclesEnd()
{
    PickleMachine machine;
    const auto root = machine.run(view(QByteArray("\x80\x02]q\x01h\x01"
                                                  "a.")));
    TW_VERIFY(root);
    QCOMPARE(machine.value(*root).items, std::vector<std::uint32_t>{*root});
}

QTEST_GUILESS_MAIN(PickleMachineTest)
#include "tst_picklemachine.moc"
