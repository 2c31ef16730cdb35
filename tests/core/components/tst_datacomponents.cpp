// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "core/component/componentregistry.h"
#include "core/component/portobjects.h"
#include "core/data/picturefacts.h"
#include "core/data/scancache.h"
#include "tests/support/idxfiles.h"
#include "tests/support/recordingcontext.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <chrono>
#include <fstream>
#include <numeric>

using namespace tw;

/// Image Dataset, Convert, Split, Init and Apply: facts, outputs and refusals on small IDX pairs.
class TestDataComponents : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { registerAllComponents(m_registry); }
    void init();
    void datasetFacts();
    void datasetIsListedOnceForEdits();
    void unreadablePolicyTravels();
    void datasetRefusals_data();
    void datasetRefusals();
    void subfolderAndLabelColumn();
    void namesForFoldersAreRefused();
    void convertWritesAndHandsOn();
    void classNames();
    void splitFactsEqualTheSplit();
    void reportsBesideEveryDirectory();
    void applyDropsRandomOperationsForInference();
    void transformOrder();
    void trainingRefusals_data();
    void trainingRefusals();
    void trainingWarnsOfMissingCategories();
    void trainingSaysWhatACacheNeeds();

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    ParameterValues values(const char *component, const QVariantMap &stored) const;
    PreflightReply preflight(const char *component, const QVariantMap &stored,
                             const QMap<QString, PortFacts> &inputs) const;
    Result<RunReply> run(const char *component, const QVariantMap &stored, const QMap<QString, PortValue> &inputs);
    PortValue output(const RunReply &reply, const char *port) const;
    PortValue imageDirectory();

    ComponentRegistry m_registry;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<test::RecordingContext> m_context;
    fs::path m_images;
    QMap<QString, fs::path> m_outputs;
    int m_runs = 0;
    bool m_editing = false;
};

void TestDataComponents::init()
{
    forgetScans();
    m_folder = std::make_unique<QTemporaryDir>();
    m_context = std::make_unique<test::RecordingContext>(folder() / "job");
    m_images = test::writeIdxPair(folder(), "train", 30, 3);
}

ParameterValues TestDataComponents::values(const char *component, const QVariantMap &stored) const
{
    ParameterValues given;
    for (auto it = stored.begin(); it != stored.end(); ++it)
        given.set(it.key(), it.value());
    return m_registry.find(QLatin1String(component))->schema.effective(given);
}

PreflightReply TestDataComponents::preflight(const char *component, const QVariantMap &stored,
                                             const QMap<QString, PortFacts> &inputs) const
{
    const ParameterValues effective = values(component, stored);
    return m_registry.find(QLatin1String(component))->preflight({effective, inputs, nullptr, m_editing});
}

Result<RunReply> TestDataComponents::run(const char *component, const QVariantMap &stored,
                                         const QMap<QString, PortValue> &inputs)
{
    const ComponentType *type = m_registry.find(QLatin1String(component));
    m_outputs.clear();
    for (const PortSpec &port : type->outputs) {
        m_outputs[port.id] = folder() / ("out" + std::to_string(++m_runs));
        fs::create_directories(m_outputs[port.id]);
    }
    const ParameterValues effective = values(component, stored);
    return type->run({effective, inputs, m_outputs, *m_context});
}

PortValue TestDataComponents::output(const RunReply &reply, const char *port) const
{
    return {m_outputs.value(QLatin1String(port)), reply.objects.value(QLatin1String(port))};
}

PortValue TestDataComponents::imageDirectory()
{
    auto dataset = run("image-dataset", {{"path", bytesFromPath(m_images)}}, {});
    auto converted = run("convert-to-image-directory", {}, {{"dataset", output(*dataset, "dataset")}});
    return output(*converted, "image_directory");
}

void TestDataComponents::datasetFacts()
{
    const PreflightReply reply = preflight("image-dataset", {{"path", bytesFromPath(m_images)}}, {});
    QVERIFY2(reply.errors.isEmpty(), reply.errors.isEmpty() ? "" : qPrintable(reply.errors.first().toString()));
    const PortFacts facts = reply.outputs.value("dataset");
    QCOMPARE(*facts.images, 30);
    QCOMPARE(*facts.categories, (QStringList{"0", "1", "2"}));
    QCOMPARE(*facts.counts, (QList<qint64>{10, 10, 10}));
    QVERIFY(*facts.labelled);
    QVERIFY(!facts.extra.value("fingerprint").toString().isEmpty());
    QCOMPARE(reply.summary, QStringLiteral("30 images · 3 classes"));
}

void TestDataComponents::datasetIsListedOnceForEdits()
{
    const auto before = fs::file_time_type::clock::now() - std::chrono::hours(1);
    for (const auto &entry : fs::directory_iterator(folder()))
        fs::last_write_time(entry.path(), before);
    const auto look = [&] {
        preflight("image-dataset", {{"path", bytesFromPath(m_images)}}, {});
        return scanRemembered(m_images, ScanOptions{true, {}})->get();
    };
    m_editing = true;
    const ScanResult *first = look();
    QCOMPARE(look(), first);
    m_editing = false; // before a run nothing is taken from memory
    QVERIFY(look() != first);
    m_editing = true;
    test::writeIdxPair(folder(), "train", 33, 3);
    const PreflightReply changed = preflight("image-dataset", {{"path", bytesFromPath(m_images)}}, {});
    QCOMPARE(*changed.outputs.value("dataset").images, 33);
}

void TestDataComponents::unreadablePolicyTravels()
{
    auto dataset = run("image-dataset", {{"path", bytesFromPath(m_images)}}, {});
    TW_VERIFY(dataset);
    const PortValue data = output(*dataset, "dataset");
    const PortValue transforms = output(*run("init-image-transformation", {}, {}), "transformation");
    for (const char *policy : {"skip", "fail"}) {
        const bool skip = QLatin1String(policy) == QLatin1String("skip");
        auto converted = run("convert-to-image-directory", {{"on_unreadable", policy}}, {{"dataset", data}});
        TW_VERIFY(converted);
        auto split =
            run("split-image-directory", {}, {{"image_directory", PortValue{m_outputs.value("image_directory"), {}}}});
        TW_VERIFY(split);
        auto applied = run(
            "apply-image-transformation", {{"mode", "for_training"}},
            {{"transformation", transforms}, {"image_directory", PortValue{m_outputs.value("image_directory1"), {}}}});
        TW_VERIFY(applied);
        const auto written = ImageManifest::read(m_outputs.value("image_directory"));
        TW_VERIFY(written);
        QCOMPARE(written->skipUnreadable, skip);
        QCOMPARE(std::any_cast<ManifestPtr>(applied->objects.value("image_directory"))->skipUnreadable, skip);
    }
}

void TestDataComponents::datasetRefusals_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("parameter");
    QTest::newRow("missing") << "nowhere"
                             << "path";
    QTest::newRow("broken archive") << "set.zip"
                                    << "path";
    QTest::newRow("broken compressed archive") << "set.tar.gz"
                                               << "path";
    QTest::newRow("list without the column") << "list.CSV"
                                             << "label_column";
    QTest::newRow("something else") << "set.txt"
                                    << "path";
}

void TestDataComponents::datasetRefusals()
{
    QFETCH(QString, name);
    QFETCH(QString, parameter);
    const fs::path path = folder() / name.toStdString();
    if (name != "nowhere")
        std::ofstream(path) << "x";
    const PreflightReply reply = preflight("image-dataset", {{"path", bytesFromPath(path)}}, {});
    QCOMPARE(reply.errors.size(), 1);
    QCOMPARE(reply.errors.first().name, QLatin1String(errors::InvalidDataset));
    QCOMPARE(reply.errors.first().parameter, parameter);
    QVERIFY(!reply.errors.first().hint.isEmpty());
    QVERIFY2(reply.errors.first().sentence().contains(name), qPrintable(reply.errors.first().sentence()));
    const auto ran = run("image-dataset", {{"path", bytesFromPath(path)}}, {});
    QVERIFY(!ran.ok());
    QCOMPARE(ran.error().name, QLatin1String(errors::InvalidDataset));
    QCOMPARE(ran.error().parameter, parameter);
}

static void writePicture(const fs::path &file)
{
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << "P6\n1 1\n255\nabc";
}

void TestDataComponents::subfolderAndLabelColumn()
{
    for (const char *name : {"set/train/a/1.ppm", "set/train/b/2.ppm", "set/val/b/3.ppm"})
        writePicture(folder() / name);
    std::ofstream(folder() / "list.csv") << "path,label,kind\nset/val/b/3.ppm,x,y\n";
    const QByteArray set = bytesFromPath(folder() / "set"), list = bytesFromPath(folder() / "list.csv");
    const auto categories = [&](const QVariantMap &stored) {
        auto dataset = run("image-dataset", stored, {});
        auto converted =
            run("convert-to-image-directory", {}, {{"dataset", PortValue{m_outputs.value("dataset"), {}}}});
        const auto facts = preflight("convert-to-image-directory", {}, preflight("image-dataset", stored, {}).outputs);
        const auto made = factsOf(*std::any_cast<ManifestPtr>(converted->objects.value("image_directory")));
        return *facts.outputs.value("image_directory").categories == *made.categories ? *made.categories
                                                                                      : QStringList();
    };
    QCOMPARE(categories({{"path", set}}), (QStringList{"train", "val"}));
    QCOMPARE(categories({{"path", set}, {"subfolder", "train"}}), (QStringList{"a", "b"}));
    QCOMPARE(categories({{"path", set}, {"subfolder", "val"}}), (QStringList{"b"}));
    QCOMPARE(categories({{"path", list}}), (QStringList{"x"}));
    QCOMPARE(categories({{"path", list}, {"label_column", "kind"}}), (QStringList{"y"}));
    for (const auto &[path, inside] : {std::pair{set, "gone"}, std::pair{list, "train"}}) {
        const PreflightReply reply = preflight("image-dataset", {{"path", path}, {"subfolder", inside}}, {});
        QCOMPARE(reply.errors.size(), 1);
        QCOMPARE(reply.errors.first().name, QLatin1String(errors::InvalidDataset));
        QCOMPARE(reply.errors.first().parameter, QStringLiteral("subfolder"));
        QVERIFY(reply.errors.first().sentence().contains(QLatin1String(inside)));
    }
    const ComponentType *type = m_registry.find("image-dataset");
    const QList<Error> outside = type->validate(values("image-dataset", {{"path", set}, {"subfolder", "a/../../b"}}));
    QCOMPARE(outside.size(), 1);
    QCOMPARE(outside.first().parameter, QStringLiteral("subfolder"));
}

void TestDataComponents::namesForFoldersAreRefused()
{
    writePicture(folder() / "set/a/1.ppm");
    const auto facts = preflight("image-dataset", {{"path", bytesFromPath(folder() / "set")}}, {}).outputs;
    const PreflightReply reply = preflight("convert-to-image-directory", {{"class_names", "cat,dog"}}, facts);
    QCOMPARE(reply.errors.size(), 1);
    QCOMPARE(reply.errors.first().name, QLatin1String(errors::InvalidDataset));
    QCOMPARE(reply.errors.first().parameter, QStringLiteral("class_names"));
    QVERIFY(reply.errors.first().sentence().contains(QStringLiteral("is no IDX pair")));
}

void TestDataComponents::convertWritesAndHandsOn()
{
    auto dataset = run("image-dataset", {{"path", bytesFromPath(m_images)}}, {});
    TW_VERIFY(dataset);
    // Once with the object of this run, once from the folder alone.
    for (const PortValue &input : {output(*dataset, "dataset"), PortValue{m_outputs.value("dataset"), {}}}) {
        auto converted = run("convert-to-image-directory", {}, {{"dataset", input}});
        TW_VERIFY(converted);
        const auto object = std::any_cast<ManifestPtr>(converted->objects.value("image_directory"));
        const auto written = ImageManifest::read(m_outputs.value("image_directory"));
        TW_VERIFY(written);
        QCOMPARE(object->size(), std::size_t(30));
        QCOMPARE(written->size(), std::size_t(30));
        QCOMPARE(written->fingerprint, object->fingerprint);
        QCOMPARE(written->categories, object->categories);
        QVERIFY(fs::exists(m_outputs.value("image_directory") / "data_report.json"));
        QCOMPARE(m_context->results.value("images").toInt(), 30);
    }
}

void TestDataComponents::classNames()
{
    const QMap<QString, PortFacts> facts = preflight("image-dataset", {{"path", bytesFromPath(m_images)}}, {}).outputs;
    const PreflightReply named =
        preflight("convert-to-image-directory", {{"class_names", "cat, dog,T-shirt/top"}}, facts);
    QVERIFY(named.errors.isEmpty());
    QCOMPARE(*named.outputs.value("image_directory").categories, (QStringList{"cat", "dog", "T-shirt/top"}));
    const PreflightReply few = preflight("convert-to-image-directory", {{"class_names", "cat,dog"}}, facts);
    QCOMPARE(few.errors.size(), 1);
    QCOMPARE(few.errors.first().name, QLatin1String(errors::InvalidDataset));
}

void TestDataComponents::splitFactsEqualTheSplit()
{
    const PortValue images = imageDirectory();
    const PortFacts facts = factsOf(*std::any_cast<ManifestPtr>(images.object));
    const PreflightReply reply = preflight("split-image-directory", {{"fraction", 0.75}}, {{"image_directory", facts}});
    QVERIFY(reply.errors.isEmpty());
    auto split = run("split-image-directory", {{"fraction", 0.75}}, {{"image_directory", images}});
    TW_VERIFY(split);
    for (const char *port : {"image_directory1", "image_directory2"}) {
        const PortFacts actual = factsOf(*std::any_cast<ManifestPtr>(split->objects.value(port)));
        QCOMPARE(*reply.outputs.value(port).images, *actual.images);
        QCOMPARE(*reply.outputs.value(port).counts, *actual.counts);
        QCOMPARE(*reply.outputs.value(port).categories, *actual.categories);
    }
    QCOMPARE(*reply.outputs.value("image_directory1").images, 22);
}

void TestDataComponents::reportsBesideEveryDirectory()
{
    const auto reportOf = [this](const char *port) {
        return readJsonObject(m_outputs.value(QLatin1String(port)) / "data_report.json", errors::InvalidDataset);
    };
    const PortValue images = imageDirectory(); // a picture of each class, ten times
    const auto converted = reportOf("image_directory");
    TW_VERIFY(converted);
    QCOMPARE(converted->value("images").toInt(), 30);
    QCOMPARE(converted->value("classes").toArray().size(), 3);
    QCOMPARE(converted->value("formats").toArray()[0].toObject().value("format").toString(), QStringLiteral("IDX"));
    QCOMPARE(converted->value("measured").toInt(), 30);
    const auto groups = converted->value("duplicates").toObject().value("groups").toInt();
    auto split = run("split-image-directory", {{"fraction", 0.5}}, {{"image_directory", images}});
    TW_VERIFY(split);
    const auto second = reportOf("image_directory2");
    TW_VERIFY(second);
    QCOMPARE(second->value("part").toString(), QStringLiteral("image_directory2"));
    QCOMPARE(second->value("images").toInt(), 15);
    QCOMPARE(second->value("parts").toArray().size(), 2);
    QCOMPARE(second->value("duplicates").toObject().value("groups").toInt(), groups);
    const int leaks = second->value("leakage").toObject().value("exact").toInt();
    QCOMPARE(m_context->warnings.filter(QStringLiteral("also stand in the first part")).size(), leaks > 0 ? 1 : 0);
    const PortValue part = output(*split, "image_directory2");
    const auto facts = std::any_cast<ManifestPtr>(part.object)->facts;
    QCOMPARE(facts->size(), std::size_t(15));
    auto list = run("init-image-transformation", {}, {});
    auto applied = run("apply-image-transformation", {{"mode", "for_inference"}},
                       {{"image_directory", part}, {"transformation", output(*list, "transformation")}});
    TW_VERIFY(applied);
    TW_VERIFY(reportOf("image_directory"));
    QCOMPARE(std::any_cast<ManifestPtr>(applied->objects.value("image_directory"))->facts, facts);
}

void TestDataComponents::applyDropsRandomOperationsForInference()
{
    auto list = run("init-image-transformation",
                    {{"resize", false}, {"center_crop", false}, {"pad", true}, {"padding", 2LL}}, {});
    TW_VERIFY(list);
    const PortValue transforms = output(*list, "transformation");
    const PortValue images = imageDirectory();
    for (const bool training : {true, false}) {
        auto applied = run("apply-image-transformation", {{"mode", training ? "for_training" : "for_inference"}},
                           {{"transformation", PortValue{transforms.folder, {}}}, {"image_directory", images}});
        TW_VERIFY(applied);
        const auto manifest = std::any_cast<ManifestPtr>(applied->objects.value("image_directory"));
        QCOMPARE(manifest->transforms->size(), std::size_t(training ? 2 : 1));
        QCOMPARE(manifest->transformsForTraining, training);
        const auto written = ImageManifest::read(m_outputs.value("image_directory"));
        TW_VERIFY(written);
        QVERIFY(written->transforms == manifest->transforms);
    }
    QVERIFY(!std::any_cast<ManifestPtr>(images.object)->transforms);
}

void TestDataComponents::transformOrder()
{
    const QVariantMap all{{"pad", true},         {"padding", 1LL},
                          {"grayscale", true},   {"random_resized_crop", true},
                          {"random_crop", true}, {"random_vertical_flip", true}};
    auto list = run("init-image-transformation", all, {});
    TW_VERIFY(list);
    const auto transforms = std::any_cast<TransformList>(list->objects.value("transformation"));
    using Kind = TransformOp::Kind;
    const std::vector<Kind> expected{Kind::Resize,
                                     Kind::CenterCrop,
                                     Kind::Pad,
                                     Kind::Grayscale,
                                     Kind::RandomResizedCrop,
                                     Kind::RandomCrop,
                                     Kind::RandomHorizontalFlip,
                                     Kind::RandomVerticalFlip};
    QCOMPARE(transforms.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        QCOMPARE(int(transforms[i].kind), int(expected[i]));
    const auto written = readTransforms(m_outputs.value("transformation"));
    TW_VERIFY(written);
    QVERIFY(*written == transforms);
}

static PortFacts labelled(const QStringList &names, const QList<qint64> &counts)
{
    PortFacts facts;
    facts.categories = names;
    facts.counts = counts;
    facts.images = std::accumulate(counts.begin(), counts.end(), qint64(0));
    facts.labelled = true;
    return facts;
}

void TestDataComponents::trainingRefusals_data()
{
    QTest::addColumn<QVariantMap>("stored");
    QTest::addColumn<QStringList>("training");
    QTest::addColumn<QStringList>("validation");
    QTest::addColumn<bool>("hasLabels");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("offender");
    const QStringList two{"cat", "dog"};
    QTest::newRow("batch") << QVariantMap{{"batch_size", 21LL}} << two << two << true << "LessThanOrEqualToError"
                           << "21";
    QTest::newRow("one class") << QVariantMap{{"batch_size", 2LL}} << QStringList{"cat"} << QStringList{"cat"} << true
                               << "InvalidDatasetError"
                               << "'cat'";
    QTest::newRow("unknown class") << QVariantMap{} << two << QStringList{"cat", "emu"} << true << "InvalidDatasetError"
                                   << "'emu'";
    QTest::newRow("missing class") << QVariantMap{{"require_same_categories", true}} << two << QStringList{"cat"}
                                   << true << "InvalidDatasetError"
                                   << "'dog'";
    QTest::newRow("no labels") << QVariantMap{{"batch_size", 2LL}} << QStringList{} << two << false
                               << "NotLabeledDatasetError"
                               << "training_dataset";
    QTest::newRow("device") << QVariantMap{{"device", "cuda:77"}} << two << two << true << "DeviceUnavailableError"
                            << "cuda:77";
}

void TestDataComponents::trainingRefusals()
{
    QFETCH(QVariantMap, stored);
    QFETCH(QStringList, training);
    QFETCH(QStringList, validation);
    QFETCH(bool, hasLabels);
    QFETCH(QString, name);
    QFETCH(QString, offender);
    PortFacts left = labelled(training, QList<qint64>(training.size(), 10));
    left.labelled = hasLabels;
    if (!hasLabels)
        left.images = 10;
    const PreflightReply reply =
        preflight("train-pytorch-model", stored,
                  {{"training_dataset", left},
                   {"validation_dataset", labelled(validation, QList<qint64>(validation.size(), 10))}});
    QCOMPARE(reply.errors.size(), 1);
    QCOMPARE(reply.errors.first().name, name);
    QVERIFY2(reply.errors.first().sentence().contains(offender), qPrintable(reply.errors.first().sentence()));
    QVERIFY(!reply.errors.first().hint.isEmpty());
}

void TestDataComponents::trainingWarnsOfMissingCategories()
{
    const PreflightReply reply = preflight("train-pytorch-model", {},
                                           {{"training_dataset", labelled({"cat", "dog"}, {10, 10})},
                                            {"validation_dataset", labelled({"cat", "dog"}, {10, 0})}});
    QVERIFY(reply.errors.isEmpty());
    QCOMPARE(reply.warnings.size(), 1);
    QVERIFY2(reply.warnings.first().contains("'dog'"), qPrintable(reply.warnings.first()));
    QCOMPARE(reply.summary, QStringLiteral("20 + 10 images"));
}

/// Facts of pictures as Convert's preflight gives them on, cut in two by Split.
void TestDataComponents::trainingSaysWhatACacheNeeds()
{
    const fs::path pictures = folder() / "cached";
    for (int i = 0; i < 40; ++i) {
        const fs::path file = pictures / (i % 2 ? "a" : "b") / (std::to_string(i) + ".ppm");
        fs::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << "P6\n400 300\n255\n" << std::string(400 * 300 * 3, 'x');
    }
    const auto listed = preflight("convert-to-image-directory", {},
                                  preflight("image-dataset", {{"path", bytesFromPath(pictures)}}, {}).outputs);
    const auto split = preflight("split-image-directory", {{"fraction", 0.75}}, listed.outputs).outputs;
    PortFacts training = split.value("image_directory1"), validation = split.value("image_directory2");
    const QMap<QString, PortFacts> inputs{{"training_dataset", training}, {"validation_dataset", validation}};
    QVERIFY(preflight("train-pytorch-model", {}, inputs).notes.isEmpty());
    const auto memory = preflight("train-pytorch-model", {{"cache", "memory"}}, inputs);
    QCOMPARE(memory.notes.size(), 1);
    QCOMPARE(memory.notes.first().parameter, QStringLiteral("cache"));
    QCOMPARE(memory.notes.first().sentence(), QStringLiteral("40 pictures need about 14 MB of memory."));
    QVERIFY(memory.warnings.isEmpty());
    const auto compact = preflight("train-pytorch-model", {{"cache", "disk"}, {"cache_detail", "compact"}}, inputs);
    QCOMPARE(compact.notes.size(), 2);
    QCOMPARE(compact.notes.first().parameter, QStringLiteral("cache_detail"));
    QVERIFY(compact.notes.first().sentence().contains(QStringLiteral("256 pixels: small crops of them are enlarged")));
    QCOMPARE(compact.notes.last().sentence(), QStringLiteral("40 pictures need about 11 MB on the workspace's disk."));
    qputenv("TRAINWRIGHT_CACHE_LIMIT_GB", "0.001");
    const auto small = preflight("train-pytorch-model", {{"cache", "disk"}}, inputs);
    qunsetenv("TRAINWRIGHT_CACHE_LIMIT_GB");
    QCOMPARE(small.warnings.size(), 1);
    QVERIFY2(
        small.warnings.first().startsWith(QStringLiteral("The cache of decoded pictures needs about 14 MB, but the "
                                                         "limit of the workspace's cache")),
        qPrintable(small.warnings.first()));
    QVERIFY(small.errors.isEmpty());
}

QTEST_GUILESS_MAIN(TestDataComponents)
#include "tst_datacomponents.moc"
