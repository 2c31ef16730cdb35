// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/train/torch/networkparity.h"

#include "core/train/torch/architecturelist.h"
#include "tests/core/train/families.h"
#include "tests/core/train/torch/formula.h"
#include "tests/support/testsupport.h"

#include <QDebug>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTest>

#include <algorithm>

namespace tw::test {

namespace {

constexpr std::int64_t classes = 5, pictureCount = 4, trainingPasses = 3;
constexpr OnlySize oblong{45, 61};
constexpr double headGain = 4;
constexpr double logitTolerance = 2e-5, gradientTolerance = 1e-3, statisticsTolerance = 1e-4;
/// A ReLU whose input lies within rounding of its kink turns a gradient on or off as a whole, on one processor
/// and not on another. So where float32 misses the tolerance by no more than `kinkAllowance`, float64 decides,
/// with a tolerance of its own (the goldens have six digits).
constexpr double kinkAllowance = 50, exactGradientTolerance = 5e-6;
/// A parameter that the next batch norm takes away again has no gradient but for rounding: exactly at most
/// `still` of the network's largest norm, here at most `stillTolerance` of it.
constexpr double still = 1e-9, stillTolerance = 1e-4;
constexpr double leastSpread = 1, leastDifference = 0.02;

at::Tensor numbers(const QJsonObject &golden, const char *key)
{
    std::vector<double> values;
    for (const QJsonValue &value : golden[QLatin1String(key)].toArray())
        values.push_back(value.toDouble(std::nan("")));
    return at::tensor(values, at::kDouble);
}

/// The largest of `ratios`; what is not a number counts as infinite.
double largest(const at::Tensor &ratios)
{
    return ratios.numel() == 0 ? 0 : ratios.nan_to_num(HUGE_VAL, HUGE_VAL, HUGE_VAL).max().item<double>();
}

struct Formula
{
    std::int64_t offset;   ///< of the formula's numbers
    double bias, variance; ///< middles, of batch norm
    explicit Formula(const QJsonArray &choice)
        : offset(choice[0].toInt()), bias(choice[1].toDouble()), variance(choice[2].toDouble())
    {
    }
};

class Filler
{
public:
    Filler(const Network &network, const Formula &formula) : m_tensors(network.stateDict()), m_formula(formula)
    {
        for (const NamedTensor &entry : m_tensors) {
            if (entry.tensor.dim() == 2)
                m_head = entry.name;
            m_names.insert(m_names.end(), entry.name);
        }
        std::sort(m_names.begin(), m_names.end());
    }
    void fill() const
    {
        c10::NoGradGuard noGrad;
        std::int64_t number = m_formula.offset;
        for (const NamedTensor &entry : m_tensors) {
            if (entry.tensor.is_floating_point())
                at::Tensor(entry.tensor).copy_(values(entry, number));
            else
                at::Tensor(entry.tensor).zero_();
            ++number;
        }
    }

private:
    bool isBatchNormBias(const std::string &name) const
    {
        if (!endsWith(name, "bias"))
            return false;
        const std::string mean = name.substr(0, name.size() - 4) + "running_mean";
        return std::binary_search(m_names.begin(), m_names.end(), mean);
    }
    at::Tensor values(const NamedTensor &entry, std::int64_t number) const
    {
        const at::Tensor drawn = formula(entry.tensor.numel(), number).reshape(entry.tensor.sizes());
        const bool isMatrix = entry.tensor.dim() == 2 || entry.tensor.dim() == 4;
        const double fan = isMatrix ? double(entry.tensor[0].numel()) : 1;
        if (entry.name == m_head)
            return drawn * (headGain * std::sqrt(3 / fan));
        if (isMatrix)
            return drawn * std::sqrt(6 / fan);
        if (endsWith(entry.name, "running_var"))
            return m_formula.variance * (1 + drawn / 4);
        if (endsWith(entry.name, "weight") || endsWith(entry.name, "layer_scale"))
            return 1 + drawn / 4;
        return (isBatchNormBias(entry.name) ? m_formula.bias : 0) + drawn / 8;
    }

    std::vector<NamedTensor> m_tensors;
    Formula m_formula;
    std::string m_head;
    std::vector<std::string> m_names;
};

/// A colour, a pattern of 4×4 fields and noise; later pictures have more contrast.
at::Tensor pictures(const OnlySize &size, std::int64_t number)
{
    const at::Tensor colour = formula(pictureCount * 3, number).reshape({pictureCount, 3, 1, 1});
    const at::Tensor coarse = formula(pictureCount * 3 * 16, number + 1).reshape({pictureCount, 3, 4, 4});
    const at::Tensor noise = formula(pictureCount * 3 * size.height * size.width, number + 2)
                                 .reshape({pictureCount, 3, size.height, size.width});
    const at::Tensor rows = at::arange(size.height, at::kLong).mul(4).floor_divide(size.height);
    const at::Tensor columns = at::arange(size.width, at::kLong).mul(4).floor_divide(size.width);
    const at::Tensor contrast = (1 + at::arange(pictureCount, at::kDouble) / 2).reshape({pictureCount, 1, 1, 1});
    const at::Tensor pattern = coarse.index_select(2, rows).index_select(3, columns);
    return (2 * colour + contrast * (pattern + noise)).to(at::kFloat);
}

bool isBasic(const QString &name)
{
    return name == QLatin1String("mlp") || name == QLatin1String("small_cnn");
}

OnlySize sizeFor(const QString &name)
{
    return isBasic(name) ? OnlySize{29, 22} : OnlySize{64, 64};
}

/// Five classes, nothing left to chance.
std::unique_ptr<Network> filledNetwork(const QString &name, const QJsonObject &golden)
{
    QJsonObject arguments{{QStringLiteral("num_classes"), int(classes)}};
    const auto begins = [&](const char *start) { return name.startsWith(QLatin1String(start)); };
    if (begins("efficientnet") || begins("mobilenet"))
        arguments.insert(QStringLiteral("dropout"), 0);
    if (begins("efficientnet") || begins("convnext"))
        arguments.insert(QStringLiteral("stochastic_depth_prob"), 0);
    if (isBasic(name)) {
        arguments.insert(QStringLiteral("height"), sizeFor(name).height);
        arguments.insert(QStringLiteral("width"), sizeFor(name).width);
    }
    if (begins("vit"))
        arguments.insert(QStringLiteral("image_size"), sizeFor(name).height);
    auto made = makeNetwork({name, arguments}, TensorPlace::Memory);
    if (!made.ok()) {
        qWarning() << made.error().toString();
        return nullptr;
    }
    Filler(**made, Formula(golden[QLatin1String("formula")].toArray())).fill();
    return std::move(*made);
}

struct Passes
{
    at::Tensor evaluation, training;     ///< pictures × classes
    at::Tensor oblong;                   ///< the same in evaluation, of another size; of networks that read any
    at::Tensor gradients;                ///< a norm per parameter
    at::Tensor statistics;               ///< buffers × (sum, norm, product with the formula)
    std::vector<std::string> parameters; ///< names of the gradients
    bool counted = true;                 ///< each batch norm has counted its passes
    std::vector<std::pair<const char *, at::Tensor>> logits() const
    {
        std::vector<std::pair<const char *, at::Tensor>> all{{"evaluation", evaluation}, {"training", training}};
        if (oblong.defined())
            all.emplace_back("oblong", oblong);
        return all;
    }
};

void readTensors(const Network &network, Passes &passes)
{
    std::vector<double> norms, statistics;
    for (const NamedTensor &entry : network.stateDict()) {
        if (!entry.isBuffer) {
            const at::Tensor gradient = entry.tensor.grad();
            norms.push_back(gradient.defined() ? gradient.to(at::kDouble).norm().item<double>() : std::nan(""));
            passes.parameters.push_back(entry.name);
        } else if (!entry.tensor.is_floating_point()) {
            passes.counted = passes.counted && entry.tensor.item<std::int64_t>() == trainingPasses;
        } else {
            const at::Tensor flat = entry.tensor.to(at::kDouble).flatten();
            statistics.push_back(flat.sum().item<double>());
            statistics.push_back(flat.norm().item<double>());
            statistics.push_back((flat * formula(flat.numel(), 3)).sum().item<double>());
        }
    }
    passes.gradients = at::tensor(norms, at::kDouble);
    passes.statistics = at::tensor(statistics, at::kDouble).reshape({-1, 3});
}

/// In the memory format of training; `type` is that of the network.
Passes runPasses(Network &network, const Architecture &architecture, at::ScalarType type = at::kFloat)
{
    const auto input = [&](const OnlySize &size, std::int64_t pass) {
        const at::Tensor plain = pictures(size, 10 + 3 * pass).to(type);
        return architecture.channelsLast ? plain.contiguous(at::MemoryFormat::ChannelsLast) : plain;
    };
    const OnlySize size = sizeFor(architecture.name);
    if (architecture.channelsLast)
        network.useChannelsLast();
    Passes passes;
    network.setTraining(false);
    {
        c10::NoGradGuard noGrad;
        passes.evaluation = network.forward(input(size, 0)).to(at::kDouble);
        if (!architecture.readsOneSize())
            passes.oblong = network.forward(input(oblong, 0)).to(at::kDouble);
    }
    network.setTraining(true);
    const at::Tensor training = network.forward(input(size, 0));
    (training * formula(training.numel(), 2).reshape(training.sizes()).to(type)).sum().backward();
    passes.training = training.detach().to(at::kDouble);
    c10::NoGradGuard noGrad;
    for (std::int64_t pass = 1; pass < trainingPasses; ++pass)
        network.forward(input(size, pass));
    readTensors(network, passes);
    return passes;
}

/// Logits that hardly change would hide a wrong network.
QString dullness(const at::Tensor &logits)
{
    const double spread = (logits.amax(1) - logits.amin(1)).min().item<double>();
    const at::Tensor gaps = (logits.unsqueeze(1) - logits.unsqueeze(0)).abs().amax(2);
    const double scale = std::max(1.0, logits.abs().max().item<double>());
    const double difference = (gaps + at::eye(pictureCount, at::kDouble) * 1e9).min().item<double>() / scale;
    if (spread >= leastSpread && difference >= leastDifference)
        return {};
    return QStringLiteral("the golden logits spread by %1 and differ by %2").arg(spread).arg(difference);
}

/// In parts of the tolerance.
double logitsGap(const at::Tensor &found, const at::Tensor &wanted)
{
    return largest((found - wanted).abs()) / (logitTolerance * std::max(1.0, largest(wanted.abs())));
}

at::Tensor gradientGaps(const at::Tensor &found, const at::Tensor &wanted, double tolerance)
{
    const double most = largest(wanted);
    return at::where(wanted < still * most, found / (stillTolerance * most),
                     (found - wanted).abs() / (tolerance * wanted));
}

/// In parts of the tolerance of float64.
double exactGradientGap(const Architecture &architecture, const QJsonObject &golden)
{
    const auto network = filledNetwork(architecture.name, golden);
    {
        c10::NoGradGuard noGrad;
        for (NamedTensor &entry : network->stateDict())
            if (entry.tensor.is_floating_point())
                entry.tensor.set_data(entry.tensor.to(at::kDouble));
    }
    const Passes passes = runPasses(*network, architecture, at::kDouble);
    return largest(gradientGaps(passes.gradients, numbers(golden, "gradients"), exactGradientTolerance));
}

struct Part
{
    QString what;
    double used; ///< of its tolerance
    bool isGradient = false;
};

std::vector<Part> compared(const Passes &passes, const QJsonObject &golden)
{
    std::vector<Part> parts;
    for (const auto &[mode, logits] : passes.logits())
        parts.push_back({QString::fromLatin1(mode), logitsGap(logits.flatten(), numbers(golden, mode))});
    const at::Tensor gradients = gradientGaps(passes.gradients, numbers(golden, "gradients"), gradientTolerance);
    const auto worst = std::size_t(gradients.nan_to_num(HUGE_VAL).argmax().item<std::int64_t>());
    parts.push_back({QStringLiteral("gradients (%1)").arg(QString::fromStdString(passes.parameters[worst])),
                     largest(gradients), true});
    const at::Tensor statistics = numbers(golden, "statistics").reshape({-1, 3});
    const at::Tensor gaps = (passes.statistics - statistics).abs() / (statisticsTolerance * statistics.slice(1, 1, 2));
    parts.push_back({QStringLiteral("statistics"), largest(gaps)});
    return parts;
}

QString shapeProblem(const Passes &passes, const QJsonObject &golden)
{
    const auto count = [&](const char *key) { return golden[QLatin1String(key)].toArray().size(); };
    for (const auto &[mode, logits] : passes.logits()) {
        if (count(mode) != pictureCount * classes || logits.numel() != pictureCount * classes)
            return QStringLiteral("%1: no %2 x %3 logits").arg(QLatin1String(mode)).arg(pictureCount).arg(classes);
        if (const QString problem = dullness(numbers(golden, mode).reshape({-1, classes})); !problem.isEmpty())
            return QLatin1String(mode) + QStringLiteral(": ") + problem;
    }
    if (passes.gradients.numel() != count("gradients") || passes.statistics.numel() != count("statistics"))
        return QStringLiteral("%1 gradients and %2 statistics, the golden has others")
            .arg(passes.gradients.numel())
            .arg(passes.statistics.numel());
    return {};
}

} // namespace

QJsonObject networkGoldens()
{
    QFile file(QString::fromStdString((sourceFolder() / "tests/data/network_goldens.json").string()));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return QJsonDocument::fromJson(file.readAll()).object();
}

QString parityProblem(const QString &name, const QJsonObject &golden)
{
    const auto architecture = findArchitecture(name);
    const auto network = filledNetwork(name, golden);
    if (!architecture.ok() || !network)
        return QStringLiteral("the network cannot be made");
    const Passes passes = runPasses(*network, **architecture);
    if (const QString problem = shapeProblem(passes, golden); !problem.isEmpty())
        return problem;
    if (!passes.counted)
        return QStringLiteral("a batch norm has not counted three passes");
    QString problem;
    QStringList shares;
    std::vector<Part> parts = compared(passes, golden);
    for (Part &part : parts) {
        if (part.isGradient && part.used > 1 && part.used <= kinkAllowance)
            part = {part.what + QStringLiteral(" %1, in float64").arg(part.used, 0, 'f', 3),
                    exactGradientGap(**architecture, golden)};
        shares += QStringLiteral("%1 %2").arg(part.what).arg(part.used, 0, 'f', 3);
        if (!(part.used <= 1) && problem.isEmpty())
            problem = QStringLiteral("%1: %2 times the tolerance").arg(part.what).arg(part.used);
    }
    qInfo().noquote() << name << "uses of its tolerances:" << shares.join(QStringLiteral(", "));
    return problem;
}

void addParityRows(bool residual)
{
    QTest::addColumn<QString>("name");
    for (const QString &name : architectureNames()) {
        if ((familyOf(name) == QLatin1String("resnet")) == residual)
            QTest::newRow(qPrintable(name)) << name;
    }
}

} // namespace tw::test
