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
    void pairsMakeADictionary();
    void dataIsLeftOut_data();
    void dataIsLeftOut();
    void keysInPlaceOfStorages();
    void valuesHaveABudget_data();
    void valuesHaveABudget();
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
    QTest::newRow("INT of Python 2") << QByteArray("\x80\x02I94023984002\n.") << qint64(94023984002);
    QTest::newRow("INT below 0") << QByteArray("\x80\x02I-7\n.") << qint64(-7);
    QTest::newRow("INT of truth") << QByteArray("\x80\x02I01\n.") << qint64(1);
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
    row("OrderedDict of no pairs",
        QByteArray("ccollections\nOrderedDict\n]K\x01"
                   "a\x85R."),
        "no pairs");
    row("INST", QByteArray("(ios\nsystem\n."), "0x69");
    row("OBJ", QByteArray("(o."), "0x6f");
    row("NEWOBJ of nothing", QByteArray(")\x81."), "stack");
    row("NEWOBJ of code", QByteArray("csubprocess\nPopen\n)\x81."), "subprocess.Popen");
    row("getattr", QByteArray("cbuiltins\ngetattr\n."), "builtins.getattr");
    row("a module in builtins", QByteArray("cbuiltins.os\nsystem\n."), "builtins.os.system");
    row("rebuilt by a name that is none", QByteArray("ctorch._tensor\n_rebuild_from_type_v2\n(NNNNtR."), "rebuilt");
    row("rebuilt as plain data", QByteArray("ctorch._tensor\n_rebuild_from_type_v2\n(c_codecs\nencode\nN)NtR."),
        "rebuilt");
    row("Parameter of a text", QByteArrayLiteral("ctorch.nn.parameter\nParameter\nU\x01x\x85R."), "lacks its tensor");
    row("STACK_GLOBAL", QByteArray("\x93."), "0x93");
    row("FRAME", QByteArray("\x95."), "0x95");
    row("EXT1", QByteArray("\x82\x01."), "0x82");
    row("INT that is none", QByteArray("I1x\n."), "a number is not one");
    row("INT without end", QByteArray("I1"), "does not end");
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
    const QByteArray longKey = QByteArrayLiteral("X\x01\x01\x00\x00") + QByteArray(257, 'k');
    row("storage with a long key",
        "(U\x07storagectorch\nFloatStorage\n" + longKey
            + "U\x03"
              "cpuK\x01tQ.",
        "storage is not described");
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

void PickleMachineTest::pairsMakeADictionary()
{
    PickleMachine machine;
    const auto root = machine.run(view(QByteArray("\x80\x02"
                                                  "ccollections\nOrderedDict\n](](U\x01"
                                                  "aK\x05"
                                                  "e](U\x01"
                                                  "bK\x06"
                                                  "ee\x85R.")));
    TW_VERIFY(root);
    const PickleValue &dictionary = machine.value(*root);
    QCOMPARE(dictionary.kind, PickleValue::Kind::Dict);
    QCOMPARE(dictionary.items.size(), 4u);
    QCOMPARE(machine.value(dictionary.items[2]).text, std::string("b"));
    QCOMPARE(machine.value(dictionary.items[3]).integer, 6);
}

void PickleMachineTest::dataIsLeftOut_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("Namespace") << QByteArray("cargparse\nNamespace\n)\x81}U\x02lrK\x01sb.");
    QTest::newRow("NumPy number") << QByteArrayLiteral("cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\nU\x02"
                                                       "f8K\x00K\x01\x87R(K\x03U\x01<NNNK\xffK\xffK\x00tbU\x01x\x86R.");
    QTest::newRow("set") << QByteArray("c__builtin__\nset\n]K\x01"
                                       "a\x85R.");
    QTest::newRow("path of Python 3.13") << QByteArray("cpathlib._local\nPosixPath\nU\x01x\x85R.");
    QTest::newRow("counter") << QByteArray("ccollections\nCounter\n}\x85RU\x01xK\x01s.");
    QTest::newRow("long number") << "\x8a\x09" + QByteArray(9, 'x') + '.';
}

void PickleMachineTest::dataIsLeftOut()
{
    QFETCH(QByteArray, bytes);
    PickleMachine machine;
    const auto root = machine.run(view("\x80\x02" + bytes));
    TW_VERIFY(root);
    QCOMPARE(machine.value(*root).kind, PickleValue::Kind::Opaque);
    QVERIFY(machine.value(*root).items.empty());
}

void PickleMachineTest::keysInPlaceOfStorages()
{
    PickleMachine machine(PickleMachine::PersistentIds::Keys);
    const auto root = machine.run(view(QByteArray("\x80\x02U\x03"
                                                  "123Q.")));
    TW_VERIFY(root);
    QCOMPARE(machine.value(*root).kind, PickleValue::Kind::Reference);
    QCOMPARE(machine.value(*root).text, std::string("123"));
    QVERIFY(!machine.run(view(QByteArray("\x80\x02NQ."))).ok());
    const QByteArray longKey = QByteArrayLiteral("\x80\x02X\x01\x01\x00\x00") + QByteArray(257, 'k') + "Q.";
    QVERIFY(!machine.run(view(longKey)).ok());
}

void PickleMachineTest::valuesHaveABudget_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("values") << QByteArray("\x80\x02(") + QByteArray(2'000'000, 'N') + "l.";
    // One list, made into a dictionary of a million pairs again and again.
    QByteArray pairs = QByteArrayLiteral("\x80\x02](NN\x86q\x00");
    for (int i = 0; i < 100'000; ++i)
        pairs.append("h\0", 2);
    pairs += "eq\x01";
    for (int i = 0; i < 200; ++i)
        pairs += "ccollections\nOrderedDict\nh\x01\x85R";
    QTest::newRow("items") << pairs + '.';
    QByteArray memo("\x80\x02N");
    for (quint32 i = 0; i < 3'000'000; ++i)
        memo.append('r').append(reinterpret_cast<const char *>(&i), 4);
    QTest::newRow("memo") << memo + '.';
}

void PickleMachineTest::valuesHaveABudget()
{
    QFETCH(QByteArray, bytes);
    PickleMachine machine;
    const auto root = machine.run(view(bytes));
    QVERIFY(!root.ok());
    QVERIFY2(root.error().sentence().contains(u"more values beside its tensors"), qPrintable(root.error().sentence()));
}

QTEST_GUILESS_MAIN(PickleMachineTest)
#include "tst_picklemachine.moc"
