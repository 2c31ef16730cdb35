// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/jobs/fakecomponents.h"

#include "core/base/files.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>

namespace tw::test {

namespace {

std::mutex runsMutex;
QMap<QString, int> runs;

void countRun(const QString &node)
{
    const std::lock_guard guard(runsMutex);
    ++runs[node];
}

void write(const fs::path &file, const QByteArray &text)
{
    std::ofstream(file, std::ios::binary) << text.toStdString();
}

void pause()
{
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

Error canceled()
{
    return makeError(errors::Canceled, "Canceled.");
}

ComponentType source()
{
    ComponentType type;
    type.id = QStringLiteral("fake-source");
    type.named("Source", "Test", "").output("dataset", "Dataset", DataType::AnyDirectory);
    type.parameter(ParameterSpec::integer("value", "Value", 1));
    type.parameter(ParameterSpec::integer("speed", "Speed", 1).keepsResult());
    type.parameter(ParameterSpec::integer("seed", "Seed", 42).isAutomatic("drawn"));
    type.parameter(ParameterSpec::path("path", "Path"));
    type.parameter(ParameterSpec::text("print", "Fingerprint", "").keepsResult());
    type.preflight = [](const PreflightRequest &request) {
        PreflightReply reply;
        if (!request.values.text("print").isEmpty())
            reply.outputs[QStringLiteral("dataset")].extra.insert(QStringLiteral("fingerprint"),
                                                                  request.values.text("print"));
        return reply;
    };
    type.run = [](const RunRequest &request) -> Result<RunReply> {
        countRun(request.context.nodeId());
        const QByteArray text = QByteArray::number(request.values.integer("value"));
        fs::create_directory(request.outputFolders[QStringLiteral("dataset")] / "deep");
        write(request.outputFolders[QStringLiteral("dataset")] / "deep" / "value.txt", text);
        request.context.result(QStringLiteral("images"), request.values.integer("value"));
        RunReply reply;
        reply.objects[QStringLiteral("dataset")] = text;
        return reply;
    };
    return type;
}

Result<RunReply> runStep(const RunRequest &request)
{
    RunContext &context = request.context;
    countRun(context.nodeId());
    const QString mode = request.values.text("mode");
    const fs::path out = request.outputFolders[QStringLiteral("result")];
    const PortValue &in = request.inputs[QStringLiteral("dataset")];
    write(out / "first.txt", contentOf(in.folder / "deep" / "value.txt"));
    if (mode == u"fail" || mode == u"half")
        return makeError(errors::InvalidDataset, "The folder %1 is bad.", {QStringLiteral("x")}, "Fix it.");
    if (mode == u"throw")
        throw std::runtime_error("out of luck");
    if (mode == u"memory")
        throw std::bad_alloc();
    for (int i = 0; mode == u"wait" && !context.isCanceled(); ++i) {
        context.progress(-1, QString::number(i));
        pause();
    }
    if (mode == u"full_disk") {
        fs::create_symlink("/dev/full", context.nodeFolder() / "metrics.jsonl");
        for (int i = 1; !context.isCanceled(); ++i)
            context.metric({{}, QStringLiteral("train_loss"), i, 0.5, 0, 0, 1.0});
        return canceled();
    }
    const qlonglong count = request.values.integer("count");
    for (qlonglong i = 1; mode == u"lines" && i <= count; ++i) {
        context.metric({{}, QStringLiteral("train_loss"), i, double(i) / double(count), 0, 0, 1.0 / double(i)});
        context.driverLog(0, QStringLiteral("line %1").arg(i));
    }
    if (context.isCanceled())
        return canceled();
    fs::create_directory(out / "deep");
    write(out / "deep" / "value.txt", contentOf(out / "first.txt"));
    return RunReply{};
}

ComponentType step()
{
    ComponentType type;
    type.id = QStringLiteral("fake-step");
    type.named("Step", "Test", "");
    type.input("dataset", "Dataset", DataType::AnyDirectory).output("result", "Result", DataType::AnyDirectory);
    type.parameter(ParameterSpec::text("mode", "Mode", "ok"));
    type.parameter(ParameterSpec::integer("count", "Count", 0));
    type.preflight = [](const PreflightRequest &request) {
        PreflightReply reply;
        if (request.values.text("mode") == u"refuse")
            reply.errors.append(makeError(errors::InvalidDataset, "Refused."));
        if (request.values.text("mode") == u"warn")
            reply.warnings.append(QStringLiteral("look out"));
        return reply;
    };
    type.run = runStep;
    return type;
}

ComponentType model()
{
    ComponentType type;
    type.id = QStringLiteral("fake-model");
    type.named("Model", "Test", "").output("untrained_model", "Model", DataType::UntrainedModelDirectory);
    type.run = [](const RunRequest &request) -> Result<RunReply> {
        countRun(request.context.nodeId());
        write(request.outputFolders[QStringLiteral("untrained_model")] / "model.txt", "fresh");
        return RunReply{};
    };
    return type;
}

Result<RunReply> runTrain(const RunRequest &request)
{
    RunContext &context = request.context;
    countRun(context.nodeId());
    const qlonglong steps = request.values.integer("steps");
    const fs::path out = request.outputFolders[QStringLiteral("trained_model")];
    write(out / "weights.txt", "half");
    for (qlonglong i = 1; i <= steps; ++i) {
        if (context.isCanceled())
            return canceled();
        context.metric({{}, QStringLiteral("train_loss"), i, double(i) / 10, double(i), 0, 1.0 / double(i)});
        context.metric({{}, QStringLiteral("val_top1"), i, double(i), double(i), 0, i == 3 ? 0.9 : 0.5});
        context.driverLog(0, QStringLiteral("Epoch: %1").arg(i, 3, 10, QLatin1Char('0')));
        if (context.isStopRequested()) {
            context.stoppedEarly(QStringLiteral("user"));
            break;
        }
        if (i == request.values.integer("patience")) {
            context.stoppedEarly(QStringLiteral("patience"));
            break;
        }
        pause();
    }
    write(out / "weights.txt", "whole");
    return RunReply{};
}

ComponentType train()
{
    ComponentType type;
    type.id = QStringLiteral("fake-train");
    type.named("Train", "Test", "");
    type.input("untrained_model", "Model", DataType::UntrainedModelDirectory);
    type.output("trained_model", "Trained", DataType::ModelDirectory);
    type.parameter(ParameterSpec::integer("steps", "Steps", 5));
    type.parameter(ParameterSpec::integer("patience", "Patience", 0));
    type.run = runTrain;
    return type;
}

ComponentType score()
{
    ComponentType type;
    type.id = QStringLiteral("fake-score");
    type.named("Score", "Test", "");
    type.input("trained_model", "Model", DataType::ModelDirectory).output("table", "Table", DataType::DataTable);
    type.run = [](const RunRequest &request) -> Result<RunReply> {
        countRun(request.context.nodeId());
        const fs::path in = request.inputs[QStringLiteral("trained_model")].folder;
        write(request.outputFolders[QStringLiteral("table")] / "scored.csv", contentOf(in / "weights.txt"));
        return RunReply{};
    };
    return type;
}

} // namespace

void registerFakeComponents(ComponentRegistry &registry)
{
    registry.add(source());
    registry.add(step());
    registry.add(model());
    registry.add(train());
    registry.add(score());
}

int runsOf(const QString &node)
{
    const std::lock_guard guard(runsMutex);
    return runs.value(node);
}

PipelineNode makeNode(const char *id, const char *component, const QMap<QString, QVariant> &values)
{
    PipelineNode node;
    node.id = QString::fromLatin1(id);
    node.component = QString::fromLatin1(component);
    for (auto value = values.constBegin(); value != values.constEnd(); ++value)
        node.parameters.set(value.key(), *value);
    return node;
}

PipelineConnection wire(const char *from, const char *to)
{
    return {PortAddress::fromText(QString::fromLatin1(from)), PortAddress::fromText(QString::fromLatin1(to))};
}

Studio::Studio()
{
    registerFakeComponents(registry);
}

bool Studio::open()
{
    workspace.reset();
    auto opened = Workspace::open(folder());
    if (!opened.ok()) {
        qWarning("%s", qPrintable(opened.error().toString()));
        return false;
    }
    workspace = std::move(*opened);
    return true;
}

fs::path Studio::folder() const
{
    return pathFromText(temporary.path()) / "workspace";
}

void Seen::add(const QList<JobEvent> &events, const QString &job)
{
    for (const JobEvent &event : events) {
        if (event.job != job)
            continue;
        if (const auto *state = std::get_if<JobStateEvent>(&event.body))
            states.append(jobStateId(state->state));
        else if (const auto *node = std::get_if<NodeStateEvent>(&event.body))
            nodeStates[node->node].append(nodeStateId(node->state));
        else if (const auto *error = std::get_if<ErrorEvent>(&event.body))
            errors.append(error->error);
        else if (const auto *result = std::get_if<ResultEvent>(&event.body))
            results[result->node + u'.' + result->key] = result->value;
        else if (std::holds_alternative<MetricEvent>(event.body))
            ++points;
    }
}

JobRequest requestFor(const Pipeline &pipeline)
{
    JobRequest request;
    request.pipeline = pipeline;
    request.experiment = QStringLiteral("tests");
    request.tags = {{QStringLiteral("kind"), QStringLiteral("fake")}};
    return request;
}

QByteArray contentOf(const fs::path &file)
{
    const auto bytes = readFile(file, errors::Library);
    return bytes.ok() ? *bytes : QByteArray();
}

bool isThere(const fs::path &path)
{
    std::error_code fault;
    return fs::exists(fs::symlink_status(path, fault));
}

QStringList outputNames(const Workspace &workspace, const QString &job, const QString &node)
{
    QStringList names;
    std::error_code fault;
    for (const auto &entry : fs::directory_iterator(workspace.nodeFolder(job, node) / "outputs", fault))
        names.append(QString::fromStdString(entry.path().filename().string()));
    names.sort();
    return names;
}

} // namespace tw::test
