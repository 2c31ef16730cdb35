// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/data/transforms.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <set>

using namespace tw;
using namespace tw::test;
using Kind = TransformOp::Kind;

namespace {

Result<ImageBuffer> run(const ImageBuffer &image, const TransformList &list, std::uint32_t sample = 0)
{
    SampleRandom random(1, RandomPurpose::Augment, 1, sample);
    return applyTransforms(image, list, random, "set/picture.png");
}

std::vector<std::uint8_t> pixelAt(const ImageBuffer &image, int x, int y)
{
    return {image.row(y) + 3 * x, image.row(y) + 3 * x + 3};
}

QByteArray keyOf(const ImageBuffer &image)
{
    return {reinterpret_cast<const char *>(image.pixels.data()), qsizetype(image.pixels.size())};
}

TransformOp bicubic(int size)
{
    TransformOp op{Kind::Resize, size};
    op.interpolation = Interpolation::Bicubic;
    return op;
}

QJsonArray parse(const char *json)
{
    return QJsonDocument::fromJson(json).array();
}

} // namespace

class TransformsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void resizeShorterEdge_data();
    void resizeShorterEdge();
    void centerCropRoundsHalfToEven();
    void cropsThatDoNotFit();
    void resultsThatAreTooLarge();
    void pad();
    void grayscale();
    void flips();
    void randomCropsCoverAllPlaces();
    void randomResizedCropStaysInRange();
    void thinImages();
    void inferenceAndSizes();
    void jsonRoundTrip();
    void jsonRefused_data();
    void jsonRefused();
    void scoreScriptGivesTheSame();
};

void TransformsTest::resizeShorterEdge_data()
{
    QTest::addColumn<QSize>("from");
    QTest::addColumn<int>("size");
    QTest::addColumn<QSize>("to");
    QTest::newRow("wide") << QSize(500, 375) << 256 << QSize(341, 256);
    QTest::newRow("tall") << QSize(375, 500) << 256 << QSize(256, 341);
    QTest::newRow("square") << QSize(30, 30) << 64 << QSize(64, 64);
    QTest::newRow("same") << QSize(7, 5) << 5 << QSize(7, 5);
    QTest::newRow("one pixel") << QSize(1, 1) << 3 << QSize(3, 3);
    QTest::newRow("thin") << QSize(1, 40) << 2 << QSize(2, 80);
}

void TransformsTest::resizeShorterEdge()
{
    QFETCH(const QSize, from);
    QFETCH(const int, size);
    QFETCH(const QSize, to);
    const auto image = run(patternImage(from.width(), from.height(), 1), {{Kind::Resize, size}});
    TW_VERIFY(image);
    QCOMPARE(QSize(image->width, image->height), to);
    QVERIFY(*image == resizeExact(patternImage(from.width(), from.height(), 1), to.width(), to.height()));
}

void TransformsTest::centerCropRoundsHalfToEven()
{
    const ImageBuffer image = patternImage(13, 11, 2);
    const auto even = run(image, {{Kind::CenterCrop, 8}}); // (13−8)/2 = 2.5 → 2, (11−8)/2 = 1.5 → 2
    TW_VERIFY(even);
    QCOMPARE(pixelAt(*even, 0, 0), pixelAt(image, 2, 2));
    QCOMPARE(pixelAt(*even, 7, 7), pixelAt(image, 9, 9));
    const auto whole = run(image, {{Kind::CenterCrop, 11}});
    TW_VERIFY(whole);
    QCOMPARE(pixelAt(*whole, 0, 0), pixelAt(image, 1, 0));
}

void TransformsTest::cropsThatDoNotFit()
{
    for (const Kind kind : {Kind::CenterCrop, Kind::RandomCrop}) {
        const auto image = run(patternImage(13, 11, 2), {{kind, 12}});
        QVERIFY(!image.ok());
        QCOMPARE(image.error().name, QLatin1String(errors::InvalidDataset));
        const QString sentence = image.error().sentence();
        for (const char *part : {"12", "13 × 11", "set/picture.png"})
            QVERIFY2(sentence.contains(QString::fromUtf8(part)), qPrintable(sentence));
    }
}

// Nothing asks for more memory than the largest picture that is read.
void TransformsTest::resultsThatAreTooLarge()
{
    const ImageBuffer thin = patternImage(1, 60000, 2);
    for (const TransformOp &op :
         {TransformOp{Kind::Resize, 256}, TransformOp{Kind::Pad, 65535}, TransformOp{Kind::RandomResizedCrop, 65535}}) {
        const auto image = run(thin, {op});
        QVERIFY(!image.ok());
        QCOMPARE(image.error().name, QLatin1String(errors::InvalidDataset));
        const QString sentence = image.error().sentence();
        for (const QString &part : {QString::number(op.size), QStringLiteral("1 × 60000"),
                                    QStringLiteral("set/picture.png"), QStringLiteral("178,956,970")})
            QVERIFY2(sentence.contains(part), qPrintable(sentence));
        QVERIFY(!image.error().hint.isEmpty());
        QCOMPARE(outputSize({op}, 1, 60000, "set/picture.png").error().sentence(), sentence);
    }
}

void TransformsTest::pad()
{
    const ImageBuffer image = patternImage(4, 3, 2);
    const auto padded = run(image, {{Kind::Pad, 2}});
    TW_VERIFY(padded);
    QCOMPARE(QSize(padded->width, padded->height), QSize(8, 7));
    QCOMPARE(pixelAt(*padded, 1, 3), (std::vector<std::uint8_t>{0, 0, 0}));
    QCOMPARE(pixelAt(*padded, 2, 2), pixelAt(image, 0, 0));
    QCOMPARE(pixelAt(*padded, 5, 4), pixelAt(image, 3, 2));
    QVERIFY(*run(image, {{Kind::Pad, 0}}) == image);
}

void TransformsTest::grayscale()
{
    const ImageBuffer image{2, 1, {255, 0, 0, 10, 200, 30}};
    const auto gray = run(image, {{Kind::Grayscale}});
    TW_VERIFY(gray);
    QCOMPARE(gray->pixels, (std::vector<std::uint8_t>{76, 76, 76, 124, 124, 124}));
}

void TransformsTest::flips()
{
    const ImageBuffer image = patternImage(5, 4, 2);
    TransformOp horizontal{Kind::RandomHorizontalFlip}, vertical{Kind::RandomVerticalFlip};
    horizontal.p = vertical.p = 1;
    QCOMPARE(pixelAt(*run(image, {horizontal}), 0, 1), pixelAt(image, 4, 1));
    QCOMPARE(pixelAt(*run(image, {vertical}), 3, 0), pixelAt(image, 3, 3));
    QVERIFY(*run(image, {horizontal, vertical, horizontal, vertical}) == image);
    horizontal.p = 0;
    QVERIFY(*run(image, {horizontal}) == image);
    horizontal.p = 0.5;
    int flipped = 0;
    for (std::uint32_t sample = 0; sample < 1000; ++sample)
        flipped += *run(image, {horizontal}, sample) == image ? 0 : 1;
    QVERIFY(flipped > 440 && flipped < 560);
}

void TransformsTest::randomCropsCoverAllPlaces()
{
    const ImageBuffer image = patternImage(6, 5, 2);
    std::set<QByteArray> corners;
    for (std::uint32_t sample = 0; sample < 500; ++sample)
        corners.insert(keyOf(*run(image, {{Kind::RandomCrop, 3}}, sample)).left(3));
    QCOMPARE(corners.size(), std::size_t(12));
    QVERIFY(*run(patternImage(3, 3, 1), {{Kind::RandomCrop, 3}}) == patternImage(3, 3, 1));
}

void TransformsTest::randomResizedCropStaysInRange()
{
    TransformOp op{Kind::RandomResizedCrop, 9};
    std::set<QByteArray> seen;
    for (std::uint32_t sample = 0; sample < 300; ++sample) {
        const auto image = run(patternImage(40, 30, 1), {op}, sample);
        TW_VERIFY(image);
        QCOMPARE(QSize(image->width, image->height), QSize(9, 9));
        QVERIFY(*image == *run(patternImage(40, 30, 1), {op}, sample));
        seen.insert(keyOf(*image));
    }
    QVERIFY(seen.size() > 290);
    op.scaleLow = 1;
    op.ratioLow = op.ratioHigh = 1; // never fits 40 × 30: the largest centred square
    QVERIFY(*run(patternImage(40, 30, 1), {op}) == resizedCropExact(patternImage(40, 30, 1), 5, 0, 30, 30, 9, 9));
}

void TransformsTest::thinImages()
{
    for (const QSize size : {QSize(1, 1), QSize(1, 300), QSize(300, 1), QSize(2, 1)}) {
        const auto image = run(patternImage(size.width(), size.height(), 1), {{Kind::RandomResizedCrop, 8}});
        TW_VERIFY(image);
        QCOMPARE(QSize(image->width, image->height), QSize(8, 8));
    }
}

void TransformsTest::inferenceAndSizes()
{
    const TransformList list{
        {Kind::Resize, 256}, {Kind::RandomCrop, 224}, {Kind::CenterCrop, 200}, {Kind::RandomHorizontalFlip}};
    QVERIFY(forInference(list) == (TransformList{{Kind::Resize, 256}, {Kind::CenterCrop, 200}}));
    QVERIFY(!fixedOutputSize({{Kind::Resize, 256}}));
    QVERIFY(fixedOutputSize(list) == std::pair(200, 200));
    QVERIFY(fixedOutputSize({{Kind::CenterCrop, 200}, {Kind::Pad, 4}}) == std::pair(208, 208));
    QVERIFY(fixedOutputSize({{Kind::CenterCrop, 200}, {Kind::Resize, 64}}) == std::pair(64, 64));
    QVERIFY(!fixedOutputSize({}));
    for (int kind = 0; kind <= int(Kind::RandomErasing); ++kind) {
        const TransformOp op = defaultOp(Kind(kind));
        const bool random = !QList<Kind>{Kind::Resize, Kind::CenterCrop, Kind::Pad, Kind::Grayscale}.contains(op.kind);
        QCOMPARE(isRandom(op), random);
        QCOMPARE(forInference({op}).empty(), random);
        // Operations without a size keep the one that there is.
        if (op.kind == Kind::Grayscale || (random && op.kind != Kind::RandomCrop && op.kind != Kind::RandomResizedCrop))
            QVERIFY(fixedOutputSize({{Kind::CenterCrop, 20}, op}) == std::pair(20, 20)
                    && *outputSize({op}, 30, 7, "x") == std::pair(30, 7)
                    && fitsEveryImage({{Kind::Resize, 9}, op, {Kind::CenterCrop, 9}}));
    }
}

void TransformsTest::jsonRoundTrip()
{
    TransformOp crop{Kind::RandomResizedCrop, 224};
    crop.scaleLow = 0.1;
    crop.ratioHigh = 1.5;
    TransformOp flip{Kind::RandomVerticalFlip};
    flip.p = 0.25;
    TransformList list{{Kind::Resize, 256},
                       {Kind::CenterCrop, 224},
                       {Kind::Pad, 3},
                       {Kind::Grayscale},
                       crop,
                       {Kind::RandomCrop, 20},
                       {Kind::RandomHorizontalFlip},
                       flip};
    for (int kind = 0; kind <= int(Kind::RandomErasing); ++kind) {
        list.push_back(defaultOp(Kind(kind)));
        list.back().size = kind == int(Kind::Resize) || kind == int(Kind::CenterCrop) || kind == int(Kind::RandomCrop)
                                   || kind == int(Kind::RandomResizedCrop)
                               ? 7
                               : 0;
    }
    TransformOp &rand = list[list.size() - 2];
    rand.numOps = 4;
    rand.magnitude = 0;
    for (TransformOp op : {list[0], crop}) {
        op.interpolation = Interpolation::Bicubic;
        list.insert(list.begin(), op);
    }
    const auto again = transformsFromJson(transformsToJson(list));
    TW_VERIFY(again);
    QVERIFY(*again == list);
    QCOMPARE(QJsonDocument(transformsToJson({{Kind::Resize, 256}})).toJson(QJsonDocument::Compact),
             QByteArray(R"([{"op":"resize","size":256}])"));
    QCOMPARE(jsonCompact(transformsToJson({list[1]})),
             QByteArray(R"([{"interpolation":"bicubic","op":"resize","size":256}])"));
    const auto said = transformsFromJson(parse(R"([{"op":"resize","size":256,"interpolation":"bilinear"}])"));
    TW_VERIFY(said);
    QVERIFY(*said == (TransformList{{Kind::Resize, 256}}));
}

void TransformsTest::jsonRefused_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("part");
    QTest::newRow("unknown") << QByteArray(R"([{"op":"resize","size":1},{"op":"swirl"}])") << "swirl";
    QTest::newRow("no size") << QByteArray(R"([{"op":"grayscale"},{"op":"resize"}])") << "has no \"size\"";
    QTest::newRow("size 0") << QByteArray(R"([{"op":"grayscale"},{"op":"center_crop","size":0}])") << "is 0";
    QTest::newRow("size text") << QByteArray(R"([{"op":"grayscale"},{"op":"center_crop","size":"8"}])") << "is \"8\"";
    QTest::newRow("size half") << QByteArray(R"([{"op":"grayscale"},{"op":"center_crop","size":8.5}])") << "8.5";
    QTest::newRow("size huge") << QByteArray(R"([{"op":"grayscale"},{"op":"center_crop","size":1e9}])") << "1000000000";
    QTest::newRow("probability") << QByteArray(R"([{"op":"grayscale"},{"op":"random_horizontal_flip","p":1.5}])")
                                 << "1.5";
    QTest::newRow("scale") << QByteArray(
        R"([{"op":"grayscale"},{"op":"random_resized_crop","size":8,"scale":[0,1],"ratio":[1,1]}])")
                           << "[0,1]";
    QTest::newRow("ratio order") << QByteArray(
        R"([{"op":"grayscale"},{"op":"random_resized_crop","size":8,"scale":[0.1,1],"ratio":[2,1]}])")
                                 << "[2,1]";
    QTest::newRow("no object") << QByteArray(R"([{"op":"grayscale"},7])") << "\"\"";
    const auto row = [](const char *op, const char *part) {
        QTest::newRow(op) << R"([{"op":"grayscale"},)" + QByteArray(op) + ']' << part;
    };
    row(R"({"op":"pad","padding":-1})", "\"padding\" is -1");
    row(R"({"op":"random_crop"})", "has no \"size\"");
    row(R"({"op":"resize","size":8,"interpolation":"nearest"})",
        R"("interpolation" is "nearest"; it must be "bilinear" or "bicubic")");
    row(R"({"op":"random_resized_crop","size":8,"scale":[0.5,1],"ratio":[1,1],"interpolation":3})",
        R"("interpolation" is 3; it must be "bilinear" or "bicubic")");
    row(R"({"op":"resize","size":8,"interpolation":null})", "\"interpolation\" is null");
    row(R"({"op":"color_jitter","brightness":-0.5,"contrast":0,"saturation":0,"hue":0})", "\"brightness\" is -0.5");
    row(R"({"op":"color_jitter","brightness":0,"contrast":2000,"saturation":0,"hue":0})", "\"contrast\" is 2000");
    row(R"({"op":"color_jitter","brightness":0,"contrast":0,"saturation":"1","hue":0})", "\"saturation\" is \"1\"");
    row(R"({"op":"color_jitter","brightness":0,"contrast":0,"saturation":0,"hue":0.75})", "\"hue\" is 0.75");
    row(R"({"op":"random_rotation"})", "has no \"degrees\"");
    row(R"({"op":"random_rotation","degrees":180.5})", "\"degrees\" is 180.5");
    row(R"({"op":"random_affine","degrees":0,"translate":2,"scale":[1,1],"shear":0})", "\"translate\" is 2");
    row(R"({"op":"random_affine","degrees":0,"translate":0,"scale":[0,1],"shear":0})", "\"scale\" is [0,1]");
    row(R"({"op":"random_affine","degrees":0,"translate":0,"scale":[1,1],"shear":90})", "\"shear\" is 90");
    row(R"({"op":"random_grayscale","p":null})", "\"p\" is null");
    row(R"({"op":"random_perspective","p":0.5,"distortion":-1})", "\"distortion\" is -1");
    row(R"({"op":"rand_augment","num_ops":0,"magnitude":9})", "\"num_ops\" is 0");
    row(R"({"op":"rand_augment","num_ops":2,"magnitude":30.5})", "\"magnitude\" is 30.5");
    row(R"({"op":"random_erasing","p":0.5,"scale":[0.33,0.02],"ratio":[0.3,3.3]})", "\"scale\" is [0.33,0.02]");
    row(R"({"op":"random_erasing","p":0.5,"scale":[0.02,0.33]})", "has no \"ratio\"");
    row(R"({"op":"random_erasing","p":0.5,"scale":[0.02,0.33],"ratio":[0.3,3.3]},{"op":"grayscale"})",
        "must be the last");
}

void TransformsTest::jsonRefused()
{
    QFETCH(const QByteArray, json);
    const auto list = transformsFromJson(parse(json.constData()));
    QVERIFY(!list.ok());
    QCOMPARE(list.error().name, QLatin1String(errors::InvalidTransformationDirectory));
    QFETCH(const QString, part);
    for (const QString &expected : {QStringLiteral("Operation 2"), part})
        QVERIFY2(list.error().sentence().contains(expected), qPrintable(list.error().sentence()));
    QVERIFY(!list.error().hint.isEmpty());
}

// score.py in a model directory knows every operation that may stand there.
void TransformsTest::scoreScriptGivesTheSame()
{
    const QString python = QStringLiteral("/usr/bin/python3");
    if (runProcess(python, {QStringLiteral("-c"), QStringLiteral("import PIL")}).exitCode != 0)
        QSKIP("Pillow not found");
    const std::vector<TransformList> lists{
        {{Kind::Resize, 9}, {Kind::CenterCrop, 6}, {Kind::Pad, 3}, {Kind::Grayscale}},
        {{Kind::Resize, 40}},
        {bicubic(40)},
        {bicubic(9), {Kind::CenterCrop, 6}},
        {{Kind::CenterCrop, 4}},
        {{Kind::Pad, 5}},
        {{Kind::Pad, 0}, {Kind::Grayscale}},
        {{Kind::Pad, 8}, {Kind::CenterCrop, 11}, {Kind::Resize, 7}}};
    QTemporaryDir folder;
    QByteArray jobs;
    std::vector<QByteArray> expected;
    for (const QSize size : {QSize(20, 17), QSize(17, 20), QSize(5, 90), QSize(31, 4)})
        for (const TransformList &list : lists) {
            const ImageBuffer image = patternImage(size.width(), size.height(), 3);
            const auto out = run(image, list);
            TW_VERIFY(out);
            writeBytes(fs::path(folder.path().toStdString()) / (std::to_string(expected.size()) + ".ppm"),
                       ppmOf(image));
            jobs += jsonCompact(transformsToJson(list)) + '\n';
            expected.push_back(blake2b(keyOf(*out)));
        }
    const auto outcome = runProcess(python,
                                    {displayPath(sourceFolder() / "tests/data/score_transforms.py"),
                                     displayPath(sourceFolder() / "core/model/score.py"), folder.path()},
                                    60000, jobs);
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    const QList<QByteArray> keys = outcome.out.trimmed().split('\n');
    QCOMPARE(std::size_t(keys.size()), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        QCOMPARE(keys[qsizetype(i)], expected[i]);
}

QTEST_GUILESS_MAIN(TransformsTest)
#include "tst_transforms.moc"
