// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/datasetreport.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <bit>
#include <cmath>
#include <random>

using namespace tw;
using namespace tw::test;

namespace {

/// A picture with structure at all scales, like a photograph's.
ImageBuffer scene(unsigned seed, int width, int height, double brightness = 1, int crop = 0)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::array<std::array<double, 5>, 30> waves{};
    for (auto &wave : waves)
        for (double &value : wave)
            value = uniform(random);
    ImageBuffer out{width, height, std::vector<std::uint8_t>(std::size_t(width) * std::size_t(height) * 3)};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const double u = (x + 0.5 + crop) / (width + 2 * crop), v = (y + 0.5 + crop) / (height + 2 * crop);
            double value = 0;
            for (const auto &wave : waves)
                value += wave[0] * 37 / (1 + std::abs(wave[1]) * 4)
                         * std::cos(30 * (wave[1] * u + wave[2] * v) + 6 * wave[3]);
            for (int c = 0; c < 3; ++c)
                out.row(y)[x * 3 + c] =
                    std::uint8_t(std::clamp((105 + value + 20 * waves[std::size_t(c)][4]) * brightness, 0.0, 255.0));
        }
    return out;
}

struct Sample
{
    ImageBuffer image;
    int category = 0;
    char key = 0; ///< 0: its own
};

ManifestPtr setOf(const std::vector<Sample> &samples, std::vector<std::string> categories = {"cat", "dog"})
{
    auto set = std::make_shared<ImageManifest>();
    set->root = "/pictures";
    set->categories = std::move(categories);
    auto facts = std::make_shared<std::vector<PictureFacts>>();
    for (const Sample &sample : samples) {
        static int number = 0;
        set->add(std::to_string(set->size()) + ".png", sample.category, 1, 1);
        std::string key(ImageManifest::KeyBytes, sample.key ? sample.key : '\x7f');
        if (!sample.key)
            key.replace(0, 8, QByteArray::number(++number).leftJustified(8).toStdString());
        set->setKey(set->size() - 1, key);
        facts->push_back(PictureMeasurer().measure(viewOf(sample.image), ImageFormat::Png));
    }
    set->facts = std::move(facts);
    return set;
}

/// Pictures of these codes and nothing else that could tell them apart.
ManifestPtr setOfCodes(const std::vector<std::uint64_t> &codes)
{
    auto set = std::make_shared<ImageManifest>();
    set->categories = {"a"};
    auto facts = std::make_shared<std::vector<PictureFacts>>(codes.size());
    for (std::size_t i = 0; i < codes.size(); ++i) {
        set->add("x", 0, 1, 1);
        PictureFacts &one = (*facts)[i];
        one.width = one.height = 100;
        one.hasPixels = one.hash.known = true;
        one.hash.code = codes[i];
        one.sums = {1'000'000, 1'000'000, 1'000'000};
        one.squares = {120'000'000, 120'000'000, 120'000'000};
    }
    set->facts = std::move(facts);
    return set;
}

std::vector<std::uint64_t> clusteredCodes(std::size_t count)
{
    std::mt19937_64 random(5);
    std::vector<std::uint64_t> codes;
    while (codes.size() < count) {
        codes.push_back(random());
        for (int near = 0; near < 3; ++near) // differing in up to six bits
            codes.push_back(codes.back() ^ (std::uint64_t(1) << random() % 64) ^ (std::uint64_t(1) << random() % 64));
    }
    return codes;
}

} // namespace

Q_DECLARE_METATYPE(tw::ImageBuffer)

class DatasetReportTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void nearCopies_data();
    void nearCopies();
    void saysNothingOfPlainPictures();
    void leaksAndLabels();
    void sameAsComparingAll();
    void largeBunchesEnd();
    void stops();
    void aMillion();
    void statistics();
    void json();
};

void DatasetReportTest::nearCopies_data()
{
    QTest::addColumn<ImageBuffer>("other");
    QTest::addColumn<bool>("near");
    QTest::newRow("half the size") << scene(1, 160, 120) << true;
    QTest::newRow("larger") << scene(1, 500, 375) << true;
    QTest::newRow("darker") << scene(1, 320, 240, 0.85) << true;
    QTest::newRow("one pixel cut off") << scene(1, 318, 238, 1, -1) << true;
    QTest::newRow("much darker") << scene(1, 320, 240, 0.5) << false;
    QTest::newRow("another") << scene(2, 320, 240) << false;
    QTest::newRow("another shape") << scene(1, 320, 200) << false;
    ImageBuffer colours = scene(1, 320, 240);
    for (std::size_t i = 0; i < colours.pixels.size(); i += 3)
        std::swap(colours.pixels[i], colours.pixels[i + 2]);
    ImageBuffer mirrored = scene(1, 320, 240);
    std::reverse(mirrored.pixels.begin(), mirrored.pixels.end());
    QTest::newRow("upside down") << mirrored << false;
    for (std::size_t i = 0; i < colours.pixels.size(); i += 3)
        colours.pixels[i] = std::uint8_t(std::min(255, colours.pixels[i] + 25));
    QTest::newRow("another colour") << colours << false;
}

void DatasetReportTest::nearCopies()
{
    QFETCH(ImageBuffer, other);
    QFETCH(bool, near);
    const auto found = findDuplicates(*setOf({{scene(1, 320, 240)}, {scene(3, 320, 240)}, {other}}), nullptr);
    TW_VERIFY(found);
    QCOMPARE(found->nearPairs, near ? 1 : 0);
    QCOMPARE(found->exactGroups, 0);
    QCOMPARE(found->compared, 3);
    if (near)
        QVERIFY(found->pairs[0].first.index == 0 && found->pairs[0].second.index == 2);
}

void DatasetReportTest::saysNothingOfPlainPictures()
{
    ImageBuffer plain = scene(1, 100, 100), gradient = plain, bars = plain, faint = plain;
    std::fill(plain.pixels.begin(), plain.pixels.end(), std::uint8_t(200));
    for (std::size_t i = 0; i < gradient.pixels.size(); ++i) {
        gradient.pixels[i] = std::uint8_t(i / 3 % 100 * 2);
        bars.pixels[i] = i / 3 % 100 > 40 && i / 3 % 100 < 60 ? 255 : 0;
        faint.pixels[i] = std::uint8_t(100 + faint.pixels[i] / 32);
    }
    std::vector<Sample> samples;
    for (const ImageBuffer &image : {plain, gradient, bars, faint})
        for (int i = 0; i < 3; ++i)
            samples.push_back({image});
    const auto found = findDuplicates(*setOf(samples), nullptr);
    QCOMPARE(found->leftOut, 12);
    QCOMPARE(found->nearPairs, 0);
}

void DatasetReportTest::leaksAndLabels()
{
    // Exact: A in both, twice in the second; near: 1 in both, under two labels; class ids differ, names count.
    const ManifestPtr training = setOf({{scene(10, 99, 99), 0, 'A'}, {scene(11, 99, 99), 0}, {scene(12, 99, 99), 1}});
    const ManifestPtr validation = setOf({{scene(20, 99, 99), 0},
                                          {scene(10, 99, 99), 1, 'A'},
                                          {scene(10, 99, 99), 1, 'A'},
                                          {scene(11, 80, 80), 0},
                                          {scene(12, 80, 80), 0}},
                                         {"dog", "cat"});
    const auto report = DatasetReport::of(training, validation, {"training", "validation"});
    TW_VERIFY(report);
    const Duplicates &found = report->duplicates();
    QCOMPARE(found.exactGroups, 1);
    QCOMPARE(found.exactSurplus, 2);
    QCOMPARE(found.exactSeveralLabels, 0);
    QCOMPARE(found.exactLeaks, 2);
    QCOMPARE(found.nearPairs, 2);
    QCOMPARE(found.nearSeveralLabels, 1);
    QCOMPARE(found.nearLeaks, 2);
    QVERIFY(found.pairs[0].severalLabels && found.pairs[0].acrossSets);
    QCOMPARE(report->leakSentences("training set", "validation set"),
             QStringList({"2 of 5 pictures of the validation set also stand in the training set.",
                          "2 of 5 pictures of the validation set look almost like one of the training set."}));
    const auto apart = DatasetReport::of(training, setOf({{scene(30, 99, 99)}}), {"a", "b"});
    QVERIFY(apart->leakSentences("a", "b").isEmpty());
}

void DatasetReportTest::sameAsComparingAll()
{
    const std::vector<std::uint64_t> codes = clusteredCodes(3000);
    std::int64_t pairs = 0;
    for (std::size_t i = 0; i < codes.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            pairs += std::popcount(codes[i] ^ codes[j]) <= OrdinaryLimits.code;
    const auto found = findDuplicates(*setOfCodes(codes), nullptr);
    QVERIFY(pairs > 2000);
    QCOMPARE(found->nearPairs, pairs);
    QCOMPARE(found->pairs.size(), Duplicates::Listed);
    QVERIFY(!found->cutShort);
}

void DatasetReportTest::largeBunchesEnd()
{
    const auto found = findDuplicates(*setOfCodes(std::vector<std::uint64_t>(9'000, 0x123456789abcdef0ULL)), nullptr);
    QVERIFY(found->cutShort);
    QVERIFY(found->nearPairs >= 8'500LL * 500);
    QCOMPARE(found->pairs.size(), Duplicates::Listed);
}

void DatasetReportTest::stops()
{
    StopToken stop;
    stop.cancel = true;
    QCOMPARE(findDuplicates(*setOfCodes(clusteredCodes(10)), nullptr, &stop).error().name,
             QLatin1String(errors::Canceled));
}

void DatasetReportTest::aMillion()
{
    // As many with TRAINWRIGHT_HASHES=1000000; the suite makes do with a twentieth.
    bool given = false;
    const int wanted = qEnvironmentVariableIntValue("TRAINWRIGHT_HASHES", &given);
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> codes(std::size_t(given ? wanted : 50'000));
    std::generate(codes.begin(), codes.end(), random);
    const std::size_t planted = codes.size() / 100;
    for (std::size_t i = 0; i < planted; ++i)
        codes.push_back(codes[i] ^ std::uint64_t(0x8000'0001'0000'0010ULL)); // three bits in three parts
    const ManifestPtr set = setOfCodes(codes);
    QElapsedTimer clock;
    clock.start();
    const auto found = findDuplicates(*set, nullptr);
    qInfo("%zu hashes: %lld ms", codes.size(), clock.elapsed());
    QCOMPARE(found->nearPairs, std::int64_t(planted));
    QVERIFY(!found->cutShort);
}

void DatasetReportTest::statistics()
{
    auto set = std::make_shared<ImageManifest>();
    set->categories = {"a", "empty"};
    auto facts = std::make_shared<std::vector<PictureFacts>>();
    for (const auto &[width, height, format] : {std::tuple(10U, 5U, ImageFormat::Jpeg),
                                                {30U, 8U, ImageFormat::Png},
                                                {20U, 8U, ImageFormat::Jpeg},
                                                {10U, 5U, ImageFormat::Gif},
                                                {0U, 0U, ImageFormat::Unknown}}) {
        set->add("x", width == 30 ? -1 : 0, 1, 1);
        PictureFacts one;
        one.width = width;
        one.height = height;
        one.format = format;
        facts->push_back(one);
    }
    set->facts = facts;
    const DatasetStatistics found = statisticsOf(*set);
    QCOMPARE(found.images, 5);
    QCOMPARE(found.unlabelled, 1);
    QCOMPARE(found.measured, 4);
    QVERIFY(found.width.least == 10 && found.width.median == 10 && found.width.largest == 30);
    QVERIFY(found.height.least == 5 && found.height.median == 5 && found.height.largest == 8);
    QCOMPARE(found.differentSizes, 3);
    QVERIFY(found.sizes[0].width == 10 && found.sizes[0].images == 2);
    QCOMPARE(found.formats[0].first, QStringLiteral("JPEG"));
    QCOMPARE(found.formats[0].second, 2);
    QCOMPARE(found.classes[1].second, 0);
    QVERIFY(!found.mean);
}

void DatasetReportTest::json()
{
    const ManifestPtr first = setOf({{scene(1, 64, 64), 0, 'A'}, {scene(2, 64, 64), 1, 'A'}});
    const ManifestPtr second = setOf({{scene(1, 64, 64), 0, 'A'}});
    DataReport notes;
    notes.unreadable.push_back({"a/\xff.png", "it is \"cut\" short"});
    notes.ignoredFiles = {"x.txt"};
    const auto report = DatasetReport::of(first, second, {"training", "validation"});
    const QJsonObject json = QJsonDocument::fromJson(report->toJson(notes, 1)).object();
    QCOMPARE(json["format"].toString(), QStringLiteral("trainwright-data-report"));
    QCOMPARE(json["images"].toInt(), 1);
    QCOMPARE(json["part"].toString(), QStringLiteral("validation"));
    QCOMPARE(json["unreadable"][0]["reason"].toString(), QStringLiteral("it is \"cut\" short"));
    QVERIFY(json["unreadable"][0]["path"].isObject() || json["unreadable"][0]["path"].toString().contains(u'%'));
    QCOMPARE(json["ignored"][0].toString(), QStringLiteral("x.txt"));
    for (const char *key : {"skipped_folders", "empty_classes", "warnings", "formats", "parts", "mean_rgb"})
        QVERIFY2(json[QLatin1String(key)].isArray(), key);
    QCOMPARE(json["parts"].toArray().size(), 2);
    QCOMPARE(json["leakage"]["exact"].toInt(), 1);
    const QJsonValue group = json["duplicates"]["listed"][0];
    QCOMPARE(group["images"].toInt(), 3);
    QVERIFY(group["several_labels"].toBool() && group["leak"].toBool());
    QCOMPARE(group["pictures"][1]["class"].toString(), QStringLiteral("dog"));
    QCOMPARE(group["pictures"][2]["part"].toString(), QStringLiteral("validation"));
    QCOMPARE(json["sizes"]["width"]["max"].toInt(), 64);
    const auto alone = DatasetReport::of(first);
    const QJsonObject one = QJsonDocument::fromJson(alone->toJson({})).object();
    QVERIFY(!one.contains("leakage") && !one.contains("parts"));
}

QTEST_GUILESS_MAIN(DatasetReportTest)
#include "tst_datasetreport.moc"
