// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/errorpages.h"
#include "core/base/files.h"
#include "core/pipeline/pipelinefile.h"
#include "core/pipeline/planner.h"
#include "core/pipeline/validator.h"
#include "tests/core/pipeline/fakecomponents.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QSet>
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

    /// A value, a key or an item somewhere in the tree is removed, repeated, renamed or replaced.
    static QJsonValue mutatedTree(const QJsonValue &value, std::mt19937 &random, int depth = 0)
    {
        if (depth > 0 && random() % 4 == 0)
            return oddValue(random);
        if (value.isObject() && !value.toObject().isEmpty()) {
            QJsonObject object = value.toObject();
            const QString key = object.keys()[qsizetype(random() % quint32(object.size()))];
            const quint32 what = random() % 8;
            const QJsonValue old = object.value(key);
            if (what == 0)
                object.remove(key);
            else if (what == 1)
                object.insert(key + QStringLiteral("x"), object.take(key));
            else if (what == 2)
                object.insert(QStringLiteral("new"), oddValue(random));
            else
                object.insert(key, mutatedTree(old, random, depth + 1));
            return object;
        }
        if (value.isArray() && !value.toArray().isEmpty()) {
            QJsonArray array = value.toArray();
            const qsizetype at = qsizetype(random() % quint32(array.size()));
            const quint32 what = random() % 6;
            if (what == 0)
                array.removeAt(at);
            else if (what == 1)
                array.append(array[at]);
            else
                array[at] = mutatedTree(array[at], random, depth + 1);
            return array;
        }
        return oddValue(random);
    }

    static QJsonValue oddValue(std::mt19937 &random)
    {
        switch (random() % 12) {
        case 0:
            return QJsonValue();
        case 1:
            return true;
        case 2:
            return -1;
        case 3:
            return 1e308;
        case 4:
            return qint64(9223372036854775807);
        case 5:
            return QString(20000, u'x');
        case 6:
            return QStringLiteral("%1 %2 a.b");
        case 7:
            return nested(200);
        case 8:
            return QJsonObject{{QStringLiteral("path"), QStringLiteral("%FF")}, {QStringLiteral("raw"), true}};
        case 9:
            return QJsonArray{1, QStringLiteral("two"), QJsonValue()};
        case 10:
            return QStringLiteral("train.learning_rate");
        default:
            return 0.5;
        }
    }

    static QJsonValue nested(int depth)
    {
        QJsonValue value = 1;
        for (int i = 0; i < depth; ++i)
            value = i % 2 == 0 ? QJsonValue(QJsonArray{value}) : QJsonValue(QJsonObject{{QStringLiteral("a"), value}});
        return value;
    }

    /// The files that valid ones are made of: samples with the real components, made-up ones with others.
    struct Origin
    {
        QByteArray bytes;
        const ComponentRegistry *registry;
    };

    static QList<Origin> origins()
    {
        static const ComponentRegistry &real = []() -> const ComponentRegistry & {
            static ComponentRegistry registry;
            registerAllComponents(registry);
            return registry;
        }();
        QList<Origin> list;
        Pipeline bound = wholePipeline();
        bound.parameters = {{"rate", "Rate", {{"train1", "learning_rate"}}},
                            {"share", "", {{"split1", "fraction"}}, {{"note", "kept"}}}};
        list.append({writePipeline(bound, fakeComponents()), &fakeComponents()});
        list.append({writeEffectivePipeline(bound, fakeComponents()), &fakeComponents()});
        const auto golden = readFile(sourceFolder() / "tests/data/pipelines/golden.pipeline.json", errors::Library);
        list.append({golden.ok() ? *golden : QByteArray(), &fakeComponents()});
        std::error_code fault;
        for (const auto &entry : fs::directory_iterator(sourceFolder() / "resources/samples", fault)) {
            const auto sample = readFile(entry.path(), errors::Library);
            auto read = readPipeline(sample.ok() ? *sample : QByteArray(), real);
            if (!read.ok())
                continue;
            list.append({*sample, &real});
            read->pipeline.parameters = {{"epochs", "Epochs", {{"train", "epochs"}}}};
            list.append({writeEffectivePipeline(read->pipeline, real), &real});
        }
        return list;
    }

    static QSet<QString> knownNames()
    {
        QSet<QString> names;
        for (const ErrorPage &page : errorPages())
            names.insert(page.name);
        return names;
    }

    /// A name of the list, a sentence and a hint, every %1 filled in.
    static bool isWhole(const Error &error)
    {
        static const QSet<QString> names = knownNames();
        static const QRegularExpression marker(QStringLiteral("%[1-9]"));
        Error filled = error; // arguments may hold such marks themselves
        for (QString &argument : filled.args)
            argument.remove(u'%');
        return names.contains(error.name) && !error.sentence().isEmpty() && !error.hintSentence().isEmpty()
               && !filled.sentence().contains(marker) && !filled.hintSentence().contains(marker);
    }

    static void follow(const QByteArray &bytes, const ComponentRegistry &registry, int &read, int &refused)
    {
        const auto loaded = readPipeline(bytes, registry);
        if (!loaded.ok()) {
            ++refused;
            QCOMPARE(loaded.error().name, QString(errors::InvalidPipeline));
            QVERIFY2(isWhole(loaded.error()), qPrintable(loaded.error().toString()));
            return;
        }
        ++read;
        const QByteArray written = writePipeline(loaded->pipeline, registry);
        const auto again = readPipeline(written, registry);
        QVERIFY2(again.ok(), bytes.constData());
        QVERIFY2(writePipeline(again->pipeline, registry) == written, bytes.constData());
        const QList<Error> faults = validate(loaded->pipeline, registry);
        for (const Error &fault : faults)
            QVERIFY2(isWhole(fault), qPrintable(fault.toString() + u'\n' + fault.hint));
        const auto planned = plan(loaded->pipeline, registry);
        QCOMPARE(planned.ok(), faults.isEmpty());
        if (!faults.isEmpty())
            QCOMPARE(planned.error(), faults.first());
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
    void validFilesAreValid()
    {
        const QList<Origin> all = origins();
        QVERIFY2(all.size() >= 7, "the sample pipelines are among them");
        for (const Origin &origin : all)
            TW_VERIFY(readPipeline(origin.bytes, *origin.registry));
    }

    void damagedFilesAreRefusedOrReadWhole()
    {
        const QList<Origin> all = origins();
        QList<QJsonObject> trees;
        for (const Origin &origin : all)
            trees.append(QJsonDocument::fromJson(origin.bytes).object());
        std::mt19937 random(20240);
        int read = 0, refused = 0;
        for (int i = 0; i < 10000; ++i) {
            const Origin &origin = all[i % all.size()];
            QByteArray bytes;
            if (i % 3 == 0) {
                QJsonValue tree = trees[i % all.size()];
                for (quint32 edits = 1 + random() % 2; edits > 0; --edits)
                    tree = mutatedTree(tree, random);
                bytes = QJsonDocument(tree.toObject()).toJson(QJsonDocument::Compact);
            } else {
                bytes = mutated(origin.bytes, random);
            }
            follow(bytes, *origin.registry, read, refused);
            if (QTest::currentTestFailed())
                QFAIL(qPrintable(QStringLiteral("mutation %1:\n%2").arg(i).arg(QString::fromUtf8(bytes.left(3000)))));
        }
        QVERIFY2(read > 1000 && refused > 1000,
                 qPrintable(QStringLiteral("%1 read, %2 refused").arg(read).arg(refused)));
    }

    /// No fault of a value is lost when it comes from --set.
    void damagedSettingsAreNamed()
    {
        const QByteArrayList names{"rate",         "share",       "train1.epochs",   "train1.sizes",
                                   "train1.scale", "apply1.mode", "source1.path",    "nothing",
                                   "train1.",      ".epochs",     "train1.epochs.x", ""};
        const QByteArrayList values{"",
                                    "0",
                                    "-1",
                                    "1e999",
                                    "nan",
                                    "99999999999999999999",
                                    "0,5",
                                    "%1%2",
                                    "\xff",
                                    "[1]",
                                    "null",
                                    "{}",
                                    QByteArray(20000, 'x'),
                                    "1,2,3",
                                    "for_training"};
        Pipeline pipeline = wholePipeline();
        pipeline.parameters = {{"rate", "Rate", {{"train1", "learning_rate"}}},
                               {"share", "", {{"split1", "fraction"}}}};
        for (const QByteArray &name : names)
            for (const QByteArray &value : values) {
                Pipeline changed = pipeline;
                const auto set = applySettingBytes(changed, name + '=' + value, fakeComponents());
                if (set.ok()) {
                    QVERIFY(validate(changed, fakeComponents()).isEmpty());
                    continue;
                }
                QCOMPARE(changed, pipeline);
                QVERIFY2(isWhole(set.error()), qPrintable(set.error().toString() + u'\n' + set.error().hint));
            }
    }
};

QTEST_GUILESS_MAIN(TestPipelineMutations)
#include "tst_pipelinemutations.moc"
