// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "app/cli/scoringsupport.h"
#include "app/cli/stoponsignal.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/metrics/scoretable.h"
#include "core/train/devices.h"
#include "core/train/predictor.h"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <set>

namespace tw::cli {

namespace {

constexpr int significantDigits = 9;

/// A key of an object: percent-encoded where it is not UTF-8, so that no two classes share one.
QByteArray classKey(const std::string &name)
{
    const QJsonValue json = pathToJson(fs::path(name));
    return jsonString(json.isString() ? json.toString() : json.toObject().value("path").toString());
}

/// The classes that are shown: all in class-id order, or the most probable ones.
std::vector<int> shownClasses(const ScoredPicture &picture, int topK)
{
    if (topK > 0)
        return rankedClasses(picture.probabilities, std::size_t(topK));
    std::vector<int> all(picture.probabilities.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
}

QByteArray jsonText(const fs::path &file, const ScoredPicture &picture, const ScoreLayout &layout)
{
    const std::optional<int> best = bestClass(picture.probabilities);
    QByteArray line = "{\"path\":" + jsonCompact(pathToJson(file))
                      + ",\"label\":" + (best ? classKey(layout.classes[std::size_t(*best)]) : QByteArray("null"))
                      + ",\"probabilities\":{";
    for (const int id : shownClasses(picture, layout.topK))
        line += (line.endsWith('{') ? "" : ",") + classKey(layout.classes[std::size_t(id)]) + ':'
                + jsonNumber(picture.probabilities[std::size_t(id)], significantDigits);
    line += '}';
    if (layout.logits) {
        line += ",\"logits\":[";
        for (const float logit : picture.logits)
            line += (line.endsWith('[') ? "" : ",") + jsonNumber(double(logit), significantDigits);
        line += ']';
    }
    return line + "}\n";
}

QByteArray plainText(const fs::path &file, const ScoredPicture &picture, const ScoreLayout &layout)
{
    QByteArray line = bytesFromPath(file) + ':';
    if (!bestClass(picture.probabilities))
        return line + " the network gave no numbers\n";
    for (const int id : rankedClasses(picture.probabilities, std::size_t(std::max(1, layout.topK))))
        line += (line.endsWith(':') ? " " : ", ") + QByteArray::fromStdString(layout.classes[std::size_t(id)]) + " ("
                + QByteArray::number(100 * picture.probabilities[std::size_t(id)], 'f', 2) + " %)";
    return line + '\n';
}

/// Writing the table replaces its target: never a picture, a part of the model or a device.
bool isSafeTarget(const fs::path &table, const QList<QByteArray> &words)
{
    std::error_code ignored;
    const fs::file_status status = fs::status(table, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status))
        return false;
    if (fs::equivalent(fs::absolute(table, ignored).parent_path(), pathFromBytes(words.first()), ignored))
        return false;
    return std::none_of(words.begin() + 1, words.end(), [&](const QByteArray &word) {
        std::error_code fault;
        return fs::equivalent(table, pathFromBytes(word), fault);
    });
}

/// The table grows beside its place and takes it when it is whole; else nothing of it stays.
class TableFile
{
public:
    explicit TableFile(const fs::path &target) : m_target(resolved(target)), m_folder(m_target) {}
    Result<void> open(const ScoreLayout &layout)
    {
        std::error_code unknown;
        if (m_target.has_parent_path() && !fs::is_directory(m_target.parent_path(), unknown))
            return tw::writeError(m_target, ENOENT);
        TW_TRY(m_folder.open());
        return m_csv.open(file(), layout);
    }
    ScoreCsvWriter &csv() { return m_csv; }
    Result<void> commit()
    {
        TW_TRY(m_csv.close());
        TW_TRY(syncPath(file()));
        std::error_code code, ignored;
        if (const fs::file_status old = fs::status(m_target, ignored); fs::exists(old))
            fs::permissions(file(), old.permissions(), ignored);
        fs::rename(file(), m_target, code);
        return code ? Result<void>(tw::writeError(m_target, code.value())) : Result<void>();
    }

private:
    static fs::path resolved(const fs::path &target)
    {
        std::error_code code;
        const fs::path whole = fs::is_symlink(target, code) ? fs::canonical(target, code) : target;
        return code || whole.empty() ? target : whole;
    }
    fs::path file() const { return m_folder.temporary() / "scored.csv"; }
    fs::path m_target;
    AtomicFolder m_folder;
    ScoreCsvWriter m_csv;
};

/// One run of the command.
class Scoring
{
public:
    Scoring(const Arguments &arguments, int topK, Predictor &predictor, const StopToken &stop)
        : m_predictor(predictor), m_stop(stop), m_isJson(arguments.has("json")), m_isPlain(!arguments.has("csv"))
    {
        m_layout.classes = predictor.info().classes;
        m_layout.logits = arguments.has("logits");
        m_layout.topK = topK;
    }
    Result<void> run(const std::vector<PictureSource> &sources, const std::optional<fs::path> &csv);
    bool hasSkipped() const { return m_skipped; }

private:
    Result<void> scoreSource(const PictureSource &source, ScoreCsvWriter *csv);
    Result<void> scorePart(const PictureSource &source, const ManifestPtr &manifest, std::uint32_t offset,
                           ScoreCsvWriter *csv);
    Result<void> tell(const PictureSource &source, std::uint32_t sample, const ScoredPicture &picture,
                      ScoreCsvWriter *csv);

    Predictor &m_predictor;
    const StopToken &m_stop;
    bool m_isJson, m_isPlain, m_skipped = false;
    std::uint32_t m_next = 0;        ///< of the source in hand: the first not scored yet
    std::set<std::uint32_t> m_named; ///< of the source in hand: those with an error
    std::int64_t m_undefined = 0;
    ScoreLayout m_layout;
};

Result<void> Scoring::tell(const PictureSource &source, std::uint32_t sample, const ScoredPicture &picture,
                           ScoreCsvWriter *csv)
{
    const fs::path path = source.shownPath(sample);
    if (m_isJson)
        writeOut(jsonText(path, picture, m_layout));
    else if (m_isPlain)
        writeOut(plainText(path, picture, m_layout));
    if (!csv)
        return {};
    return csv->add(path.native(), source.category(sample), picture.probabilities, picture.logits);
}

/// Scores the pictures of `manifest`, whose first is number `offset` of the source.
Result<void> Scoring::scorePart(const PictureSource &source, const ManifestPtr &manifest, std::uint32_t offset,
                                ScoreCsvWriter *csv)
{
    ProgressLine progress(std::int64_t(manifest->size()));
    ScoringPass pass{manifest, m_predictor.info(), [this](const Batch &batch) { return m_predictor.logits(batch); }};
    pass.largestLoss = 1; // each is named, the others are scored
    pass.stop = &m_stop;
    pass.picture = [&](const ScoredPicture &picture) {
        if (m_isJson || m_isPlain)
            progress.clear();
        m_undefined += bestClass(picture.probabilities) ? 0 : 1;
        m_next = offset + picture.sample + 1;
        return tell(source, m_next - 1, picture, csv);
    };
    pass.skipped = [&](std::uint32_t sample, const QString &reason) {
        progress.clear();
        if (m_named.insert(offset + sample).second)
            printError(makeError(errors::InvalidImage, "%1", {reason}));
    };
    pass.progress = [&](std::int64_t done, double imagesPerSecond) { progress.show(done, imagesPerSecond); };
    const auto summary = scorePictures(pass);
    return summary.ok() ? Result<void>() : Result<void>(summary.error());
}

/// One picture that does not fit (its size, a crop) must not keep the others from being scored: from
/// there on they go one by one, each with an error of its own.
Result<void> Scoring::scoreSource(const PictureSource &source, ScoreCsvWriter *csv)
{
    m_next = 0;
    m_named.clear();
    Result<void> done = scorePart(source, source.manifest, 0, csv);
    const auto isUnfit = [&] { return !done.ok() && done.error().name == QLatin1String(errors::InvalidDataset); };
    for (std::uint32_t i = m_next; isUnfit() && i < source.manifest->size(); ++i) {
        const auto one = std::make_shared<const ImageManifest>(source.manifest->subset({i}));
        if (const auto scored = scorePart(source, one, i, csv); !scored.ok()) {
            if (scored.error().name != QLatin1String(errors::InvalidDataset))
                return scored;
            printError(scored.error());
            m_named.insert(i);
        }
    }
    m_skipped = m_skipped || !m_named.empty();
    return isUnfit() && source.manifest->size() > 0 ? Result<void>() : done;
}

Result<void> Scoring::run(const std::vector<PictureSource> &sources, const std::optional<fs::path> &csv)
{
    std::optional<TableFile> table;
    if (csv) {
        m_layout.labelled = std::all_of(sources.begin(), sources.end(),
                                        [](const PictureSource &source) { return source.manifest->isLabelled(); });
        TW_TRY(table.emplace(*csv).open(m_layout));
    }
    for (const PictureSource &source : sources)
        TW_TRY(scoreSource(source, table ? &table->csv() : nullptr));
    if (m_undefined > 0)
        writeError("Warning: The network gave no numbers for " + QByteArray::number(qint64(m_undefined))
                   + " pictures; they have no label.\n");
    return table ? table->commit() : Result<void>();
}

Result<int> score(const Arguments &arguments, int topK)
{
    const StopOnSignal stop;
    TW_ASSIGN(sources, picturesOf(arguments.words().mid(1), stop.token()));
    TW_ASSIGN(predictor, Predictor::load(pathFromBytes(arguments.words().first()),
                                         arguments.has("device") ? arguments.text("device") : QStringLiteral("auto")));
    Scoring scoring(arguments, topK, *predictor, stop.token());
    TW_TRY(scoring.run(sources, arguments.has("csv") ? std::optional(arguments.path("csv")) : std::nullopt));
    return scoring.hasSkipped() ? exitFailed : exitDone;
}

int run(const Arguments &arguments)
{
    openCudaLibrary();
    const auto topK = integerOption(arguments, "top-k", 0, 1, 1000000);
    if (!topK)
        return exitUsage;
    if (arguments.has("csv") && !isSafeTarget(arguments.path("csv"), arguments.words()))
        return usageError(
            QStringLiteral("The table would replace %1, which is a picture to be scored, a part of the model "
                           "or no plain file.")
                .arg(displayPath(arguments.path("csv"))),
            QStringLiteral("Name a new file after --csv."));
    const auto code = score(arguments, int(*topK));
    return code.ok() ? *code : failWith(code.error());
}

} // namespace

Command scoreCommand()
{
    return {"score",
            "MODEL_DIR IMAGES…",
            "Asks a trained model about pictures, folders and archives of pictures.",
            {{"csv", "FILE", "write a table there, in the columns of Score Image Model"},
             {"json", nullptr, "print one JSON object a picture"},
             {"logits", nullptr, "add the network's raw outputs"},
             {"top-k", "K", "only the K most probable classes"},
             {"device", "DEVICE", "auto, cpu, cuda:0, …"}},
            2,
            -1,
            run};
}

} // namespace tw::cli
