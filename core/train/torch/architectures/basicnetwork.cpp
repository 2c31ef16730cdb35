// SPDX-License-Identifier: GPL-3.0-or-later
// The two small networks of Basic Network; model directories carry the same classes in score.py.
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/layers.h"

#include <QJsonArray>

#include <cmath>

namespace tw {

namespace basicnetwork {

constexpr int maximumSize = 1 << 16;

struct InputSize
{
    int channels, height, width;
};

InputSize readInput(NetworkArguments &arguments)
{
    InputSize input;
    input.channels = arguments.integer("in_channels", 3, 1, 3);
    input.height = arguments.integer("height", 28, 1, maximumSize);
    input.width = arguments.integer("width", 28, 1, maximumSize);
    return input;
}

/// conv 32 – pool – conv 64 – pool – dense 128 – dense classes; 3×3, padding 1, ReLU.
class SmallCnn : public Network
{
public:
    SmallCnn(const InputSize &input, int classes)
        : m_conv1(addChild<Conv2d>("conv1", input.channels, 32, 3, Conv2d::Options{.padding = 1})),
          m_conv2(addChild<Conv2d>("conv2", 32, 64, 3, Conv2d::Options{.padding = 1})),
          m_fc1(addChild<Linear>("fc1", std::int64_t(64) * (input.height / 4) * (input.width / 4), 128)),
          m_fc2(addChild<Linear>("fc2", 128, classes))
    {
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        at::Tensor x = at::max_pool2d(m_conv1.forward(input).relu_(), {2, 2});
        x = at::max_pool2d(m_conv2.forward(x).relu_(), {2, 2});
        return m_fc2.forward(m_fc1.forward(x.flatten(1)).relu_());
    }
    std::string headPrefix() const override { return "fc2."; }

private:
    Conv2d &m_conv1, &m_conv2;
    Linear &m_fc1, &m_fc2;
};

class Mlp : public Network
{
public:
    struct Options
    {
        std::vector<int> hiddenSizes;
        bool tanh = false;
        double dropout = 0;
    };
    Mlp(const InputSize &input, int classes, const Options &options) : m_options(options)
    {
        std::int64_t features = std::int64_t(input.channels) * input.height * input.width;
        for (const int size : options.hiddenSizes) {
            addLayer(features, size);
            features = size;
        }
        addLayer(features, classes);
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        at::Tensor x = input.flatten(1);
        for (std::size_t i = 0; i + 1 < m_layers.size(); ++i) {
            x = m_layers[i]->forward(x);
            x = m_options.tanh ? x.tanh_() : x.relu_(); // the gradient needs the results only
            if (m_options.dropout > 0)
                x = at::dropout(x, m_options.dropout, isTraining());
        }
        return m_layers.back()->forward(x);
    }
    std::string headPrefix() const override { return "fc" + std::to_string(m_layers.size()) + '.'; }

private:
    void addLayer(std::int64_t inputs, std::int64_t outputs)
    {
        m_layers.push_back(&addChild<Linear>("fc" + std::to_string(m_layers.size() + 1), inputs, outputs));
    }

    Options m_options;
    std::vector<Linear *> m_layers;
};

Result<std::unique_ptr<Network>> makeSmallCnn(const ModelConfig &config)
{
    NetworkArguments arguments(config);
    const InputSize input = readInput(arguments);
    const int classes = arguments.integer("num_classes", 10, 1, 1 << 20);
    TW_TRY(arguments.finish());
    if (input.height < 4 || input.width < 4)
        return makeError(errors::InvalidModelDirectory,
                         QT_TRANSLATE_NOOP("Error", "small_cnn cannot read images of %1×%2 pixels."),
                         {QString::number(input.width), QString::number(input.height)},
                         QT_TRANSLATE_NOOP("Error", "Use images of 4×4 pixels or more."));
    return std::unique_ptr<Network>(std::make_unique<SmallCnn>(input, classes));
}

Result<std::unique_ptr<Network>> makeMlp(const ModelConfig &config)
{
    NetworkArguments arguments(config);
    const InputSize input = readInput(arguments);
    const int classes = arguments.integer("num_classes", 10, 1, 1 << 20);
    Mlp::Options options;
    options.hiddenSizes = arguments.integers("hidden_sizes", {10});
    options.tanh =
        arguments.choice("activation", QStringLiteral("relu"), {QStringLiteral("relu"), QStringLiteral("tanh")})
        == QLatin1String("tanh");
    options.dropout = arguments.number("dropout", 0, 0, 1);
    TW_TRY(arguments.finish());
    return std::unique_ptr<Network>(std::make_unique<Mlp>(input, classes, options));
}

// --- What the tensors of a file say ------------------------------------------------------------

const TensorBlob *findTensor(const StateDict &weights, const std::string &name, std::size_t dimensions)
{
    for (const TensorBlob &blob : weights) {
        if (blob.name == name)
            return blob.shape.size() == dimensions ? &blob : nullptr;
    }
    return nullptr;
}

/// The whole edge of a square of `pixels`, or 0.
std::int64_t squareEdge(std::int64_t pixels)
{
    const auto edge = std::int64_t(std::llround(std::sqrt(double(pixels))));
    return edge >= 1 && edge <= maximumSize && edge * edge == pixels ? edge : 0;
}

QJsonObject inputArguments(std::int64_t channels, std::int64_t edge)
{
    return {{QStringLiteral("in_channels"), qint64(channels)},
            {QStringLiteral("height"), qint64(edge)},
            {QStringLiteral("width"), qint64(edge)}};
}

/// Square pictures are taken for granted, of a size that two poolings divide.
std::optional<QJsonObject> smallCnnArguments(const StateDict &weights)
{
    const TensorBlob *conv = findTensor(weights, "conv1.weight", 4), *dense = findTensor(weights, "fc1.weight", 2);
    if (!conv || !dense || dense->shape[1] % 64 != 0)
        return std::nullopt;
    const std::int64_t edge = squareEdge(dense->shape[1] / 64);
    if (edge == 0 || edge > maximumSize / 4 || conv->shape[1] > 3)
        return std::nullopt;
    return inputArguments(conv->shape[1], 4 * edge);
}

/// Square pictures are taken for granted: gray ones where the inputs are a square, else colour.
std::optional<QJsonObject> mlpArguments(const StateDict &weights)
{
    const TensorBlob *first = findTensor(weights, "fc1.weight", 2);
    constexpr std::size_t mostLayers = 1000;
    if (!first || weights.size() % 2 != 0 || weights.size() / 2 > mostLayers)
        return std::nullopt;
    QJsonArray sizes;
    for (std::size_t i = 1; i < weights.size() / 2; ++i) {
        const TensorBlob *layer = findTensor(weights, "fc" + std::to_string(i) + ".weight", 2);
        if (!layer)
            return std::nullopt;
        sizes.append(qint64(layer->shape[0]));
    }
    const std::int64_t inputs = first->shape[1], gray = squareEdge(inputs);
    const std::int64_t edge = gray > 0 ? gray : inputs % 3 == 0 ? squareEdge(inputs / 3) : 0;
    if (edge == 0 || sizes.isEmpty())
        return std::nullopt;
    QJsonObject arguments = inputArguments(gray > 0 ? 1 : 3, edge);
    arguments.insert(QStringLiteral("hidden_sizes"), sizes);
    return arguments;
}

} // namespace basicnetwork

void registerArchitectures_basicnetwork(ArchitectureList &list)
{
    Architecture cnn;
    cnn.name = QStringLiteral("small_cnn");
    cnn.channelsLast = false;
    cnn.fixedInput = true;
    cnn.minimumSize = 4;
    cnn.make = basicnetwork::makeSmallCnn;
    cnn.argumentsOf = basicnetwork::smallCnnArguments;
    list.add(std::move(cnn));
    Architecture mlp;
    mlp.name = QStringLiteral("mlp");
    mlp.channelsLast = false;
    mlp.fixedInput = true;
    mlp.make = basicnetwork::makeMlp;
    mlp.argumentsOf = basicnetwork::mlpArguments;
    list.add(std::move(mlp));
}

} // namespace tw
