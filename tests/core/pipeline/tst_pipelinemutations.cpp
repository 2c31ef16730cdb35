// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/pipeline/pipelinefile.h"
#include "core/pipeline/planner.h"
#include "core/pipeline/validator.h"
#include "tests/core/pipeline/fakecomponents.h"
#include "tests/support/testsupport.h"

#include <QTest>

#include <random>

using namespace tw;
using namespace tw::test;

/// Damaged files, the same ones in every run: each is refused with a whole error, or read, checked,
/// planned and written in a form that reads back equal.
class TestPipelineMutations : public QObject
{
    Q_OBJECT

    static QByteArray mutated(const QByteArray &bytes, std::mt19937 &random)
    {
        static const QByteArrayList pieces{
            "null",         "-1",          "1e308", "1e999",         "\"\"",
            "{}",           "[]",          "true",  "\"a.b\"",       "99999999999999999999",
            "[[[[[[]]]]]]", "\"\\ud800\"", "\xff",  "{\"raw\":true}"};
        QByteArray changed = bytes;
        for (quint32 edits = 1 + random() % 3; edits > 0 && !changed.isEmpty(); --edits) {
            const qsizetype at = qsizetype(random() % quint32(changed.size()));
            const qsizetype length = qsizetype(random() % 12);
            switch (random() % 5) {
            case 0:
                changed.remove(at, length);
                break;
            case 1:
                changed.insert(at, pieces[random() % quint32(pieces.size())]);
                break;
            case 2:
                changed[at] = char(random() % 256);
                break;
            case 3:
                changed.insert(at, changed.mid(qsizetype(random() % quint32(changed.size())), length));
                break;
            default:
                replaceValue(changed, at, pieces[random() % quint32(pieces.size())]);
                break;
            }
        }
        return changed;
    }

    /// The value behind the next ": " becomes `piece`: stays JSON more often than blind edits do.
    static void replaceValue(QByteArray &bytes, qsizetype from, const QByteArray &piece)
    {
        const qsizetype start = bytes.indexOf(": ", from);
        if (start < 0)
            return;
        qsizetype end = start + 2;
        while (end < bytes.size() && !QByteArray(",}\n").contains(bytes[end]))
            ++end;
        bytes.replace(start + 2, end - start - 2, piece);
    }

private Q_SLOTS:
    void damagedFilesAreRefusedOrReadWhole()
    {
        const auto original = readFile(sourceFolder() / "tests/data/pipelines/golden.pipeline.json", errors::Library);
        TW_VERIFY(original);
        const QByteArray whole = writeEffectivePipeline(wholePipeline(), fakeComponents());
        std::mt19937 random(20240);
        int read = 0, refused = 0;
        for (int i = 0; i < 3000; ++i) {
            const QByteArray bytes = mutated(i % 2 == 0 ? *original : whole, random);
            const auto loaded = readPipeline(bytes, fakeComponents());
            if (!loaded.ok()) {
                ++refused;
                QCOMPARE(loaded.error().name, QString(errors::InvalidPipeline));
                QVERIFY(!loaded.error().sentence().isEmpty() && !loaded.error().hintSentence().isEmpty());
                continue;
            }
            ++read;
            const QByteArray written = writePipeline(loaded->pipeline, fakeComponents());
            const auto again = readPipeline(written, fakeComponents());
            QVERIFY2(again.ok(), bytes.constData());
            QVERIFY2(writePipeline(again->pipeline, fakeComponents()) == written, bytes.constData());
            const QList<Error> faults = validate(loaded->pipeline, fakeComponents());
            QCOMPARE(plan(loaded->pipeline, fakeComponents()).ok(), faults.isEmpty());
        }
        QVERIFY2(read > 200 && refused > 200, qPrintable(QStringLiteral("%1 read, %2 refused").arg(read).arg(refused)));
    }
};

QTEST_GUILESS_MAIN(TestPipelineMutations)
#include "tst_pipelinemutations.moc"
