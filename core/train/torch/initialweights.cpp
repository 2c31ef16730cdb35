// SPDX-License-Identifier: GPL-3.0-or-later
// Weights of a file for a network, and the network for the weights of a file.
#include "core/base/hash.h"
#include "core/model/weightsfile.h"
#include "core/train/architectures.h"
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/torcherror.h"
#include "core/train/torch/weights.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

namespace tw {

namespace initialweights {

/// Names that training frameworks give the network as a part of something larger. No network here has a
/// part of such a name, so that one which all names begin with is never the network's own.
std::string takeWrappersOff(StateDict &weights)
{
    std::string taken = stripNamePrefix(weights);
    for (bool again = !weights.empty(); again;) {
        again = false;
        for (const std::string prefix : {"model.", "net.", "network.", "backbone."}) {
            const bool all = std::all_of(weights.begin(), weights.end(), [&](const TensorBlob &blob) {
                return blob.name.starts_with(prefix) && blob.name.size() > prefix.size();
            });
            if (!all)
                continue;
            for (TensorBlob &blob : weights)
                blob.name.erase(0, prefix.size());
            taken += prefix + stripNamePrefix(weights);
            again = true;
        }
    }
    return taken;
}

void takePrefixOff(InitialWeights &initial, const QString &what)
{
    if (const std::string prefix = takeWrappersOff(initial.weights); !prefix.empty())
        initial.notes += QStringLiteral("Every name in %1 begins with '%2', which was taken off.")
                             .arg(what, QString::fromStdString(prefix));
}

void useCurrentNames(InitialWeights &initial, const Architecture &architecture, const QString &what)
{
    if (!architecture.currentName)
        return;
    qsizetype changed = 0;
    for (TensorBlob &blob : initial.weights) {
        std::string name = architecture.currentName(blob.name);
        changed += name != blob.name;
        blob.name = std::move(name);
    }
    if (changed > 0)
        initial.notes += QStringLiteral("%1 tensors of %2 have names of an older version; they were renamed.")
                             .arg(changed)
                             .arg(what);
}

bool isInputCount(std::int64_t channels)
{
    return channels == 1 || channels == pictureChannels || channels == 4;
}

/// What PyTorch Image Models does with the first convolution (adapt_input_conv, by Ross Wightman): the sum
/// over the inputs for one, else the inputs in turn, scaled so that equal channels give the same output.
at::Tensor forInputs(const at::Tensor &weight, std::int64_t channels)
{
    const std::int64_t given = weight.size(1);
    if (channels == 1)
        return weight.to(at::kFloat).sum(1, true).to(weight.scalar_type());
    const std::int64_t times = (channels + given - 1) / given;
    const at::Tensor repeated = weight.to(at::kFloat).repeat({1, times, 1, 1}).narrow(1, 0, channels);
    return (repeated * (double(given) / double(channels))).to(weight.scalar_type());
}

/// The first convolution for the network's number of channels, where it is for another.
Result<void> adaptInput(InitialWeights &initial, const Architecture &architecture, const ModelConfig &config,
                        const QString &what)
{
    if (architecture.fixedInput)
        return {};
    TW_ASSIGN(network, makeNetwork(config, TensorPlace::ShapesOnly));
    const NamedTensor input = inputWeight(*network);
    const std::int64_t channels = input.tensor.size(1);
    for (TensorBlob &blob : initial.weights) {
        if (blob.name != input.name || blob.shape.size() != 4 || blob.shape[1] == channels
            || !isInputCount(blob.shape[1]) || !at::isFloatingType(viewOf(blob).scalar_type()))
            continue;
        const QString taken =
            channels == 1 ? QStringLiteral("their sum is taken for the one that %1 reads here.").arg(architecture.name)
                          : QStringLiteral("they are repeated and scaled for the %1 that %2 reads here.")
                                .arg(QString::number(channels), architecture.name);
        initial.notes += QStringLiteral("The first convolution of %1 is for %2 channels; %3")
                             .arg(what, QString::number(blob.shape[1]), taken);
        blob = blobOf(blob.name, forInputs(viewOf(blob), channels));
    }
    return {};
}

ImportOptions lenient(const std::string &headPrefix)
{
    ImportOptions options;
    options.headPrefix = headPrefix;
    options.lenientTypes = true;
    return options;
}

/// The network on shapes, with the number of classes that the head of `weights` has.
struct Candidate
{
    ModelConfig config;
    std::unique_ptr<Network> network;
};

std::optional<int> classesOf(const StateDict &weights, const std::string &headPrefix)
{
    for (const TensorBlob &blob : weights) {
        if (blob.name == headPrefix + "weight" && !blob.shape.empty() && blob.shape[0] >= 1
            && blob.shape[0] <= (1 << 20))
            return int(blob.shape[0]);
    }
    return std::nullopt;
}

/// Where the first convolution is for 1 or 4 channels.
std::optional<int> otherChannels(const Architecture &architecture, const Network &network, const StateDict &weights)
{
    if (architecture.fixedInput)
        return std::nullopt;
    const std::string name = inputWeight(network).name;
    for (const TensorBlob &blob : weights) {
        if (blob.name == name && blob.shape.size() == 4 && blob.shape[1] != pictureChannels
            && isInputCount(blob.shape[1]))
            return int(blob.shape[1]);
    }
    return std::nullopt;
}

/// Nothing where the shapes alone say that it is another network.
Result<std::optional<Candidate>> candidateFor(const Architecture &architecture, const StateDict &weights)
{
    Candidate candidate;
    candidate.config.architecture = architecture.name;
    if (architecture.argumentsOf) {
        const auto arguments = architecture.argumentsOf(weights);
        if (!arguments)
            return std::optional<Candidate>();
        candidate.config.arguments = *arguments;
    }
    auto network = makeNetwork(candidate.config, TensorPlace::ShapesOnly);
    if (!network.ok()) // derived arguments that it does not take: of another network with like names
        return std::optional<Candidate>();
    candidate.network = std::move(*network);
    if (const auto channels = otherChannels(architecture, *candidate.network, weights)) {
        candidate.config.arguments.insert(QStringLiteral("in_channels"), *channels);
        TW_ASSIGN(adapted, makeNetwork(candidate.config, TensorPlace::ShapesOnly));
        candidate.network = std::move(adapted);
    }
    const auto classes = classesOf(weights, candidate.network->headPrefix());
    candidate.config.arguments.insert(QStringLiteral("num_classes"), classes.value_or(1));
    return std::optional<Candidate>(std::move(candidate));
}

/// Names and shapes of a network.
struct Layout
{
    StateDict tensors;
    std::string headPrefix;
};

/// Share of names that both have with the same shape; a head may have another number of classes.
double likeness(const Layout &ours, const StateDict &weights)
{
    std::map<std::string_view, const TensorBlob *> given;
    for (const TensorBlob &blob : weights)
        given.emplace(blob.name, &blob);
    std::size_t equal = 0;
    for (const TensorBlob &entry : ours.tensors) {
        const auto found = given.find(entry.name);
        const bool head = !ours.headPrefix.empty() && entry.name.starts_with(ours.headPrefix);
        equal += found != given.end() && (head || entry.shape == found->second->shape);
    }
    return double(equal) / double(std::max({ours.tensors.size(), weights.size(), std::size_t(1)}));
}

/// Of a network whose shapes depend on the number of classes only; made once, since a file is compared
/// with each of them.
Result<const Layout *> usualLayout(const Architecture &architecture)
{
    static std::mutex mutex;
    static std::map<QString, Layout> layouts;
    const std::lock_guard lock(mutex);
    auto found = layouts.find(architecture.name);
    if (found == layouts.end()) {
        TW_ASSIGN(network, makeNetwork({architecture.name, {}}, TensorPlace::ShapesOnly));
        found = layouts.emplace(architecture.name, Layout{layoutOf(*network), network->headPrefix()}).first;
    }
    return &found->second;
}

QString firstNames(const StateDict &weights)
{
    constexpr std::size_t shown = 3;
    QStringList names;
    for (std::size_t i = 0; i < std::min(shown, weights.size()); ++i)
        names += u'\'' + QString::fromStdString(weights[i].name) + u'\'';
    return names.join(QStringLiteral(", "))
           + (weights.size() > shown ? QStringLiteral(" and %1 more").arg(weights.size() - shown) : QString());
}

Error nobodys(const StateDict &weights, const QString &what)
{
    return makeError(
        errors::InvalidModelDirectory,
        QT_TRANSLATE_NOOP("Error", "The tensors of %1 (%2) are those of no network that this program knows."),
        {what, firstNames(weights), architectureNames().join(QStringLiteral(", "))},
        QT_TRANSLATE_NOOP("Error", "Choose weights of one of these: %3."));
}

Error nearMiss(const StateDict &weights, const ModelConfig &config, const QString &mismatch, const QString &what)
{
    return makeError(errors::CheckpointMismatch,
                     QT_TRANSLATE_NOOP("Error", "The weights of %1 (%2 tensors) do not fit %3: %4."),
                     {what, QString::number(weights.size()), config.architecture, mismatch},
                     QT_TRANSLATE_NOOP("Error", "Choose the architecture that the weights were made with, or "
                                                "a file that holds all of its weights."));
}

/// What the file cannot say.
void noteAssumptions(RecognisedModel &model, const Architecture &architecture)
{
    const QJsonObject &arguments = model.config.arguments;
    if (const int channels = arguments.value(QLatin1String("in_channels")).toInt(pictureChannels);
        !architecture.fixedInput && channels != pictureChannels)
        model.initial.notes += QStringLiteral("It reads %1 instead of 3 channels.").arg(channels);
    if (!architecture.fixedInput)
        return;
    model.initial.notes +=
        QStringLiteral("The weights do not say it: pictures of %1×%2 pixels with %3 channels are taken for granted%4.")
            .arg(arguments.value(QLatin1String("width")).toInt())
            .arg(arguments.value(QLatin1String("height")).toInt())
            .arg(arguments.value(QLatin1String("in_channels")).toInt())
            .arg(arguments.contains(QLatin1String("hidden_sizes")) ? QStringLiteral(", and ReLU as activation")
                                                                   : QString());
}

/// Whether everything fits, the head included.
Result<QString> mismatchOf(const Candidate &candidate, const StateDict &weights)
{
    const ImportOptions options = lenient(candidate.network->headPrefix());
    if (const QString mismatch = weightsMismatch(*candidate.network, weights, options); !mismatch.isEmpty())
        return mismatch;
    TW_ASSIGN(exact, makeNetwork(candidate.config, TensorPlace::ShapesOnly));
    return weightsMismatch(*exact, weights, lenient({}));
}

struct Nearest
{
    double likeness = 0;
    ModelConfig config;
    QString mismatch;
};

/// The model where `weights` are this architecture's, else nothing; then `nearest` may be it.
Result<std::optional<RecognisedModel>> tryArchitecture(const Architecture &architecture, InitialWeights initial,
                                                       const QString &what, Nearest &nearest)
{
    useCurrentNames(initial, architecture, what);
    if (!architecture.argumentsOf) { // less work than a network of its own for each file
        TW_ASSIGN(layout, usualLayout(architecture));
        if (likeness(*layout, initial.weights) <= nearest.likeness)
            return std::optional<RecognisedModel>();
    }
    TW_ASSIGN(candidate, candidateFor(architecture, initial.weights));
    if (!candidate)
        return std::optional<RecognisedModel>();
    const Layout layout{layoutOf(*candidate->network), candidate->network->headPrefix()};
    const double like = likeness(layout, initial.weights);
    if (like <= nearest.likeness)
        return std::optional<RecognisedModel>();
    TW_ASSIGN(mismatch, mismatchOf(*candidate, initial.weights));
    if (!mismatch.isEmpty()) {
        nearest = {like, candidate->config, mismatch};
        return std::optional<RecognisedModel>();
    }
    RecognisedModel model{candidate->config, std::move(initial)};
    model.initial.notes.prepend(QStringLiteral("Recognised as %1: all %2 names and shapes agree.")
                                    .arg(architecture.name)
                                    .arg(model.initial.weights.size()));
    noteAssumptions(model, architecture);
    return std::optional<RecognisedModel>(std::move(model));
}

constexpr double nearLikeness = 0.5;

Result<std::optional<RecognisedModel>> lookAmongAll(const InitialWeights &initial, const QString &what,
                                                    Nearest &nearest)
{
    for (const Architecture &architecture : allArchitectures().items()) {
        TW_ASSIGN(model, tryArchitecture(architecture, initial, what, nearest));
        if (model)
            return model;
    }
    return std::optional<RecognisedModel>();
}

Result<RecognisedModel> recogniseAmongAll(const InitialWeights &initial, const QString &what)
{
    Nearest nearest;
    TW_ASSIGN(model, lookAmongAll(initial, what, nearest));
    if (model)
        return std::move(*model);
    if (nearest.likeness < nearLikeness)
        return nobodys(initial.weights, what);
    return nearMiss(initial.weights, nearest.config, nearest.mismatch, what);
}

Result<RecognisedModel> recogniseAs(const Architecture &architecture, const InitialWeights &initial,
                                    const QString &what)
{
    Nearest nearest;
    nearest.likeness = -1;
    TW_ASSIGN(model, tryArchitecture(architecture, initial, what, nearest));
    if (model) {
        model->initial.notes.removeFirst(); // nothing was recognised: it was chosen
        return std::move(*model);
    }
    if (nearest.likeness >= 0)
        return nearMiss(initial.weights, nearest.config, nearest.mismatch, what);
    // Shapes that say nothing of its arguments: against its defaults every name is listed.
    const ModelConfig config{architecture.name, {}};
    TW_ASSIGN(network, makeNetwork(config, TensorPlace::ShapesOnly));
    return nearMiss(initial.weights, config, weightsMismatch(*network, initial.weights, lenient({})), what);
}

} // namespace initialweights

Result<RecognisedModel> recogniseModel(StateDict weights, const QString &architecture, const QString &what)
{
    using namespace initialweights;
    return guarded([&]() -> Result<RecognisedModel> {
        InitialWeights initial{std::move(weights), {}};
        takePrefixOff(initial, what);
        if (architecture.isEmpty())
            return recogniseAmongAll(initial, what);
        TW_ASSIGN(wanted, findArchitecture(architecture));
        return recogniseAs(*wanted, initial, what);
    });
}

Result<ModelGuess> guessModel(StateDict weights, const QString &what)
{
    using namespace initialweights;
    return guarded([&]() -> Result<ModelGuess> {
        InitialWeights initial{std::move(weights), {}};
        takePrefixOff(initial, what);
        Nearest nearest;
        ModelGuess guess;
        TW_ASSIGN(model, lookAmongAll(initial, what, nearest));
        guess.model = std::move(model);
        if (!guess.model && nearest.likeness >= nearLikeness) {
            guess.nearest = nearest.config.architecture;
            guess.differences = nearest.mismatch;
        }
        return guess;
    });
}

Result<InitialWeights> readInitialWeights(const ModelConfig &config, const fs::path &file, const QByteArray &sha256)
{
    using namespace initialweights;
    if (!sha256.isEmpty()) {
        TW_ASSIGN(found, sha256OfFile(file, errors::InvalidModelDirectory));
        if (found != sha256)
            return makeError(errors::InvalidModelDirectory,
                             QT_TRANSLATE_NOOP("Error", "%1 is another file than when the model node ran: its SHA-256 "
                                                        "is %2, not %3."),
                             {displayPath(file), QString::fromLatin1(found), QString::fromLatin1(sha256)},
                             QT_TRANSLATE_NOOP("Error", "Run the model node again."));
    }
    return guarded([&]() -> Result<InitialWeights> {
        TW_ASSIGN(architecture, findArchitecture(config.architecture));
        InitialWeights initial;
        WeightsReport report;
        TW_ASSIGN(weights, readWeights(file, &report));
        initial.weights = std::move(weights);
        if (!report.weightsUnder.isEmpty())
            initial.notes +=
                QStringLiteral("The weights stand under '%1' in %2.").arg(report.weightsUnder, displayPath(file));
        initial.notes += report.warnings;
        takePrefixOff(initial, displayPath(file));
        useCurrentNames(initial, *architecture, displayPath(file));
        TW_TRY(adaptInput(initial, *architecture, config, displayPath(file)));
        return initial;
    });
}

Result<void> checkInitialWeights(const ModelConfig &config, const fs::path &file)
{
    return guarded([&]() -> Result<void> {
        TW_ASSIGN(initial, readInitialWeights(config, file));
        TW_ASSIGN(network, makeNetwork(config, TensorPlace::ShapesOnly));
        const ImportOptions options = initialweights::lenient(network->headPrefix());
        if (const QString mismatch = weightsMismatch(*network, initial.weights, options); !mismatch.isEmpty())
            return weightsMismatchError(displayPath(file), mismatch, config.architecture);
        return {};
    });
}

Result<StateDict> fittedWeights(const ModelConfig &config, const StateDict &weights, const QString &what)
{
    return guarded([&]() -> Result<StateDict> {
        TW_ASSIGN(network, makeNetwork(config, TensorPlace::ShapesOnly));
        if (const QString mismatch = weightsMismatch(*network, weights, initialweights::lenient({}));
            !mismatch.isEmpty())
            return weightsMismatchError(what, mismatch);
        return arrangedWeights(*network, weights);
    });
}

} // namespace tw
