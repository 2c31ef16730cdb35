// SPDX-License-Identifier: GPL-3.0-or-later
// Every refusal of the components: its name, where it stands, when it comes, and what it says.
#include "core/base/errorpages.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/jobs/jobqueue.h"
#include "core/jobs/workspace.h"
#include "core/pipeline/planner.h"
#include "core/pipeline/validator.h"
#include "tests/core/components/faultypipelines.h"
#include "tests/support/recordingcontext.h"
#include "tests/support/testsupport.h"

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace tw;

class TestErrorPlaces : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void soundPipelineRuns();
    void beforeAnyLook_data();
    void beforeAnyLook();
    void beforeTheRun_data();
    void beforeTheRun();
    void inTheRun_data();
    void inTheRun();
    void faultsStandInTheLog_data();
    void faultsStandInTheLog();
    void emptyInputs_data();
    void emptyInputs();
    void outputsThatCannotBeWritten_data();
    void outputsThatCannotBeWritten();
    void everyNameHasATest();

private:
    fs::path folder() const { return pathFromText(m_folder->path()); }
    Pipeline changed() const;
    void compare(const Error &error) const;
    void compareFiles(const JobRecord &record) const;
    Result<JobRecord> runJob(const Pipeline &pipeline, const QStringList &upTo = {});
    Result<RunReply> runNode(const char *id, const QMap<QString, PortValue> &inputs, const fs::path &outputs);
    QMap<QString, PortValue> inputsOf(const QString &id) const;

    ComponentRegistry m_registry;
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Workspace> m_workspace;
    Pipeline m_sound;
    QString m_job; ///< of the sound pipeline
};

namespace {

void columns()
{
    QTest::addColumn<QVariantMap>("changes");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("place"); // "node" or "node.parameter"
    QTest::addColumn<QStringList>("named");
}

void row(const char *title, const QVariantMap &changes, const char *name, const char *place, const QStringList &named)
{
    QTest::newRow(title) << changes << QString::fromLatin1(name) + QStringLiteral("Error") << QString::fromLatin1(place)
                         << named;
}

} // namespace

void TestErrorPlaces::initTestCase()
{
    registerAllComponents(m_registry);
    // Some fifty jobs: in memory, where there is such a place, they do not wait for a disk.
    m_folder = std::make_unique<QTemporaryDir>(QStringLiteral("/dev/shm/tst_errorplaces-XXXXXX"));
    if (!m_folder->isValid())
        m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY2(m_folder->isValid(), qPrintable(m_folder->errorString()));
    test::writeFaultyData(folder());
    std::ofstream(folder() / "gone"); // no folder can be made below it
    auto workspace = Workspace::open(folder() / "ws");
    TW_VERIFY(workspace);
    m_workspace = std::move(*workspace);
    m_sound = test::faultyPipeline(folder(), {});
}

Pipeline TestErrorPlaces::changed() const
{
    QFETCH(QVariantMap, changes);
    return test::faultyPipeline(folder(), changes);
}

/// Name, node, parameter, offenders and hint are those of the row; nothing is left to be filled in.
void TestErrorPlaces::compare(const Error &error) const
{
    QFETCH(QStringList, named);
    QTEST(error.name, "name");
    QTEST(error.parameter.isEmpty() ? error.nodeId : error.nodeId + u'.' + error.parameter, "place");
    for (const QString &part : named)
        QVERIFY2(error.sentence().contains(part), qPrintable(part + QStringLiteral(" in: ") + error.sentence()));
    QVERIFY(error.sentence().endsWith(u'.'));
    QVERIFY2(error.hintSentence().endsWith(u'.'), qPrintable(error.hintSentence()));
    static const QRegularExpression leftOver(QStringLiteral("%[1-9]|''|\"\""));
    const QString all = error.sentence() + error.hintSentence();
    QVERIFY2(!leftOver.match(all).hasMatch(), qPrintable(all));
    QVERIFY2(errorPage(error.name), "explain knows it");
}

/// The error on the node and in the files of the job.
void TestErrorPlaces::compareFiles(const JobRecord &record) const
{
    const QString id = record.error->nodeId;
    const auto failed =
        std::find_if(record.nodes.begin(), record.nodes.end(), [&](const NodeRecord &node) { return node.id == id; });
    QVERIFY(failed != record.nodes.end());
    QCOMPARE(failed->state, NodeState::Failed);
    QVERIFY(failed->error == record.error);
    for (const fs::path &place : {m_workspace->jobFolder(record.id), m_workspace->nodeFolder(record.id, id)}) {
        const auto info = readJsonObject(place / "error_info.json", errors::Library);
        TW_VERIFY(info);
        QCOMPARE(*info, record.error->toJson());
    }
}

Result<JobRecord> TestErrorPlaces::runJob(const Pipeline &pipeline, const QStringList &upTo)
{
    JobQueue queue(*m_workspace, m_registry);
    JobRequest request;
    request.pipeline = pipeline;
    request.upTo = upTo;
    TW_ASSIGN(job, queue.submit(request));
    if (!QTest::qWaitFor([&] { return queue.isIdle(); }, 60000))
        return makeError(errors::TimeoutOccurred, "The job does not end.");
    return m_workspace->job(job);
}

void TestErrorPlaces::soundPipelineRuns()
{
    QVERIFY(validate(m_sound, m_registry).isEmpty());
    const auto record = runJob(m_sound);
    TW_VERIFY(record);
    QVERIFY2(record->state == JobState::Completed, record->error ? qPrintable(record->error->toString()) : "");
    m_job = record->id;
}

// --- Without looking at the machine: exit 2, no job ---------------------------------------------

void TestErrorPlaces::beforeAnyLook_data()
{
    columns();
    row("no path", {{"data.path", ""}}, "NullOrEmpty", "data.path", {"'path'"});
    row("subfolder outside", {{"data.subfolder", "../x"}}, "InvalidDataset", "data.subfolder", {"'../x'"});
    row("class name twice", {{"convert.class_names", "ant,bee,ant"}}, "DuplicateName", "convert.class_names",
        {"'ant'"});
    row("class name empty", {{"convert.class_names", "ant,,bee"}}, "NullOrEmpty", "convert.class_names", {"ant,,bee"});
    row("policy", {{"convert.on_unreadable", "ask"}}, "InvalidPipeline", "convert.on_unreadable", {"ask", "skip"});
    for (const double fraction : {0.0, 1.0, 1.5, -0.5})
        QTest::addRow("fraction %g", fraction) << QVariantMap{{"split.fraction", fraction}} << "NotInRangeValueError"
                                               << "split.fraction" << QStringList{QString::number(fraction), "0", "1"};
    row("crop above the resize",
        {{"ops.resize", true}, {"ops.size", 100LL}, {"ops.center_crop", true}, {"ops.crop_size", 101LL}},
        "LessThanOrEqualTo", "ops.crop_size", {"101", "100"});
    row("ends of a range", {{"ops.random_affine", true}, {"ops.random_affine_scale", QVariantList{2.0, 1.5}}},
        "LessThanOrEqualTo", "ops.random_affine_scale", {"2", "1.5"});
    row("no mode", {{"augment.mode", ""}}, "NullOrEmpty", "augment.mode", {"'mode'"});
    row("another mode", {{"augment.mode", "for_fun"}}, "InvalidPipeline", "augment.mode", {"for_fun"});
    row("weights of no file", {{"model", "resnet"}, {"model.weights", "file"}}, "NullOrEmpty", "model.weights_file",
        {"file"});
    row("unknown model", {{"model", "densenet"}, {"model.model_name", "densenet1"}}, "InvalidPipeline",
        "model.model_name", {"densenet1"});
    row("no hidden sizes", {{"model.hidden_sizes", QVariantList()}}, "NullOrEmpty", "model.hidden_sizes",
        {"hidden_sizes"});
    row("hidden size 0", {{"model.hidden_sizes", QVariantList{8LL, 0LL}}}, "NotInRangeValue", "model.hidden_sizes",
        {"0"});
    row("dropout 1", {{"model.dropout", 1.0}}, "NotInRangeValue", "model.dropout", {"1"});
    row("no model", {{"model", "load-model"}}, "NullOrEmpty", "model.path", {"'path'"});
    row("more nodes and processes", {{"train.node_count", 2LL}, {"train.process_count_per_node", 3LL}},
        "InvalidResourceLayout", "train.node_count", {"2 nodes", "3 processes"});
    row("more processes", {{"train.process_count_per_node", 5LL}}, "InvalidResourceLayout",
        "train.process_count_per_node", {"1 nodes", "5 processes"});
    row("no epochs", {{"train.epochs", 0LL}}, "GreaterThan", "train.epochs", {"0"});
    row("warm-up", {{"train.warmup_epochs", 7LL}}, "LessThanOrEqualTo", "train.warmup_epochs", {"7", "1 epochs"});
    row("negative warm-up", {{"train.warmup_epochs", -1LL}}, "GreaterThanOrEqualTo", "train.warmup_epochs", {"-1"});
    row("no model at the input", {{">train.untrained_model", "convert.image_directory"}}, "InvalidPipeline", "train",
        {"'convert'", "'untrained_model'", "ImageDirectory", "UntrainedModelDirectory"});
    row("no table at the input", {{">evaluate.scored_dataset", "valconvert.image_directory"}}, "InvalidPipeline",
        "evaluate", {"'valconvert'", "'scored_dataset'"});
    row("an open input", {{">train.validation_dataset", ""}}, "InvalidPipeline", "train", {"'validation_dataset'"});
    row("an unknown component", {{"model", "run-script"}}, "InvalidPipeline", "model", {"'run-script'"});
    row("an unknown parameter", {{"score.top", 5LL}}, "InvalidPipeline", "score.top", {"'top'"});
    row("k", {{"score.probabilities", "top_k"}, {"score.k", 0LL}}, "GreaterThanOrEqualTo", "score.k", {"0"});
    row("batch of scoring", {{"score.batch_size", 4294967296LL}}, "LessThanOrEqualTo", "score.batch_size",
        {"4294967296"});
}

void TestErrorPlaces::beforeAnyLook()
{
    const QList<Error> faults = validate(changed(), m_registry);
    QCOMPARE(faults.size(), 1);
    compare(faults.first());
    if (QTest::currentTestFailed())
        return;
    JobQueue queue(*m_workspace, m_registry);
    JobRequest request;
    request.pipeline = changed();
    const auto job = queue.submit(request);
    QVERIFY(!job.ok());
    compare(job.error());
}

// --- Looking at data and machine: exit 1, the job fails while it is prepared ---------------------

void TestErrorPlaces::beforeTheRun_data()
{
    columns();
    const char *const data = "InvalidDataset";
    for (const char *source : {"nowhere", "empty", "broken.zip", "broken.tar", "broken.tar.gz", "broken.tar.bz2",
                               "notes.txt", "half_pair", "lost.csv"})
        row(source, {{"data.path", source}, {"data.label_column", "label"}}, data, "data.path", {source});
    row("two IDX pairs", {{"data.path", "two_pairs"}}, data, "data.path", {"first-images", "second-images"});
    row("a member outside", {{"data.path", "climbing.zip"}}, data, "data.path", {"climbing.zip", "../evil.ppm"});
    row("no such subfolder", {{"data.subfolder", "train"}}, data, "data.subfolder", {"'train'"});
    row("no such column", {{"data.path", "list.csv"}}, data, "data.label_column", {"'label'", "list.csv", "kind"});
    row("an empty class", {{"data.path", "hollow"}}, data, "convert", {"bee"});
    row("names for a folder", {{"convert.class_names", "x,y"}}, data, "convert.class_names", {"good"});
    row("too few names", {{"data.path", "pair"}, {"convert.class_names", "x,y"}}, data, "convert.class_names",
        {"small-images", "2"});
    row("one picture to split", {{"data.path", "one_picture"}}, data, "split", {"1 image"});
    row("a picture of each class", {{"data.path", "singles"}}, data, "split", {"one image"});
    row("an empty side", {{"split.fraction", 0.01}, {"split.stratified", false}}, "NotInRangeValue", "split.fraction",
        {"0.01", "16"});
    const QVariantMap resnet{{"model", "resnet"}, {"model.weights", "file"}};
    const auto with = [&](const char *file) {
        QVariantMap changes = resnet;
        changes.insert(QStringLiteral("model.weights_file"), QLatin1String(file));
        return changes;
    };
    row("no such weights", with("gone.pth"), "InvalidModelDirectory", "model.weights_file", {"gone.pth"});
    row("no weights", with("notes.pth"), "InvalidModelDirectory", "model.weights_file", {"notes.pth", "text"});
    row("a pipe", with("pipe.pth"), "InvalidModelDirectory", "model.weights_file", {"pipe.pth"});
    row("other weights", with("mlp.pth"), "CheckpointMismatch", "model.weights_file",
        {"mlp.pth", "missing: conv1.weight", "unexpected: fc1."});
    const auto load = [](const char *path) { return QVariantMap{{"model", "load-model"}, {"model.path", path}}; };
    row("load, nothing", load("nowhere"), "InvalidModelDirectory", "model.path", {"nowhere"});
    row("load, a folder", load("good"), "InvalidModelDirectory", "model.path", {"good", "model.json"});
    row("load, a text", load("notes.pth"), "InvalidModelDirectory", "model.path", {"notes.pth"});
    row("load, other tensors", load("strange.safetensors"), "InvalidModelDirectory", "model.path",
        {"strange.safetensors", "'w'"});
    QVariantMap another = load("mlp.pth"), classless = load("mlp.pth");
    another.insert("model.architecture", "resnet50");
    row("load, as another", another, "CheckpointMismatch", "model.architecture", {"mlp.pth", "resnet50"});
    classless.insert(">score.trained_model", "model.trained_model");
    row("load, no classes", classless, "InvalidModelDirectory", "model.path", {"mlp.pth"});
    row("batch above the data", {{"train.batch_size", 13LL}}, "LessThanOrEqualTo", "train.batch_size", {"13", "12"});
    row("one class", {{"data.path", "one_class"}, {"valdata.path", "one_picture"}}, data, "train", {"1", "'ant'"});
    row("a class more", {{"valdata.path", "third"}}, data, "train", {"'cow'"});
    row("a class less", {{"valdata.path", "one_class"}, {"train.require_same_categories", true}}, data,
        "train.require_same_categories", {"'bee'"});
    row("no labels to train", {{"data.path", "unlabelled"}}, "NotLabeledDataset", "train", {"'training_dataset'"});
    row("no labels to validate", {{"valdata.path", "unlabelled"}, {">score.dataset", "convert.image_directory"}},
        "NotLabeledDataset", "train", {"'validation_dataset'"});
    row("no labels to evaluate",
        {{"valdata.path", "unlabelled"}, {">train.validation_dataset", "convert.image_directory"}}, "NotLabeledDataset",
        "evaluate", {"'scored_dataset'"});
    row("no such device", {{"train.device", "cuda:77"}}, "DeviceUnavailable", "train.device", {"cuda:77", "cpu"});
    row("no device to score", {{"score.device", "cuda:78"}}, "DeviceUnavailable", "score.device", {"cuda:78", "cpu"});
}

void TestErrorPlaces::beforeTheRun()
{
    const Pipeline pipeline = changed();
    QVERIFY(validate(pipeline, m_registry).isEmpty());
    const auto planned = plan(pipeline, m_registry);
    TW_VERIFY(planned);
    const QList<Error> faults = preflight(**planned).errors;
    QStringList all;
    for (const Error &fault : faults)
        all.append(fault.toString());
    QVERIFY2(faults.size() == 1, qPrintable(all.join(u'\n')));
    compare(faults.first());
    if (QTest::currentTestFailed())
        return;
    const auto record = runJob(pipeline);
    TW_VERIFY(record);
    QCOMPARE(record->state, JobState::Failed);
    compare(*record->error);
    compareFiles(*record);
    for (const NodeRecord &node : record->nodes)
        QVERIFY2(node.outputs.isEmpty() && node.startedMs == 0, "nothing has run");
}

// --- What only the work shows: exit 1, the node fails, later ones are skipped ---------------------

void TestErrorPlaces::inTheRun_data()
{
    columns();
    const char *const data = "InvalidDataset";
    const QVariantMap torn{{"data.path", "torn"}};
    row("unreadable, fail", {{"data.path", "torn"}, {"convert.on_unreadable", "fail"}}, data, "convert",
        {"torn/ant/1.ppm"});
    row("nothing readable", {{"valdata.path", "all_torn"}}, data, "valconvert", {"2", "all_torn"});
    row("too large a picture", {{"data.path", "vast"}, {"convert.on_unreadable", "fail"}}, data, "convert",
        {"vast.ppm", "20000"});
    row("a crop too large", {{"ops.center_crop", true}, {"ops.crop_size", 9LL}, {"augment.materialize", true}}, data,
        "augment", {".ppm", "9", "8 × 8"});
    row("a crop too large in training", {{"ops.center_crop", true}, {"ops.crop_size", 9LL}}, data, "train",
        {".ppm", "9", "8 × 8"});
    row("unequal sizes", {{"data.path", "sizes"}}, data, "train", {"odd.ppm", "9 × 7", "8 × 8"});
    row("another size to validate", {{"valdata.path", "large"}}, data, "train", {"mlp", "8×8", "9×9"});
    row("pictures too small", {{"model", "densenet"}}, data, "train", {"densenet121", "8×8"});
    row("lost in training", {{"data.path", "torn"}, {"convert.verify", "header"}}, data, "train", {"10 %"});
    row("no number", {{"train.learning_rate", 1e30}}, "NotInRangeValue", "train.learning_rate", {"step", "1e+30"});
    row("too little memory", {{"train.epochs", 2LL}}, "ModuleOutOfMemory", "train", {"parameters", "0 MB"});
    const QVariantMap validated{{">train.validation_dataset", "convert.image_directory"}};
    const auto scoring = [&](const char *path) {
        QVariantMap changes = validated;
        changes.insert(QStringLiteral("valdata.path"), QLatin1String(path));
        return changes;
    };
    row("another size to score", scoring("large"), data, "score", {".ppm", "9 × 9", "8 × 8"});
    row("no class that the model knows", scoring("others"), data, "evaluate", {"'cow'"});
    QVariantMap lost = scoring("torn");
    lost.insert(QStringLiteral("valconvert.verify"), QStringLiteral("header"));
    row("lost in scoring", lost, data, "score", {"10 %"});
}

void TestErrorPlaces::inTheRun()
{
    const Pipeline pipeline = changed();
    QVERIFY(validate(pipeline, m_registry).isEmpty());
    const auto planned = plan(pipeline, m_registry);
    TW_VERIFY(planned);
    QVERIFY(preflight(**planned).errors.isEmpty());
    QFETCH(QString, name);
    if (name == QLatin1String(errors::ModuleOutOfMemory))
        qputenv("TRAINWRIGHT_MEMORY_LIMIT_MB", "1");
    QFETCH(QString, place);
    const auto record = runJob(pipeline, {place.section(u'.', 0, 0)});
    qunsetenv("TRAINWRIGHT_MEMORY_LIMIT_MB");
    TW_VERIFY(record);
    QCOMPARE(record->state, JobState::Failed);
    compare(*record->error);
    compareFiles(*record);
    for (const NodeRecord &node : record->nodes)
        if (node.state == NodeState::Failed) {
            QCOMPARE(node.id, record->error->nodeId);
            QVERIFY(node.outputs.isEmpty());
            std::error_code none;
            const fs::path outputs = m_workspace->nodeFolder(record->id, node.id) / "outputs";
            QVERIFY2(!fs::exists(outputs) || fs::is_empty(outputs, none), "nothing half-written stays");
        }
}

void TestErrorPlaces::faultsStandInTheLog_data()
{
    QTest::addColumn<QVariantMap>("changes");
    QTest::newRow("in the run") << QVariantMap{{"data.path", "torn"}, {"convert.on_unreadable", "fail"}};
    QTest::newRow("before it") << QVariantMap{{"data.path", "hollow"}};
}

void TestErrorPlaces::faultsStandInTheLog()
{
    const auto record = runJob(changed(), {QStringLiteral("convert")});
    TW_VERIFY(record);
    QCOMPARE(record->error->nodeId, QStringLiteral("convert"));
    const auto log = readFile(m_workspace->nodeFolder(record->id, "convert") / "logs" / "std_log.txt", errors::Library);
    QVERIFY(log.ok());
    QVERIFY(log->contains(record->error->toString().toUtf8()));
    QVERIFY(log->contains(record->error->hintSentence().toUtf8()));
}

// --- Every component ------------------------------------------------------------------------------

QMap<QString, PortValue> TestErrorPlaces::inputsOf(const QString &id) const
{
    QMap<QString, PortValue> inputs;
    for (const PipelineConnection &wire : m_sound.connections)
        if (wire.to.node == id)
            inputs.insert(wire.to.port, {m_workspace->outputFolder(m_job, wire.from.node, wire.from.port), {}});
    return inputs;
}

Result<RunReply> TestErrorPlaces::runNode(const char *id, const QMap<QString, PortValue> &inputs,
                                          const fs::path &outputs)
{
    const PipelineNode *node = m_sound.find(QLatin1String(id));
    const ComponentType *type = m_registry.find(node->component);
    QMap<QString, fs::path> folders;
    for (const PortSpec &port : type->outputs)
        folders.insert(port.id, outputs / port.id.toStdString());
    test::RecordingContext context(folder() / "job");
    std::ofstream(context.nodeFolder() / "metrics.jsonl");
    const ParameterValues values = type->schema.effective(node->parameters);
    return type->run({values, inputs, folders, context});
}

void TestErrorPlaces::emptyInputs_data()
{
    QTest::addColumn<QString>("name");
    for (const auto &[input, name] : {std::pair("convert.dataset", errors::InvalidDataset),
                                      std::pair("split.image_directory", errors::InvalidDataset),
                                      std::pair("augment.transformation", errors::InvalidTransformationDirectory),
                                      std::pair("augment.image_directory", errors::InvalidDataset),
                                      std::pair("train.untrained_model", errors::InvalidModelDirectory),
                                      std::pair("train.training_dataset", errors::InvalidDataset),
                                      std::pair("train.validation_dataset", errors::InvalidDataset),
                                      std::pair("score.trained_model", errors::InvalidModelDirectory),
                                      std::pair("score.dataset", errors::InvalidDataset),
                                      std::pair("evaluate.scored_dataset", errors::NotScoredDataset)})
        QTest::newRow(input) << QString::fromLatin1(name);
}

/// A folder that is not what the port takes.
void TestErrorPlaces::emptyInputs()
{
    QFETCH(QString, name);
    const PortAddress at = PortAddress::fromText(QString::fromLatin1(QTest::currentDataTag()));
    auto inputs = inputsOf(at.node);
    QVERIFY(inputs.contains(at.port));
    inputs[at.port] = {folder() / "empty", {}};
    const fs::path outputs = folder() / "outputs" / at.toText().toStdString();
    for (const PortSpec &port : m_registry.find(m_sound.find(at.node)->component)->outputs)
        fs::create_directories(outputs / port.id.toStdString());
    const auto refused = runNode(qPrintable(at.node), inputs, outputs);
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().name, name);
    const QString sentence = refused.error().sentence();
    QVERIFY2(sentence.contains(displayPath(folder() / "empty")), qPrintable(sentence));
    QVERIFY(!refused.error().hintSentence().isEmpty());
}

void TestErrorPlaces::outputsThatCannotBeWritten_data()
{
    QTest::addColumn<int>("none");
    for (const PipelineNode &node : m_sound.nodes)
        QTest::newRow(qPrintable(node.id)) << 0;
}

void TestErrorPlaces::outputsThatCannotBeWritten()
{
    const QString id = QString::fromLatin1(QTest::currentDataTag());
    const fs::path outputs = folder() / "gone" / id.toStdString();
    const auto refused = runNode(qPrintable(id), inputsOf(id), outputs);
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().name, QLatin1String(errors::FailedToWriteOutputs));
    const QString sentence = refused.error().sentence();
    QVERIFY2(sentence.contains(displayPath(outputs)), qPrintable(sentence));
    QVERIFY(!refused.error().hintSentence().isEmpty());
}

/// A name without a row here is that of a part which is no component, and has its test there.
void TestErrorPlaces::everyNameHasATest()
{
    const QMap<QString, const char *> elsewhere{
        {errors::InvalidImage, "tests/core/data/tst_decode.cpp"},
        {errors::InvalidWorkspace, "tests/core/jobs/tst_workspace.cpp"},
        {errors::Canceled, "tests/core/components/tst_scoremodel.cpp"},
        {errors::Library, "tests/core/jobs/tst_jobqueue.cpp"},
        {QStringLiteral("UsageError"), "tests/core/base/tst_errorpages.cpp"},
    };
    const auto contains = [](const char *file, const QString &name) {
        QFile source(displayPath(test::sourceFolder() / file));
        if (!source.open(QIODevice::ReadOnly))
            return false;
        const QString text = QString::fromUtf8(source.readAll());
        const QString bare = name.chopped(5);
        return text.contains(QStringLiteral("\"%1\"").arg(bare)) || text.contains(QStringLiteral("errors::") + bare)
               || text.contains(name);
    };
    for (const ErrorPage &page : errorPages()) {
        if (page.name == QLatin1String(errors::TimeoutOccurred))
            continue; // of processes that train together, which this version does not start
        const char *file = elsewhere.value(page.name, "tests/core/components/tst_errorplaces.cpp");
        QVERIFY2(contains(file, page.name), qPrintable(page.name));
    }
}

QTEST_GUILESS_MAIN(TestErrorPlaces)
#include "tst_errorplaces.moc"
