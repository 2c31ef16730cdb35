// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/component/componentregistry.h"
#include "core/component/portobjects.h"
#include "core/data/datasetscan.h"
#include "core/data/imagereader.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/recordingcontext.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <memory>
#include <set>

using namespace tw;
using namespace tw::test;
using Kind = TransformOp::Kind;

namespace {

QStringList filesBelow(const fs::path &folder)
{
    QStringList names;
    for (const auto &entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file())
            names.append(QString::fromStdString(entry.path().lexically_relative(folder).native()));
    names.sort();
    return names;
}

ImageManifest scanned(const fs::path &path, const ScanOptions &options = {})
{
    auto scan = scanDataset(path, options);
    if (!scan.ok())
        qFatal("%s", qPrintable(scan.error().toString()));
    return std::move(scan->manifest);
}

TransformOp sized(Kind kind, int size)
{
    TransformOp op = defaultOp(kind);
    op.size = size;
    return op;
}

} // namespace

/// Apply Image Transformation: what it attaches and what it writes with `materialize`.
class TestApplyImageTransformation : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void inferenceWritesWhatTheListGives();
    void trainingWritesOneVariant();
    void movesWithItsFolder();
    void numbersOfIdxStayGray();
    void unlabelledImagesLieFlat();
    void classNamesSurvive();
    void unreadableImages_data();
    void unreadableImages();
    void erasingIsLeftOutAloud();
    void cropsThatDoNotFit();
    void canceledLeavesNothing();
    void attachedUnlessAsked();
    void preflight();
    void modeIsRequired();

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    fs::path outFolder();
    Result<RunReply> apply(const ImageManifest &manifest, const TransformList &list, const QVariantMap &stored);
    ParameterValues values(const QVariantMap &stored) const;

    ComponentRegistry m_registry;
    const ComponentType *m_type = nullptr;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<RecordingContext> m_context;
    fs::path m_out;
    int m_runs = 0;
};

void TestApplyImageTransformation::initTestCase()
{
    registerAllComponents(m_registry);
    m_type = m_registry.find(QStringLiteral("apply-image-transformation"));
    QVERIFY(m_type);
}

void TestApplyImageTransformation::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_context = std::make_unique<RecordingContext>(folder() / "job");
}

// Names that are not UTF-8 are none to QTemporaryDir.
void TestApplyImageTransformation::cleanup()
{
    std::error_code ignored;
    fs::remove_all(folder(), ignored);
    m_folder.reset();
}

fs::path TestApplyImageTransformation::outFolder()
{
    m_out = folder() / ("out" + std::to_string(++m_runs));
    fs::create_directories(m_out);
    return m_out;
}

ParameterValues TestApplyImageTransformation::values(const QVariantMap &stored) const
{
    ParameterValues given;
    for (auto it = stored.begin(); it != stored.end(); ++it)
        given.set(it.key(), it.value());
    return m_type->schema.effective(given);
}

Result<RunReply> TestApplyImageTransformation::apply(const ImageManifest &manifest, const TransformList &list,
                                                     const QVariantMap &stored)
{
    const ParameterValues effective = values(stored);
    const QMap<QString, PortValue> inputs{
        {"transformation", {{}, list}},
        {"image_directory", {{}, ManifestPtr(std::make_shared<const ImageManifest>(manifest))}}};
    return m_type->run({effective, inputs, {{"image_directory", outFolder()}}, *m_context});
}

void TestApplyImageTransformation::inferenceWritesWhatTheListGives()
{
    writeClassFolders(folder() / "set", 9, 31, 22);
    const TransformList list{sized(Kind::Resize, 16), sized(Kind::CenterCrop, 12), defaultOp(Kind::ColorJitter)};
    TW_VERIFY(apply(scanned(folder() / "set"), list, {{"mode", "for_inference"}, {"materialize", true}}));
    const auto written = ImageManifest::read(m_out);
    TW_VERIFY(written);
    QVERIFY(!written->transforms);
    QVERIFY(!written->transformsForTraining);
    QCOMPARE(written->categories, (std::vector<std::string>{"a", "b", "c"}));
    QCOMPARE(written->counts(), (std::vector<std::int64_t>{3, 3, 3}));
    const auto reader = ImageReader::open(std::make_shared<const ImageManifest>(*written));
    TW_VERIFY(reader);
    const auto image = (*reader)->read(0);
    TW_VERIFY(image);
    QCOMPARE(std::pair(image->width, image->height), std::pair(12, 12));
    // Whoever lists the folder finds the same classes.
    const ImageManifest listed = scanned(m_out);
    QCOMPARE(listed.categories, written->categories);
    QCOMPARE(listed.counts(), written->counts());
    QCOMPARE(m_context->results.value("images").toInt(), 9);
    QCOMPARE(m_context->results.value("operations").toInt(), 2);
}

void TestApplyImageTransformation::trainingWritesOneVariant()
{
    writeClassFolders(folder() / "set", 9, 31, 22);
    const ImageManifest set = scanned(folder() / "set");
    const TransformList list{sized(Kind::RandomResizedCrop, 12), defaultOp(Kind::TrivialAugment)};
    std::vector<QByteArray> first;
    for (int turn = 0; turn < 2; ++turn) {
        TW_VERIFY(apply(set, list, {{"mode", "for_training"}, {"materialize", true}}));
        const auto written = ImageManifest::read(m_out);
        TW_VERIFY(written);
        QVERIFY(written->transformsForTraining && !written->transforms);
        std::vector<QByteArray> bytes;
        for (std::size_t i = 0; i < written->size(); ++i)
            bytes.push_back(*readFile(written->displayName(i), errors::Library));
        QVERIFY(turn == 0 || bytes == first); // the same variant each time
        first = bytes;
    }
    QCOMPARE(first.size(), std::size_t(9));
}

void TestApplyImageTransformation::movesWithItsFolder()
{
    writeClassFolders(folder() / "set", 6, 8, 8);
    TW_VERIFY(apply(scanned(folder() / "set"), {}, {{"mode", "for_inference"}, {"materialize", true}}));
    fs::rename(m_out, folder() / "elsewhere");
    fs::remove_all(folder() / "set");
    const auto moved = ImageManifest::read(folder() / "elsewhere");
    TW_VERIFY(moved);
    QCOMPARE(moved->root, folder() / "elsewhere");
    const auto reader = ImageReader::open(std::make_shared<const ImageManifest>(*moved));
    TW_VERIFY(reader);
    for (std::size_t i = 0; i < 6; ++i)
        QVERIFY((*reader)->read(i).ok());
}

void TestApplyImageTransformation::numbersOfIdxStayGray()
{
    const fs::path pair = writeIdxPair(folder() / "idx", 6, 9, 7);
    ScanOptions options;
    options.classNames = {"T-shirt/top", "..", "caf\xC3\xA9"};
    TW_VERIFY(apply(scanned(pair, options), {sized(Kind::Pad, 1)}, {{"mode", "for_inference"}, {"materialize", true}}));
    QCOMPARE(filesBelow(m_out),
             (QStringList{"%2E./000001.png", "%2E./000004.png", "T-shirt%2Ftop/000000.png", "T-shirt%2Ftop/000003.png",
                          QString::fromUtf8("caf\xC3\xA9/000002.png"), QString::fromUtf8("caf\xC3\xA9/000005.png"),
                          "data_report.json", "image_directory.json", "images.jsonl"}));
    const auto written = ImageManifest::read(m_out);
    TW_VERIFY(written);
    QCOMPARE(written->categories, options.classNames);
    const auto bytes = readFile(written->displayName(0), errors::Library);
    TW_VERIFY(bytes);
    QCOMPARE(int(bytes->at(24)), 8); // bits
    QCOMPARE(int(bytes->at(25)), 0); // colour type: gray
    const auto reader = ImageReader::open(std::make_shared<const ImageManifest>(*written));
    const auto image = (*reader)->read(0);
    TW_VERIFY(image);
    QCOMPARE(std::pair(image->width, image->height), std::pair(9, 11));
}

void TestApplyImageTransformation::unlabelledImagesLieFlat()
{
    writeBytes(folder() / "set" / "one.ppm", ppmOf(patternImage(5, 4, 1)));
    writeBytes(folder() / "set" / "two.ppm", ppmOf(patternImage(5, 4, 2)));
    TW_VERIFY(apply(scanned(folder() / "set"), {}, {{"mode", "for_inference"}, {"materialize", true}}));
    QCOMPARE(filesBelow(m_out), (QStringList{"000000_one.png", "000001_two.png", "data_report.json",
                                             "image_directory.json", "images.jsonl"}));
    QVERIFY(!ImageManifest::read(m_out)->isLabelled());
}

void TestApplyImageTransformation::classNamesSurvive()
{
    const std::string longName(300, 'x');
    const std::vector<std::string> names{"a/b", "a%2Fb", longName + "1", longName + "2", "b\xFF"};
    ImageManifest manifest;
    manifest.root = folder() / "set";
    manifest.categories = names;
    for (int i = 0; i < int(names.size()); ++i) {
        const std::string file = std::string(120, char('p' + i)) + ".ppm";
        writeBytes(manifest.root / file, ppmOf(patternImage(4, 4, unsigned(i))));
        manifest.add(file, i, 1, 1);
    }
    TW_VERIFY(apply(manifest, {}, {{"mode", "for_inference"}, {"materialize", true}}));
    const auto written = ImageManifest::read(m_out);
    TW_VERIFY(written);
    QCOMPARE(written->categories, names);
    QCOMPARE(written->counts(), (std::vector<std::int64_t>{1, 1, 1, 1, 1}));
    std::set<std::string> folders;
    for (const auto &entry : fs::directory_iterator(m_out))
        if (entry.is_directory())
            folders.insert(entry.path().filename().native());
    QCOMPARE(folders.size(), names.size());
}

void TestApplyImageTransformation::unreadableImages_data()
{
    QTest::addColumn<int>("broken");
    QTest::addColumn<bool>("skip");
    QTest::addColumn<bool>("works");
    QTest::newRow("skip one of 20") << 1 << true << true;
    QTest::newRow("skip too many") << 3 << true << false;
    QTest::newRow("fail") << 1 << false << false;
}

void TestApplyImageTransformation::unreadableImages()
{
    QFETCH(const int, broken);
    QFETCH(const bool, skip);
    QFETCH(const bool, works);
    writeClassFolders(folder() / "set", 20, 8, 8);
    ImageManifest set = scanned(folder() / "set");
    set.skipUnreadable = skip;
    for (int i = 0; i < broken; ++i)
        writeBytes(set.displayName(std::size_t(4 + i)), "P6 no picture");
    const auto reply = apply(set, {}, {{"mode", "for_inference"}, {"materialize", true}});
    QCOMPARE(reply.ok(), works);
    if (!works) {
        QCOMPARE(reply.error().name, QLatin1String(errors::InvalidDataset));
        QVERIFY(reply.error().sentence().contains(skip ? QStringLiteral("of 20 images")
                                                       : QString::fromStdString(set.displayName(4))));
        QCOMPARE(filesBelow(m_out), QStringList());
        return;
    }
    QCOMPARE(ImageManifest::read(m_out)->size(), std::size_t(19));
    QCOMPARE(m_context->warnings.size(), 1);
    QVERIFY(m_context->warnings[0].contains(QString::fromStdString(set.displayName(4))));
    QCOMPARE(m_context->results.value("unreadable").toInt(), 1);
}

void TestApplyImageTransformation::erasingIsLeftOutAloud()
{
    writeClassFolders(folder() / "set", 3, 8, 8);
    TransformOp erasing = defaultOp(Kind::RandomErasing);
    erasing.p = 1;
    TW_VERIFY(apply(scanned(folder() / "set"), {erasing}, {{"mode", "for_training"}, {"materialize", true}}));
    QCOMPARE(m_context->warnings.size(), 1);
    QVERIFY(m_context->warnings[0].contains(QStringLiteral("Random erasing")));
    const auto written = ImageManifest::read(m_out);
    TW_VERIFY(written);
    QVERIFY(!written->transforms);
}

void TestApplyImageTransformation::cropsThatDoNotFit()
{
    writeClassFolders(folder() / "set", 6, 30, 20);
    writeBytes(folder() / "set" / "b" / "1.ppm", ppmOf(patternImage(9, 11, 1)));
    const auto reply = apply(scanned(folder() / "set"), {sized(Kind::CenterCrop, 16)},
                             {{"mode", "for_training"}, {"materialize", true}});
    QVERIFY(!reply.ok());
    QCOMPARE(reply.error().name, QLatin1String(errors::InvalidDataset));
    for (const char *part : {"b/1.ppm", "16 × 16", "9 × 11"})
        QVERIFY2(reply.error().sentence().contains(QString::fromUtf8(part)), qPrintable(reply.error().sentence()));
    QVERIFY(!reply.error().hint.isEmpty());
    QCOMPARE(filesBelow(m_out), QStringList());
}

void TestApplyImageTransformation::canceledLeavesNothing()
{
    writeClassFolders(folder() / "set", 12, 8, 8);
    m_context->stop.cancel = true;
    for (const bool measures : {false, true}) {
        const TransformList list = measures ? TransformList{sized(Kind::CenterCrop, 4)} : TransformList{};
        const auto reply = apply(scanned(folder() / "set"), list, {{"mode", "for_inference"}, {"materialize", true}});
        QVERIFY(!reply.ok());
        QCOMPARE(reply.error().name, QLatin1String(errors::Canceled));
        QCOMPARE(filesBelow(m_out), QStringList());
    }
}

void TestApplyImageTransformation::attachedUnlessAsked()
{
    writeClassFolders(folder() / "set", 6, 8, 8);
    const TransformList list{sized(Kind::Resize, 16), defaultOp(Kind::RandomErasing)};
    TW_VERIFY(apply(scanned(folder() / "set"), list, {{"mode", "for_training"}}));
    QCOMPARE(filesBelow(m_out), (QStringList{"data_report.json", "image_directory.json", "images.jsonl"}));
    const auto attached = ImageManifest::read(m_out);
    TW_VERIFY(attached);
    QVERIFY(attached->transforms == list);
    QCOMPARE(attached->root, folder() / "set");
}

void TestApplyImageTransformation::preflight()
{
    PortFacts images, list;
    images.images = 9;
    images.categories = QStringList{"a", "b"};
    images.labelled = true;
    list.extra.insert("transforms",
                      transformsToJson({sized(Kind::Resize, 16), defaultOp(Kind::RandomErasing)}).toVariantList());
    for (const bool writes : {false, true})
        for (const char *mode : {"for_training", "for_inference"}) {
            const ParameterValues effective = values({{"mode", mode}, {"materialize", writes}});
            const PreflightReply reply =
                m_type->preflight({effective, {{"image_directory", images}, {"transformation", list}}, nullptr, false});
            QVERIFY(reply.errors.isEmpty());
            const bool training = QByteArray(mode) == "for_training";
            QCOMPARE(reply.warnings.size(), writes && training ? 1 : 0);
            const PortFacts facts = reply.outputs.value("image_directory");
            QCOMPARE(facts.extra.contains("transforms"), !writes);
            if (!writes)
                QCOMPARE(facts.extra.value("transforms").toList().size(), training ? 2 : 1);
            QCOMPARE(reply.summary, QStringLiteral("9 images · 2 classes"));
        }
    list.extra.insert("transforms", QVariantList{QVariantMap{{"op", "swirl"}}});
    const ParameterValues effective = values({{"mode", "for_training"}});
    const PreflightReply bad =
        m_type->preflight({effective, {{"image_directory", images}, {"transformation", list}}, nullptr, false});
    QCOMPARE(bad.errors.size(), 1);
    QCOMPARE(bad.errors[0].name, QLatin1String(errors::InvalidTransformationDirectory));
    QVERIFY(bad.errors[0].sentence().contains(QStringLiteral("swirl")));
}

void TestApplyImageTransformation::modeIsRequired()
{
    ParameterValues none, wrong;
    wrong.set("mode", "for_fun");
    const QList<Error> empty = m_type->schema.check(none), unknown = m_type->schema.check(wrong);
    QCOMPARE(empty.size(), 1);
    QCOMPARE(empty[0].name, QLatin1String(errors::NullOrEmpty));
    QCOMPARE(empty[0].parameter, QStringLiteral("mode"));
    QCOMPARE(unknown.size(), 1);
    QVERIFY(unknown[0].sentence().contains(QStringLiteral("for_fun")));
}

QTEST_GUILESS_MAIN(TestApplyImageTransformation)
#include "tst_applyimagetransformation.moc"
