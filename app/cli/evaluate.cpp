// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/evaluationtext.h"
#include "app/cli/output.h"
#include "app/cli/scoringsupport.h"
#include "app/cli/stoponsignal.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/data/datasetscan.h"
#include "core/metrics/evaluation.h"
#include "core/train/devices.h"
#include "core/train/predictor.h"

#include <algorithm>

namespace tw::cli {

namespace {

bool knowsOne(const std::vector<std::string> &classes, const std::vector<std::string> &categories)
{
    return std::any_of(categories.begin(), categories.end(), [&](const std::string &name) {
        return std::find(classes.begin(), classes.end(), name) != classes.end();
    });
}

/// The labelled pictures. Labels go by name; those of an IDX pair are numbers without names, so that
/// they mean the model's class ids where they are not its names.
Result<ManifestPtr> labelledPictures(const fs::path &path, const std::vector<std::string> &classes,
                                     const StopToken &stop)
{
    TW_ASSIGN(scan, scanDataset(path, ScanOptions{true, {}}, &stop));
    ImageManifest &manifest = scan.manifest;
    if (!manifest.isLabelled())
        return makeError(errors::NotLabeledDataset,
                         QT_TRANSLATE_NOOP("Error", "The pictures at '%1' have no categories to compare with."),
                         {displayPath(path)},
                         QT_TRANSLATE_NOOP("Error", "Give a folder that holds one folder of pictures per class."));
    if (manifest.storage == ImageManifest::Storage::Idx && !knowsOne(classes, manifest.categories)
        && manifest.categories.size() <= classes.size()) {
        writeError("Note: the labels of the IDX files are taken as the model's class ids.\n");
        std::copy_n(classes.begin(), manifest.categories.size(), manifest.categories.begin());
    }
    return ManifestPtr(std::make_shared<const ImageManifest>(std::move(manifest)));
}

/// One evaluation of one or two models on the same pictures.
class Evaluating
{
public:
    Evaluating(const Arguments &arguments, const StopToken &stop) : m_arguments(arguments), m_stop(stop)
    {
        m_models.append(arguments.words().first());
        m_models.append(arguments.all("compare"));
    }
    Result<EvaluationReport> run(const fs::path &changedFile);

private:
    Result<void> addModel(const QByteArray &folder, EvaluationBuilder &builder);
    ScoringPass passOf(Predictor &predictor, EvaluationBuilder &builder, ProgressLine &progress) const;

    const Arguments &m_arguments;
    const StopToken &m_stop;
    QList<QByteArray> m_models;
    ManifestPtr m_manifest;
};

ScoringPass Evaluating::passOf(Predictor &predictor, EvaluationBuilder &builder, ProgressLine &progress) const
{
    ScoringPass pass{m_manifest, predictor.info(), [&](const Batch &batch) { return predictor.logits(batch); }};
    pass.stop = &m_stop;
    pass.picture = [this, &builder](const ScoredPicture &picture) {
        ScoredRow row;
        row.path = m_manifest->displayName(picture.sample);
        row.category = m_manifest->categories[std::size_t(m_manifest->category(picture.sample))];
        row.probabilities.assign(picture.probabilities.begin(), picture.probabilities.end());
        row.label = bestClass(picture.probabilities);
        return builder.add(row);
    };
    pass.skipped = [&progress](std::uint32_t, const QString &reason) {
        progress.clear();
        writeError("Warning: left out: " + reason.toUtf8() + '\n');
    };
    pass.progress = [&progress](std::int64_t done, double imagesPerSecond) { progress.show(done, imagesPerSecond); };
    return pass;
}

Result<void> Evaluating::addModel(const QByteArray &folder, EvaluationBuilder &builder)
{
    TW_ASSIGN(predictor, Predictor::load(pathFromBytes(folder), m_arguments.has("device") ? m_arguments.text("device")
                                                                                          : QStringLiteral("auto")));
    if (!m_manifest) {
        TW_ASSIGN(pictures,
                  labelledPictures(pathFromBytes(m_arguments.words().at(1)), predictor->info().classes, m_stop));
        m_manifest = pictures;
    }
    ScoreLayout layout;
    layout.classes = predictor->info().classes;
    layout.labelled = true;
    TW_TRY(builder.begin(displayPath(pathFromBytes(folder)), layout, qint64(m_manifest->size())));
    ProgressLine progress(std::int64_t(m_manifest->size()));
    TW_ASSIGN(summary, scorePictures(passOf(*predictor, builder, progress)));
    progress.clear();
    if (summary.skipped > 0)
        writeError("Warning: " + QByteArray::number(qint64(summary.skipped)) + " pictures could not be read.\n");
    return builder.end(&m_stop);
}

Result<EvaluationReport> Evaluating::run(const fs::path &changedFile)
{
    EvaluationBuilder builder(int(m_models.size()), changedFile);
    for (const QByteArray &model : m_models)
        TW_TRY(addModel(model, builder));
    // Both models see the same pictures, so that none stands in one table alone.
    return builder.finish([](const std::vector<std::uint32_t> &) { return Result<QStringList>(QStringList()); });
}

/// The figures of the (first) model at the top, then what evaluation.json holds.
QByteArray jsonText(const Arguments &arguments, const EvaluationReport &report)
{
    QByteArray line = "{\"model\":" + jsonCompact(pathToJson(pathFromBytes(arguments.words().first())))
                      + ",\"data\":" + jsonCompact(pathToJson(pathFromBytes(arguments.words().at(1))));
    for (const auto &[name, value] : headlineFigures(report.results.front()))
        line += ',' + jsonString(name) + ':' + jsonCompact(value);
    QByteArray rest = ",\"results\":" + resultsJson(report) + ",\"comparison\":" + comparisonJson(report) + '}';
    rest.replace('\n', "");
    return line + rest + '\n';
}

Result<int> evaluate(const Arguments &arguments)
{
    const StopOnSignal stop;
    std::optional<AtomicFolder> out;
    if (arguments.has("out")) {
        out.emplace(arguments.path("out"));
        TW_TRY(out->open());
    }
    TW_ASSIGN(report, Evaluating(arguments, stop.token()).run(out ? out->temporary() / "changed.csv" : fs::path()));
    for (const QString &warning : report.warnings)
        writeError("Warning: " + warning.toUtf8() + '\n');
    if (out) {
        TW_TRY(writeEvaluation(out->temporary(), report));
        TW_TRY(out->commit());
    }
    writeOut(arguments.has("json") ? jsonText(arguments, report) : evaluationText(report));
    return exitDone;
}

int run(const Arguments &arguments)
{
    openCudaLibrary();
    if (arguments.all("compare").size() > 1)
        return usageError(
            QStringLiteral("Two models can be compared, not %1.").arg(arguments.all("compare").size() + 1),
            QStringLiteral("Give --compare once."));
    const auto code = evaluate(arguments);
    return code.ok() ? *code : failWith(code.error());
}

} // namespace

Command evaluateCommand()
{
    return {"evaluate",
            "MODEL_DIR DATA",
            "Says how right a trained model is on labelled pictures.",
            {{"compare", "MODEL_DIR", "a second model on the same pictures, and the difference"},
             {"out", "DIR", "write evaluation.json and changed.csv into a new folder"},
             {"json", nullptr, "print one JSON object"},
             {"device", "DEVICE", "auto, cpu, cuda:0, …"}},
            2,
            2,
            run};
}

} // namespace tw::cli
