// SPDX-License-Identifier: GPL-3.0-or-later
// Networks of pictures that read one or four channels: by the argument in_channels, which changes the first
// convolution and nothing else.
#include "core/model/weightsfile.h"
#include "core/train/predictor.h"
#include "tests/core/train/families.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <cstring>

using namespace tw;

namespace {

constexpr int edge = 64;
constexpr int classes = 5;

ModelConfig withChannels(const QString &architecture, int channels)
{
    ModelConfig config{architecture, {{QStringLiteral("num_classes"), classes}}};
    if (channels != 3)
        config.arguments.insert(QStringLiteral("in_channels"), channels);
    return config;
}

bool hasFixedInput(const QString &architecture)
{
    return architecture == QLatin1String("mlp") || architecture == QLatin1String("small_cnn");
}

/// Of the families whose networks read 3 channels by themselves; of vit the one with the larger patches.
QStringList oneOfEachFamily()
{
    QStringList names = test::smallestOfEachFamily();
    names.removeIf([](const QString &name) { return hasFixedInput(name); });
    return names.replaceInStrings(QStringLiteral("vit_b_16"), QStringLiteral("vit_b_32"));
}

void addRows(const QStringList &names)
{
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<int>("channels");
    for (const QString &name : names) {
        for (const int channels : {1, 4})
            QTest::addRow("%s, %d", qPrintable(name), channels) << name << channels;
    }
}

/// The one tensor in which the two differ; empty: none or more than one.
std::string onlyDifference(const StateDict &a, const StateDict &b)
{
    std::string name;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (a[i].name != b[i].name || a[i].type != b[i].type)
            return {};
        if (a[i].shape != b[i].shape) {
            if (!name.empty())
                return {};
            name = a[i].name;
        }
    }
    return a.size() == b.size() ? name : std::string();
}

const TensorBlob &named(const StateDict &weights, const std::string &name)
{
    return *std::find_if(weights.begin(), weights.end(), [&](const TensorBlob &blob) { return blob.name == name; });
}

std::vector<float> floats(const TensorBlob &blob)
{
    std::vector<float> values(blob.bytes / sizeof(float));
    std::memcpy(values.data(), blob.data, blob.bytes);
    return values;
}

ModelInfo infoOf(const ModelConfig &config, int channels)
{
    ModelInfo info;
    info.config = config;
    info.channels = channels;
    info.height = info.width = config.architecture.startsWith(u"vit") ? 224 : edge;
    for (int i = 0; i < classes; ++i)
        info.classes.push_back(std::to_string(i));
    return info;
}

/// Logits for one picture, the same in every channel.
Result<std::vector<float>> logitsOf(const ModelInfo &info, const StateDict &weights)
{
    TW_ASSIGN(predictor, Predictor::create(info, weights, QStringLiteral("test"), QStringLiteral("cpu")));
    Batch batch;
    batch.count = 1;
    batch.channels = info.channels;
    batch.height = info.height;
    batch.width = info.width;
    batch.labels = {-1};
    batch.samples = {0};
    std::vector<float> values;
    for (int c = 0; c < info.channels; ++c) {
        for (int i = 0; i < info.height * info.width; ++i)
            values.push_back(float(std::sin(0.01 * i) + std::cos(0.37 * (i % info.width))));
    }
    batch.data = values.data();
    return predictor->logits(batch);
}

} // namespace

class TestInputChannels : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void onlyTheFirstConvolutionChanges_data();
    void onlyTheFirstConvolutionChanges();
    void areRecognised_data() { onlyTheFirstConvolutionChanges_data(); }
    void areRecognised();
    void weightsForColourAreAdapted_data() { addRows(oneOfEachFamily()); }
    void weightsForColourAreAdapted();
    void weightsForOthersBecomeColour_data() { addRows({QStringLiteral("resnet18")}); }
    void weightsForOthersBecomeColour();
    void greyPicturesGiveTheSameLogits_data();
    void greyPicturesGiveTheSameLogits();
    void modelDirectory_data() { addRows({QStringLiteral("mobilenet_v3_small")}); }
    void modelDirectory();
    void picturesHaveNoFourthChannel();
};

void TestInputChannels::onlyTheFirstConvolutionChanges_data()
{
    QStringList names = architectureNames();
    names.removeIf([](const QString &name) { return hasFixedInput(name); });
    QVERIFY(names.size() > 25);
    addRows(names);
}

void TestInputChannels::onlyTheFirstConvolutionChanges()
{
    QFETCH(QString, architecture);
    QFETCH(int, channels);
    const auto usual = weightsLayout(withChannels(architecture, 3));
    const auto other = weightsLayout(withChannels(architecture, channels));
    TW_VERIFY(usual);
    TW_VERIFY(other);
    const std::string name = onlyDifference(*usual, *other);
    QVERIFY(!name.empty());
    std::vector<std::int64_t> shape = named(*usual, name).shape;
    QCOMPARE(shape.size(), 4U);
    QCOMPARE(shape[1], 3);
    shape[1] = channels;
    QCOMPARE(named(*other, name).shape, shape);
}

void TestInputChannels::areRecognised()
{
    QFETCH(QString, architecture);
    QFETCH(int, channels);
    const ModelConfig config = withChannels(architecture, channels);
    const auto layout = weightsLayout(config);
    TW_VERIFY(layout);
    const auto model = recogniseModel(*layout, {}, QStringLiteral("some.pth"));
    TW_VERIFY(model);
    QCOMPARE(model->config.architecture, architecture);
    QCOMPARE(model->config.arguments, config.arguments);
    QVERIFY(model->initial.notes.contains(QStringLiteral("It reads %1 instead of 3 channels.").arg(channels)));
}

/// One channel gets the sum over the three, four get them in turn with three quarters of their values.
void TestInputChannels::weightsForColourAreAdapted()
{
    QFETCH(QString, architecture);
    QFETCH(int, channels);
    const auto colour = weightsLayout(withChannels(architecture, 3));
    TW_VERIFY(colour);
    const StateDict given = test::formulaWeights(*colour);
    const QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "colour.pth";
    TW_VERIFY(writePth(file, given));
    const ModelConfig config = withChannels(architecture, channels);
    TW_VERIFY(checkInitialWeights(config, file));
    const auto initial = readInitialWeights(config, file);
    TW_VERIFY(initial);
    TW_VERIFY(checkWeights(config, initial->weights));
    const std::string name = onlyDifference(given, initial->weights);
    QVERIFY(!name.empty());
    const QString note = initial->notes.join(u' ');
    for (const QString &said : {QStringLiteral("first convolution"), QStringLiteral("3 channels"), architecture,
                                channels == 1 ? QStringLiteral("their sum") : QStringLiteral("repeated and scaled")})
        QVERIFY2(note.contains(said), qPrintable(note));
    const TensorBlob &first = named(given, name);
    const std::vector<float> before = floats(first), after = floats(named(initial->weights, name));
    const auto area = std::size_t(first.shape[2] * first.shape[3]);
    QCOMPARE(after.size(), before.size() / 3 * std::size_t(channels));
    for (std::size_t i = 0; i < after.size(); ++i) {
        const std::size_t output = i / (area * std::size_t(channels)), input = i / area % std::size_t(channels);
        const auto value = [&](std::size_t channel) {
            return double(before[(output * 3 + channel % 3) * area + i % area]);
        };
        const double wanted = channels == 1 ? value(0) + value(1) + value(2) : value(input) * 3 / 4;
        QVERIFY2(std::abs(double(after[i]) - wanted) <= 1e-6, qPrintable(QString::number(i)));
    }
    // All other tensors as they were.
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (given[i].name != name)
            QVERIFY(std::memcmp(given[i].data, initial->weights[i].data, given[i].bytes) == 0);
    }
}

void TestInputChannels::weightsForOthersBecomeColour()
{
    QFETCH(QString, architecture);
    QFETCH(int, channels);
    const auto layout = weightsLayout(withChannels(architecture, channels));
    TW_VERIFY(layout);
    const QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "other.safetensors";
    TW_VERIFY(writeSafetensors(file, test::formulaWeights(*layout)));
    const ModelConfig colour = withChannels(architecture, 3);
    const auto initial = readInitialWeights(colour, file);
    TW_VERIFY(initial);
    TW_VERIFY(checkWeights(colour, initial->weights));
    QVERIFY(initial->notes.join(u' ').contains(QStringLiteral("is for %1 channels").arg(channels)));
    // Of what no picture has, nothing is made up.
    StateDict two = test::formulaWeights(*layout);
    for (TensorBlob &blob : two) {
        if (blob.name == "conv1.weight") {
            blob.shape = {64, 2, 7, 7};
            blob.bytes = std::size_t(64 * 2 * 49) * sizeof(float);
            blob.owner = std::make_shared<std::vector<float>>(64 * 2 * 49);
            blob.data = static_cast<const std::byte *>(
                static_cast<const void *>(std::static_pointer_cast<const std::vector<float>>(blob.owner)->data()));
        }
    }
    TW_VERIFY(writeSafetensors(file, two));
    const auto refused = checkInitialWeights(colour, file);
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().name, QLatin1String(errors::CheckpointMismatch));
    QVERIFY2(refused.error().sentence().contains(QString::fromUtf8("conv1.weight (given 64×2×7×7, needed 64×3×7×7)")),
             qPrintable(refused.error().sentence()));
}

void TestInputChannels::greyPicturesGiveTheSameLogits_data()
{
    QTest::addColumn<QString>("architecture");
    for (const QString &name : oneOfEachFamily())
        QTest::newRow(qPrintable(name)) << name;
}

/// A network with adapted weights says of a picture whose channels are equal what the network of three does.
void TestInputChannels::greyPicturesGiveTheSameLogits()
{
    QFETCH(QString, architecture);
    const auto layout = weightsLayout(withChannels(architecture, 3));
    TW_VERIFY(layout);
    const StateDict given = test::formulaWeights(*layout);
    const auto wanted = logitsOf(infoOf(withChannels(architecture, 3), 3), given);
    TW_VERIFY(wanted);
    const QTemporaryDir folder;
    const fs::path file = fs::path(folder.path().toStdString()) / "colour.safetensors";
    TW_VERIFY(writeSafetensors(file, given));
    const auto initial = readInitialWeights(withChannels(architecture, 1), file);
    TW_VERIFY(initial);
    const auto grey = logitsOf(infoOf(withChannels(architecture, 1), 1), initial->weights);
    TW_VERIFY(grey);
    QCOMPARE(grey->size(), wanted->size());
    const auto [low, high] = std::minmax_element(wanted->begin(), wanted->end());
    const float largest = std::max({1.0F, std::abs(*low), std::abs(*high)});
    QVERIFY(*high - *low > 1e-2F * largest);
    for (std::size_t i = 0; i < grey->size(); ++i)
        QVERIFY2(std::abs((*grey)[i] - (*wanted)[i]) <= 1e-4F * largest,
                 qPrintable(QStringLiteral("%1 and %2").arg((*grey)[i]).arg((*wanted)[i])));
}

void TestInputChannels::modelDirectory()
{
    QFETCH(QString, architecture);
    QFETCH(int, channels);
    const QTemporaryDir folder;
    const fs::path place = folder.path().toStdString();
    const ModelInfo info = infoOf(withChannels(architecture, channels), channels);
    const auto layout = weightsLayout(info.config);
    TW_VERIFY(layout);
    const StateDict weights = test::formulaWeights(*layout);
    TW_VERIFY(writeModelDirectory(place, info, weights, {}));
    const auto read = readModelInfo(place);
    TW_VERIFY(read);
    QCOMPARE(read->channels, channels);
    QCOMPARE(read->config.arguments, info.config.arguments);
    TW_VERIFY(checkModel(*read, place));
    const auto found = readModelWeights(place);
    TW_VERIFY(found);
    TW_VERIFY(checkWeights(read->config, *found));
}

void TestInputChannels::picturesHaveNoFourthChannel()
{
    const ModelInfo info = infoOf(withChannels(QStringLiteral("resnet18"), 4), 4);
    const auto layout = weightsLayout(info.config);
    TW_VERIFY(layout);
    const QTemporaryDir folder;
    const fs::path place = folder.path().toStdString();
    TW_VERIFY(writeModelDirectory(place, info, test::formulaWeights(*layout), {}));
    const auto predictor = Predictor::load(place, QStringLiteral("cpu"));
    QVERIFY(!predictor.ok());
    QCOMPARE(predictor.error().name, QLatin1String(errors::InvalidModelDirectory));
    QVERIFY2(predictor.error().sentence().contains(u"resnet18 reads 4 channels"),
             qPrintable(predictor.error().sentence()));
    QVERIFY(!predictor.error().hintSentence().isEmpty());
}

QTEST_GUILESS_MAIN(TestInputChannels)
#include "tst_inputchannels.moc"
