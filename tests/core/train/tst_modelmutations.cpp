// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/model/modeljson.h"
#include "core/train/architectures.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <random>

using namespace tw;

/// Damaged model.json and untrained_model.json, the same ones in every run: each is refused with a whole
/// error that names the file, or read and written in a form that reads back equal. Nothing a file says
/// reaches LibTorch unchecked.
class TestModelMutations : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void modelFiles();
    void untrainedModelFiles();

private:
    static QByteArray mutated(const QByteArray &bytes, std::mt19937 &random);
    static void replaceValue(QByteArray &bytes, qsizetype from, const QByteArray &piece);
    void write(const char *name, const QByteArray &bytes) const
    {
        std::ofstream(m_folder / name, std::ios::binary).write(bytes.constData(), bytes.size());
    }

    QTemporaryDir m_temporary;
    fs::path m_folder{m_temporary.path().toStdString()};
    QByteArray m_model, m_untrained;
};

void TestModelMutations::initTestCase()
{
    const ModelConfig config{
        QStringLiteral("mlp"),
        {{"num_classes", 2}, {"hidden_sizes", QJsonArray{4, 3}}, {"in_channels", 3}, {"height", 8}}};
    auto info = usualModelInfo(config, {"a", "caf\xe9"});
    TW_VERIFY(info);
    info->height = info->width = 8;
    info->config.arguments.insert(QStringLiteral("width"), 8);
    info->transforms = {{.kind = TransformOp::Kind::Resize, .size = 9},
                        {.kind = TransformOp::Kind::CenterCrop, .size = 8}};
    info->training = {{"epochs", 3}};
    m_model = modelJson(*info, {QByteArray(64, 'a'), QByteArray(64, 'b')});
    UntrainedModel untrained{config, "weights.pth", QByteArray(64, 'c'), Normalization{}, WeightsPreprocessing{}};
    TW_VERIFY(untrained.write(m_folder));
    m_untrained = *readFile(m_folder / "untrained_model.json", errors::Library);
}

void TestModelMutations::replaceValue(QByteArray &bytes, qsizetype from, const QByteArray &piece)
{
    const qsizetype start = bytes.indexOf(':', from);
    if (start < 0)
        return;
    qsizetype end = start + 1;
    while (end < bytes.size() && !QByteArray(",}\n").contains(bytes[end]))
        ++end;
    bytes.replace(start + 1, end - start - 1, piece);
}

QByteArray TestModelMutations::mutated(const QByteArray &bytes, std::mt19937 &random)
{
    static const QByteArrayList pieces{
        "null", "-1",         "1e308",   "1e999", "\"\"",         "{}",   "[]",       "true",
        "7",    "2147483648", "[1,2,3]", "0.5",   "\"resnet18\"", "\xff", "[[[[]]]]", "[1000000,1000000]"};
    QByteArray changed = bytes;
    for (quint32 edits = 1 + random() % 2; edits > 0 && !changed.isEmpty(); --edits) {
        const qsizetype at = qsizetype(random() % quint32(changed.size()));
        const QByteArray &piece = pieces[random() % quint32(pieces.size())];
        switch (random() % 6) {
        case 0:
            changed.remove(at, qsizetype(random() % 12));
            break;
        case 1:
            changed.insert(at, piece);
            break;
        case 2:
            changed[at] = char(random() % 256);
            break;
        case 3: // another digit keeps the form and changes the meaning
            for (qsizetype i = at; i < changed.size(); ++i) {
                if (changed[i] >= '0' && changed[i] <= '9') {
                    changed[i] = char('0' + random() % 10);
                    break;
                }
            }
            break;
        default:
            replaceValue(changed, at, piece);
            break;
        }
    }
    return changed;
}

void TestModelMutations::modelFiles()
{
    std::mt19937 random(41);
    int read = 0, refused = 0;
    const auto isWhole = [&](const Error &error, const QByteArray &bytes) {
        ++refused;
        const bool whole = error.name == QLatin1String(errors::InvalidModelDirectory) && !error.sentence().isEmpty()
                           && !error.sentence().contains(QLatin1String("%1")) && !error.hintSentence().isEmpty();
        if (!whole)
            qWarning("%s\n%s", qPrintable(error.toString()), bytes.constData());
        return whole;
    };
    for (int i = 0; i < 1500; ++i) {
        const QByteArray bytes = mutated(m_model, random);
        write("model.json", bytes);
        const auto info = readModelInfo(m_folder);
        if (!info.ok()) {
            QVERIFY(isWhole(info.error(), bytes));
            QVERIFY2(info.error().sentence().contains(QLatin1String("model.json")), bytes.constData());
            continue;
        }
        if (const auto sound = checkModel(*info, m_folder); !sound.ok()) {
            QVERIFY(isWhole(sound.error(), bytes));
            continue;
        }
        ++read;
        const auto figures = summarizeModel(info->config, info->channels, info->height, info->width);
        QVERIFY2(figures.ok(), bytes.constData());
        const QByteArray written = modelJson(*info, {});
        write("model.json", written);
        const auto again = readModelInfo(m_folder);
        QVERIFY2(again.ok() && modelJson(*again, {}) == written, bytes.constData());
    }
    QVERIFY2(read > 100 && refused > 500, qPrintable(QStringLiteral("%1 read, %2 refused").arg(read).arg(refused)));
}

void TestModelMutations::untrainedModelFiles()
{
    std::mt19937 random(42);
    int read = 0, refused = 0;
    for (int i = 0; i < 500; ++i) {
        const QByteArray bytes = mutated(m_untrained, random);
        write("untrained_model.json", bytes);
        const auto model = UntrainedModel::read(m_folder);
        if (!model.ok()) {
            ++refused;
            QCOMPARE(model.error().name, QLatin1String(errors::InvalidModelDirectory));
            QVERIFY2(model.error().sentence().contains(QLatin1String("untrained_model.json")), bytes.constData());
            QVERIFY(!model.error().hintSentence().isEmpty());
            continue;
        }
        ++read;
        const auto layout = weightsLayout(model->config);
        QVERIFY2(layout.ok() || layout.error().name == QLatin1String(errors::InvalidModelDirectory), bytes.constData());
    }
    QVERIFY2(read > 20 && refused > 200, qPrintable(QStringLiteral("%1 read, %2 refused").arg(read).arg(refused)));
}

QTEST_GUILESS_MAIN(TestModelMutations)
#include "tst_modelmutations.moc"
