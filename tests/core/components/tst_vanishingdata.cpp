// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/componentregistry.h"
#include "core/jobs/jobqueue.h"
#include "core/jobs/workspace.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace tw;
using namespace tw::test;

namespace {

fs::path doomed; ///< removed by the component below, while the job runs

ComponentType vanish()
{
    ComponentType type;
    type.id = QStringLiteral("test-vanish");
    type.named("Vanish", "Test", "Takes the pictures away and passes their list on.")
        .input("image_directory", "Images", DataType::ImageDirectory)
        .output("image_directory", "Images", DataType::ImageDirectory);
    type.run = [](const RunRequest &request) -> Result<RunReply> {
        const PortValue &in = request.inputs[QStringLiteral("image_directory")];
        const fs::path out = request.outputFolders[QStringLiteral("image_directory")];
        fs::copy(in.folder, out, fs::copy_options::recursive);
        fs::remove_all(doomed);
        return RunReply{{{QStringLiteral("image_directory"), in.object}}};
    };
    return type;
}

PipelineNode node(const char *id, const char *component, const QMap<QString, QVariant> &values = {})
{
    PipelineNode made;
    made.id = QString::fromLatin1(id);
    made.component = QString::fromLatin1(component);
    for (auto value = values.begin(); value != values.end(); ++value)
        made.parameters.set(value.key(), *value);
    return made;
}

PipelineConnection wire(const char *from, const char *to)
{
    return {PortAddress::fromText(QString::fromLatin1(from)), PortAddress::fromText(QString::fromLatin1(to))};
}

} // namespace

/// Pictures that were there at the checks before the run and are gone when they are read.
class TestVanishingData : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void trainingNamesTheLostFolder();
};

void TestVanishingData::trainingNamesTheLostFolder()
{
    const QTemporaryDir temporary;
    const fs::path data = pathFromText(temporary.path()) / "data";
    for (const char *name : {"ant", "bee"}) {
        fs::create_directories(data / name);
        for (int i = 0; i < 8; ++i)
            std::ofstream(data / name / (std::to_string(i) + ".ppm"), std::ios::binary)
                << "P6\n8 8\n255\n"
                << std::string(192, char(20 * i));
    }
    doomed = data;
    ComponentRegistry registry;
    registerAllComponents(registry);
    registry.add(vanish());
    Pipeline pipeline;
    pipeline.nodes = {node("data", "image-dataset", {{"path", bytesFromPath(data)}}),
                      node("convert", "convert-to-image-directory"),
                      node("split", "split-image-directory", {{"fraction", 0.75}}),
                      node("vanish", "test-vanish"),
                      node("model", "basic-network", {{"network", "mlp"}}),
                      node("train", "train-pytorch-model",
                           {{"epochs", 1LL}, {"batch_size", 2LL}, {"device", "cpu"}, {"threads", 1LL}})};
    pipeline.connections = {wire("data.dataset", "convert.dataset"),
                            wire("convert.image_directory", "split.image_directory"),
                            wire("split.image_directory1", "vanish.image_directory"),
                            wire("model.untrained_model", "train.untrained_model"),
                            wire("vanish.image_directory", "train.training_dataset"),
                            wire("split.image_directory2", "train.validation_dataset")};
    const auto workspace = Workspace::open(pathFromText(temporary.path()) / "ws");
    TW_VERIFY(workspace);
    JobQueue queue(**workspace, registry);
    JobRequest request;
    request.pipeline = pipeline;
    const auto job = queue.submit(request);
    TW_VERIFY(job);
    QTRY_VERIFY_WITH_TIMEOUT(queue.isIdle(), 60000);
    const auto record = (*workspace)->job(*job);
    TW_VERIFY(record);
    QVERIFY(!fs::exists(data));
    QCOMPARE(record->state, JobState::Failed);
    QCOMPARE(record->error->name, QString(errors::InvalidDataset));
    QCOMPARE(record->error->nodeId, QStringLiteral("train"));
    QVERIFY2(record->error->sentence().contains(displayPath(data)), qPrintable(record->error->sentence()));
    QVERIFY(!record->error->hintSentence().isEmpty());
    QVERIFY(!fs::exists((*workspace)->outputFolder(*job, "train", "trained_model")));
    const auto outputs = (*workspace)->nodeFolder(*job, "train") / "outputs";
    std::error_code fault;
    QVERIFY(!fs::exists(outputs) || fs::is_empty(outputs, fault));
}

QTEST_GUILESS_MAIN(TestVanishingData)
#include "tst_vanishingdata.moc"
