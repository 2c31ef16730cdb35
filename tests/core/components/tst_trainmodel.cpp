// SPDX-License-Identifier: GPL-3.0-or-later
// Train PyTorch Model as a component: every parameter reaches the training, every refusal its place.
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/component/componentregistry.h"
#include "core/component/portobjects.h"
#include "core/data/datasetscan.h"
#include "core/jobs/nodekey.h"
#include "tests/support/idxfiles.h"
#include "tests/support/recordingcontext.h"
#include "tests/support/testsupport.h"

#include <QRegularExpression>
#include <QSet>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <functional>

using namespace tw;

namespace {

/// Lets a test act at a line of progress.
class ActingContext : public test::RecordingContext
{
public:
    ActingContext(const fs::path &job, std::function<void(const QString &)> act)
        : RecordingContext(job), m_act(std::move(act))
    {
    }
    void progress(double, const QString &text) override { m_act(text); }

private:
    std::function<void(const QString &)> m_act;
};

} // namespace

class TestTrainModel : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { registerAllComponents(m_registry); }
    void init();
    void everyParameterReachesTheTraining_data();
    void everyParameterReachesTheTraining();
    void cachesDoNotChangeWeights();
    void onlyACompactCacheIsAnotherResult();
    void trainableLayersAreAnotherResult();
    void aFreshHeadIsWarnedOf_data();
    void aFreshHeadIsWarnedOf();
    void filesAreCertified();
    void filesThatAnswerOtherwiseAreRefused();
    void cancelWhileFilesAreCompared();
    void aCacheThatIsTooSmallSaysSo();
    void everyParameterHasARow();
    void parametersThatHide_data();
    void parametersThatHide();
    void refusedValues_data();
    void refusedValues();
    void stoppedEarlyIsNoSourceForReuse();
    void leaksAreSaid();
    void missingDevice();
    void noModelAtTheInput();

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    const ComponentType &type() const { return *m_registry.find(QStringLiteral("train-pytorch-model")); }
    Result<RunReply> run(const QVariantMap &stored);
    /// The size of the IDX pair's pictures, as files: pictures that a cache keeps.
    ManifestPtr pictureFiles() const;
    QString log() const { return m_context->driverLines.join(u'\n'); }

    ComponentRegistry m_registry;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<test::RecordingContext> m_context;
    ManifestPtr m_images;
    QString m_usualLog; ///< of a training with no other setting
};

void TestTrainModel::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_context = std::make_unique<test::RecordingContext>(folder() / "job");
    auto scan = scanDataset(test::writeIdxPair(folder(), "train", 30, 3), {});
    TW_VERIFY(scan);
    m_images = std::make_shared<const ImageManifest>(std::move(scan->manifest));
}

ManifestPtr TestTrainModel::pictureFiles() const
{
    for (int i = 0; i < 30 && !fs::exists(folder() / "pictures/2/29.ppm"); ++i) {
        const fs::path file = folder() / "pictures" / std::to_string(i % 3) / (std::to_string(i) + ".ppm");
        fs::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << "P6\n28 28\n255\n"
                                              << std::string(28 * 28 * 3, char(40 + 60 * (i % 3)));
    }
    auto scan = scanDataset(folder() / "pictures", {});
    return scan.ok() ? std::make_shared<const ImageManifest>(std::move(scan->manifest)) : nullptr;
}

Result<RunReply> TestTrainModel::run(const QVariantMap &stored)
{
    ParameterValues given;
    given.set(QStringLiteral("epochs"), 2LL);
    given.set(QStringLiteral("batch_size"), 10LL);
    given.set(QStringLiteral("device"), QStringLiteral("cpu"));
    for (auto entry = stored.cbegin(); entry != stored.cend(); ++entry)
        given.set(entry.key(), entry.value());
    const ParameterValues values = type().schema.effective(given);
    if (stored.contains(QStringLiteral("cache")))
        m_images = pictureFiles();
    UntrainedModel model;
    model.config = {QStringLiteral("mlp"), {{"in_channels", 1}, {"hidden_sizes", QJsonArray{4}}}};
    const fs::path output = folder() / "trained";
    fs::remove_all(output);
    fs::create_directories(output);
    std::ofstream(m_context->nodeFolder() / "metrics.jsonl"); // the job's own, which goes into the model
    return type().run({values,
                       {{QStringLiteral("untrained_model"), {{}, model}},
                        {QStringLiteral("training_dataset"), {{}, m_images}},
                        {QStringLiteral("validation_dataset"), {{}, m_images}}},
                       {{QStringLiteral("trained_model"), output}},
                       *m_context});
}

void TestTrainModel::everyParameterReachesTheTraining_data()
{
    QTest::addColumn<QVariantMap>("stored");
    QTest::addColumn<QString>("logged"); // a regular expression
    const auto row = [](const char *name, const QVariantMap &stored, const char *logged) {
        QTest::newRow(name) << stored << QString::fromUtf8(logged);
    };
    row("epochs", {{"epochs", 3}}, "Epoch: 003/003 \\| Train Loss");
    row("batch_size", {{"batch_size", 7}}, "global batch 7, 5 steps an epoch");
    row("warmup_epochs", {{"warmup_epochs", 1}, {"learning_rate", 0.3}}, "Batch 000/003 .*Learning Rate: 0\\.1 ");
    row("learning_rate", {{"learning_rate", 0.25}}, "Learning rate: 0\\.25 × 1 = 0\\.25");
    row("random_seed", {{"random_seed", 77}}, "seed: 77;");
    row("patience", {{"patience", 9}}, "patience: 9 epochs");
    row("print_frequency", {{"print_frequency", 1}}, "Batch 001/003");
    row("device", {{"device", "cpu"}}, "Device: cpu;");
    row("optimizer", {{"optimizer", "adam"}}, "Adam: beta1 0\\.9, beta2 0\\.999");
    row("momentum", {{"momentum", 0.5}}, "SGD: momentum 0\\.5, Nesterov yes");
    row("nesterov", {{"nesterov", false}}, "momentum 0\\.9, Nesterov no");
    row("beta1", {{"optimizer", "adam"}, {"beta1", 0.75}}, "beta1 0\\.75");
    row("beta2", {{"optimizer", "adamw"}, {"beta2", 0.5}}, "AdamW: beta1 0\\.9, beta2 0\\.5");
    row("weight_decay", {{"weight_decay", 0.125}}, "weight decay 0\\.125");
    row("schedule", {{"schedule", "constant"}}, "constant learning rate");
    row("power", {{"power", 3.5}}, "polynomial schedule, power 3\\.5");
    row("end_learning_rate", {{"schedule", "cosine"}, {"end_learning_rate", 0.0005}}, "cosine schedule, end 0\\.0005");
    row("step_size", {{"schedule", "step"}, {"step_size", 4}}, "step schedule, × 0\\.1 every 4 epochs");
    row("gamma", {{"schedule", "step"}, {"gamma", 0.75}}, "step schedule, × 0\\.75");
    row("trainable_layers", {{"trainable_layers", "head"}}, "Trainable layers: head \\(15 of 3155 parameters\\)");
    row("label_smoothing", {{"label_smoothing", 0.25}}, "label smoothing 0\\.25");
    row("class_weights", {{"class_weights", "balanced"}}, "class weights balanced");
    row("gradient_clip_norm", {{"gradient_clip_norm", 2.5}}, "gradient clipping 2\\.5");
    row("accumulation_steps", {{"accumulation_steps", 2}}, "2 steps an epoch(.|\n)*accumulation 2");
    row("stop_after_minutes", {{"stop_after_minutes", 1e-9}}, "time: 1e-09 minutes(.|\n)*stopped: time");
    row("patience_reference", {{"patience_reference", "previous"}}, "against the previous one");
    row("evaluate_training_set", {{"evaluate_training_set", "end"}}, "Training pictures in evaluation mode");
    row("keep", {{"keep", "last"}}, "Keep: last(.|\n)*epoch 2 kept");
    row("num_workers", {{"num_workers", 0}}, "loader workers: 0,");
    row("prefetch", {{"prefetch", 5}}, "prefetch 5;");
    row("cache", {{"cache", "memory"}}, "Cache: 60 pictures, 0\\.1 MB in memory \\(exact\\)");
    row("cache_detail", {{"cache", "disk"}, {"cache_detail", "compact"}},
        "Cache: 60 pictures, 0\\.1 MB on disk \\(compact\\); 0 are there from earlier runs");
    row("on_nan", {{"on_nan", "continue"}}, "on NaN: continue");
    row("normalization", {{"normalization", "half"}}, "Normalization: half, mean 0\\.5 0\\.5 0\\.5");
    row("pixel_path", {{"pixel_path", "fast"}}, "Training pixels: fast");
    row("threads", {{"threads", 1}}, "threads: 1;");
}

void TestTrainModel::everyParameterReachesTheTraining()
{
    QFETCH(QVariantMap, stored);
    QFETCH(QString, logged);
    // Without the setting the log says something else, so that the row cannot pass by itself.
    const bool isDefault = stored.value(QStringLiteral("device")) == QStringLiteral("cpu");
    if (m_usualLog.isEmpty()) {
        TW_VERIFY(run({}));
        m_usualLog = log();
        m_context = std::make_unique<test::RecordingContext>(folder() / "job2");
    }
    QCOMPARE(QRegularExpression(logged).match(m_usualLog).hasMatch(), isDefault);
    TW_VERIFY(run(stored));
    QVERIFY2(QRegularExpression(logged).match(log()).hasMatch(), qPrintable(log()));
}

/// Weights of two trainings that differ in the cache only, and of a third that finds the second's pictures.
void TestTrainModel::cachesDoNotChangeWeights()
{
    QByteArray plain;
    for (const char *cache : {"none", "memory", "disk", "disk"}) {
        m_context->driverLines.clear();
        TW_VERIFY(run({{"cache", QString::fromLatin1(cache)}, {"epochs", 3}, {"evaluate_training_set", "each_epoch"}}));
        const auto weights = readFile(folder() / "trained/weights.pth", errors::InvalidModelDirectory);
        TW_VERIFY(weights);
        plain = plain.isEmpty() ? *weights : plain;
        QVERIFY2(*weights == plain, cache);
        QVERIFY(log().contains(qstrcmp(cache, "none") == 0 ? QStringLiteral("Cache: none")
                                                           : QStringLiteral("Cache: 60 pictures")));
    }
    QVERIFY2(log().contains(QStringLiteral("60 are there from earlier runs")), qPrintable(log()));
}

void TestTrainModel::onlyACompactCacheIsAnotherResult()
{
    const auto key = [this](const char *cache, const char *detail) {
        ParameterValues given;
        given.set(QStringLiteral("cache"), QString::fromLatin1(cache));
        given.set(QStringLiteral("cache_detail"), QString::fromLatin1(detail));
        return nodeKey({QStringLiteral("train"), &type(), type().schema.effective(given), {}}, {}, {});
    };
    const QByteArray plain = key("none", "exact");
    QVERIFY(!plain.isEmpty());
    QCOMPARE(key("memory", "exact"), plain);
    QCOMPARE(key("disk", "exact"), plain);
    QCOMPARE(key("none", "compact"), plain); // hidden: without a cache it does nothing
    QVERIFY(key("memory", "compact") != plain);
    QCOMPARE(key("disk", "compact"), key("memory", "compact"));
}

void TestTrainModel::trainableLayersAreAnotherResult()
{
    const auto key = [this](const char *layers) {
        ParameterValues given;
        given.set(QStringLiteral("trainable_layers"), QString::fromLatin1(layers));
        return nodeKey({QStringLiteral("train"), &type(), type().schema.effective(given), {}}, {}, {});
    };
    QVERIFY(!key("all").isEmpty());
    QVERIFY(key("head") != key("all"));
    QCOMPARE(key("all"), nodeKey({QStringLiteral("train"), &type(), type().schema.effective({}), {}}, {}, {}));
}

void TestTrainModel::aFreshHeadIsWarnedOf_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("layers");
    QTest::addColumn<bool>("warned");
    QTest::newRow("fresh, all") << "resnet"
                                << "all" << false;
    QTest::newRow("fresh, head") << "resnet"
                                 << "head" << true;
    QTest::newRow("basic network, head") << "basic-network"
                                         << "head" << true;
    QTest::newRow("weights of a file, head") << "densenet"
                                             << "head" << false; // there is none, which is told elsewhere
    QTest::newRow("not known, head") << ""
                                     << "head" << false;
}

void TestTrainModel::aFreshHeadIsWarnedOf()
{
    QFETCH(QString, model);
    QFETCH(QString, layers);
    QFETCH(bool, warned);
    PortFacts facts;
    if (const ComponentType *component = m_registry.find(model)) {
        ParameterValues chosen;
        if (model == QLatin1String("densenet"))
            chosen.set(QStringLiteral("weights"), QStringLiteral("file"));
        const ParameterValues values = component->schema.effective(chosen);
        facts = component->preflight({values, {}}).outputs.value(QStringLiteral("untrained_model"));
        QVERIFY(facts.extra.contains(QStringLiteral("fresh_weights")));
    }
    ParameterValues given;
    given.set(QStringLiteral("trainable_layers"), layers);
    const ParameterValues values = type().schema.effective(given);
    const PreflightReply reply = type().preflight({values,
                                                   {{QStringLiteral("untrained_model"), facts},
                                                    {QStringLiteral("training_dataset"), factsOf(*m_images)},
                                                    {QStringLiteral("validation_dataset"), factsOf(*m_images)}}});
    QVERIFY(reply.errors.isEmpty());
    QCOMPARE(reply.warnings.filter(QStringLiteral("random features")).size(), warned ? 1 : 0);
}

void TestTrainModel::filesAreCertified()
{
    TW_VERIFY(run({}));
    const auto parity = readJsonObject(folder() / "trained/parity.json", errors::InvalidModelDirectory);
    TW_VERIFY(parity);
    QCOMPARE(parity->value("pictures").toInt(), 30);
    QCOMPARE(parity->value("validation_fingerprint").toString(), QString::fromStdString(m_images->fingerprint));
    QCOMPARE(parity->value("top1_agreement").toDouble(), 1.0);
    QVERIFY(parity->value("largest_gap").toDouble(1) <= parity->value("tolerance").toDouble());
    QCOMPARE(m_context->results["parity_gap"].toDouble(1), parity->value("largest_gap").toDouble(2));
    QCOMPARE(m_context->results["parity_top1_agreement"].toDouble(), 1.0);
    QVERIFY2(log().contains(QStringLiteral("on 30 validation pictures: largest gap of a logit ")), qPrintable(log()));
}

/// A weight that changes between writing and reading back.
void TestTrainModel::filesThatAnswerOtherwiseAreRefused()
{
    const fs::path file = folder() / "trained/weights.safetensors";
    m_context = std::make_unique<ActingContext>(folder() / "job2", [&](const QString &text) {
        if (!text.startsWith(QStringLiteral("reading the written files back")))
            return;
        std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekp(-1, std::ios::end); // sign and exponent of the last bias
        bytes.put('\x44');
    });
    const auto refused = run({});
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().name, QStringLiteral("FailedToWriteOutputsError"));
    QVERIFY2(refused.error().toString().contains(QStringLiteral("weights.safetensors")),
             qPrintable(refused.error().toString()));
    QVERIFY(!fs::exists(folder() / "trained/parity.json"));
    QVERIFY(!m_context->results.contains("parity_gap"));
}

void TestTrainModel::cancelWhileFilesAreCompared()
{
    m_context = std::make_unique<ActingContext>(folder() / "job2", [&](const QString &text) {
        if (text.startsWith(QStringLiteral("compared the written files")))
            m_context->stop.cancel = true;
    });
    const auto canceled = run({});
    QVERIFY(!canceled.ok());
    QCOMPARE(canceled.error().name, QStringLiteral("CanceledError"));
    QVERIFY(!fs::exists(folder() / "trained/parity.json"));
}

void TestTrainModel::aCacheThatIsTooSmallSaysSo()
{
    qputenv("TRAINWRIGHT_CACHE_LIMIT_GB", "0");
    const auto done = run({{"cache", "disk"}});
    qunsetenv("TRAINWRIGHT_CACHE_LIMIT_GB");
    TW_VERIFY(done);
    QVERIFY2(log().contains(QRegularExpression(QStringLiteral("Warning: The cache holds 0 of 30 pictures: the limit"))),
             qPrintable(log()));
}

/// Those without a row above are tested by name here.
void TestTrainModel::everyParameterHasARow()
{
    const QSet<QString> elsewhere{QStringLiteral("node_count"), QStringLiteral("process_count_per_node"),
                                  QStringLiteral("require_same_categories")}; // refusedValues, tst_trainerdata
    QFile source(QString::fromStdString((test::sourceFolder() / "tests/core/components/tst_trainmodel.cpp").string()));
    QVERIFY(source.open(QIODevice::ReadOnly));
    const QByteArray text = source.readAll();
    for (const ParameterSpec &spec : type().schema.specs()) {
        if (!elsewhere.contains(spec.id))
            QVERIFY2(text.contains("row(\"" + spec.id.toUtf8() + '"'), qPrintable(spec.id));
    }
}

void TestTrainModel::parametersThatHide_data()
{
    QTest::addColumn<QString>("parameter");
    QTest::addColumn<QVariantMap>("shownWith");
    QTest::addColumn<QVariantMap>("hiddenWith");
    const QVariantMap none, adam{{"optimizer", "adam"}}, adamw{{"optimizer", "adamw"}}, cosine{{"schedule", "cosine"}},
        step{{"schedule", "step"}}, constant{{"schedule", "constant"}};
    QTest::newRow("momentum") << "momentum" << none << adam;
    QTest::newRow("nesterov") << "nesterov" << none << adamw;
    QTest::newRow("beta1") << "beta1" << adam << none;
    QTest::newRow("beta2") << "beta2" << adamw << none;
    QTest::newRow("power") << "power" << none << cosine;
    QTest::newRow("end, polynomial") << "end_learning_rate" << none << step;
    QTest::newRow("end, cosine") << "end_learning_rate" << cosine << constant;
    QTest::newRow("step_size") << "step_size" << step << none;
    QTest::newRow("gamma") << "gamma" << step << cosine;
}

void TestTrainModel::parametersThatHide()
{
    QFETCH(QString, parameter);
    QFETCH(QVariantMap, shownWith);
    QFETCH(QVariantMap, hiddenWith);
    const auto isVisible = [&](const QVariantMap &stored) {
        ParameterValues given;
        for (auto entry = stored.cbegin(); entry != stored.cend(); ++entry)
            given.set(entry.key(), entry.value());
        return type().schema.isVisible(parameter, type().schema.effective(given));
    };
    QVERIFY(isVisible(shownWith));
    QVERIFY(!isVisible(hiddenWith));
}

void TestTrainModel::refusedValues_data()
{
    QTest::addColumn<QString>("parameter");
    QTest::addColumn<QVariant>("value");
    QTest::addColumn<QString>("error");
    const auto row = [](const char *parameter, const QVariant &value, const char *error) {
        QTest::addRow("%s %s", parameter, qPrintable(value.toString()))
            << QString::fromLatin1(parameter) << value << QString::fromLatin1(error);
    };
    for (const char *above : {"epochs", "batch_size", "patience", "print_frequency", "step_size"})
        row(above, 0, "GreaterThanError");
    for (const char *above : {"learning_rate", "power"})
        row(above, 0.0, "GreaterThanError");
    for (const char *least : {"warmup_epochs", "num_workers", "threads"})
        row(least, -1, "GreaterThanOrEqualToError");
    for (const char *least : {"node_count", "process_count_per_node", "accumulation_steps", "prefetch"})
        row(least, 0, "GreaterThanOrEqualToError");
    for (const char *least : {"weight_decay", "end_learning_rate", "gradient_clip_norm", "stop_after_minutes"})
        row(least, -0.5, "GreaterThanOrEqualToError");
    for (const char *inside : {"momentum", "beta1", "beta2", "label_smoothing"}) {
        row(inside, 1.0, "NotInRangeValueError");
        row(inside, -0.1, "NotInRangeValueError");
    }
    row("gamma", 0.0, "NotInRangeValueError");
    row("gamma", 1.5, "NotInRangeValueError");
    for (const char *choice : {"trainable_layers", "optimizer", "schedule", "class_weights", "patience_reference",
                               "evaluate_training_set", "keep", "on_nan", "normalization"})
        row(choice, QStringLiteral("sometimes"), "InvalidPipelineError");
    row("node_count", 2, "InvalidResourceLayoutError");
    row("process_count_per_node", 3, "InvalidResourceLayoutError");
    row("warmup_epochs", 99, "LessThanOrEqualToError");
    row("num_workers", 5000, "LessThanOrEqualToError");
}

void TestTrainModel::refusedValues()
{
    QFETCH(QString, parameter);
    QFETCH(QVariant, value);
    QFETCH(QString, error);
    ParameterValues given;
    given.set(parameter, value);
    // A parameter is judged where it is shown.
    if (parameter.startsWith(QStringLiteral("beta")))
        given.set(QStringLiteral("optimizer"), QStringLiteral("adam"));
    if (parameter == QLatin1String("step_size") || parameter == QLatin1String("gamma"))
        given.set(QStringLiteral("schedule"), QStringLiteral("step"));
    QList<Error> faults = type().schema.check(given);
    if (faults.isEmpty())
        faults = type().validate(type().schema.effective(given));
    QCOMPARE(faults.size(), 1);
    QCOMPARE(faults.first().name, error);
    QCOMPARE(faults.first().parameter, parameter);
    QVERIFY2(faults.first().toString().contains(value.toString()), qPrintable(faults.first().toString()));
    QVERIFY(!faults.first().hint.isEmpty());
}

void TestTrainModel::stoppedEarlyIsNoSourceForReuse()
{
    TW_VERIFY(run({{"stop_after_minutes", 1e-9}}));
    QCOMPARE(m_context->stopped, QStringLiteral("time"));
    QVERIFY(fs::exists(folder() / "trained" / "weights.pth"));
    m_context = std::make_unique<test::RecordingContext>(folder() / "job2");
    TW_VERIFY(run({{"epochs", 300}, {"patience", 1}, {"learning_rate", 1.0}}));
    QCOMPARE(m_context->results[QStringLiteral("stopped")].toString(), QStringLiteral("patience"));
    QVERIFY(m_context->stopped.isEmpty()); // a rule of the parameters, which ends there again
}

void TestTrainModel::leaksAreSaid()
{
    ScanResult scan{*m_images, {}};
    TW_VERIFY(verifyImages(scan, VerifyMode::Full, true, 1, nullptr, {}));
    m_images = std::make_shared<const ImageManifest>(std::move(scan.manifest));
    const auto result = run({}); // the same pictures at both inputs
    TW_VERIFY(result);
    QVERIFY2(m_context->warnings.contains(
                 QStringLiteral("30 of 30 pictures of the validation set also stand in the training set.")),
             qPrintable(m_context->warnings.join(u'\n')));
    const auto report = readJsonObject(m_context->nodeFolder() / "logs" / "data_report.json", errors::InvalidDataset);
    TW_VERIFY(report);
    QCOMPARE(report->value("leakage").toObject().value("exact").toInt(), 30);
    QCOMPARE(report->value("part").toString(), QStringLiteral("training_dataset")); // what is shown first
}

void TestTrainModel::missingDevice()
{
    const auto refused = run({{"device", "cuda:93"}});
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().name, QStringLiteral("DeviceUnavailableError"));
    QVERIFY2(refused.error().toString().contains(QStringLiteral("cuda:93")), qPrintable(refused.error().toString()));
}

void TestTrainModel::noModelAtTheInput()
{
    const ParameterValues values = type().schema.effective({});
    const fs::path output = folder() / "trained";
    fs::create_directories(output);
    const auto refused = type().run({values,
                                     {{QStringLiteral("untrained_model"), {folder(), {}}},
                                      {QStringLiteral("training_dataset"), {{}, m_images}},
                                      {QStringLiteral("validation_dataset"), {{}, m_images}}},
                                     {{QStringLiteral("trained_model"), output}},
                                     *m_context});
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().name, QStringLiteral("InvalidModelDirectoryError"));
    QVERIFY(fs::is_empty(output));
}

QTEST_GUILESS_MAIN(TestTrainModel)
#include "tst_trainmodel.moc"
