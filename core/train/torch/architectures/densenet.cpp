// SPDX-License-Identifier: GPL-3.0-or-later
// DenseNet (Huang et al., arXiv:1608.06993) with torchvision's parameter names, layer order and
// initialisation.
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/layers.h"
#include "core/train/torch/recompute.h"

#include <array>
#include <string_view>

namespace tw {

namespace densenet {

struct Variant
{
    const char *name;
    int growth;
    std::array<int, 4> blocks;
    int firstFeatures;
};

constexpr std::array<Variant, 4> variants{{
    {"densenet121", 32, {6, 12, 24, 16}, 64},
    {"densenet161", 48, {6, 12, 36, 24}, 96},
    {"densenet169", 32, {6, 12, 32, 32}, 64},
    {"densenet201", 32, {6, 12, 48, 32}, 64},
}};

constexpr int bottleneckFactor = 4;
/// Half five times, rounded up twice and down three times, must leave a pixel.
constexpr int smallestPicture = 29;

at::Tensor joined(const std::vector<at::Tensor> &features)
{
    return features.size() == 1 ? features.front() : at::cat(features, 1);
}

class DenseLayer : public Module
{
public:
    DenseLayer(int inputs, int growth, bool memoryEfficient)
        : m_memoryEfficient(memoryEfficient), m_norm1(addChild<BatchNorm2d>("norm1", inputs)),
          m_conv1(addChild<Conv2d>("conv1", inputs, bottleneckFactor * growth, 1, Conv2d::Options{.bias = false})),
          m_norm2(addChild<BatchNorm2d>("norm2", bottleneckFactor * growth)),
          m_conv2(addChild<Conv2d>("conv2", bottleneckFactor * growth, growth, 3,
                                   Conv2d::Options{.padding = 1, .bias = false}))
    {
    }

    at::Tensor forward(const at::Tensor &input) override { return newFeatures({input}); }

    /// All features so far → `growth` new ones.
    at::Tensor newFeatures(const std::vector<at::Tensor> &features)
    {
        const at::Tensor narrow = m_memoryEfficient ? recomputedBottleneck(features) : bottleneck(features, false);
        return m_conv2.forward(m_norm2.forward(narrow).relu_());
    }

private:
    at::Tensor bottleneck(const std::vector<at::Tensor> &features, bool again)
    {
        const at::Tensor all = joined(features);
        return m_conv1.forward((again ? m_norm1.forwardAgain(all) : m_norm1.forward(all)).relu_());
    }
    at::Tensor recomputedBottleneck(const std::vector<at::Tensor> &features)
    {
        std::vector<at::Tensor> parameters = m_norm1.parameters();
        for (const at::Tensor &weight : m_conv1.parameters())
            parameters.push_back(weight);
        return recomputed(
            [this](const std::vector<at::Tensor> &inputs, bool again) { return bottleneck(inputs, again); }, features,
            parameters);
    }

    bool m_memoryEfficient;
    BatchNorm2d &m_norm1;
    Conv2d &m_conv1;
    BatchNorm2d &m_norm2;
    Conv2d &m_conv2;
};

class DenseBlock : public Module
{
public:
    DenseBlock(int layers, int inputs, int growth, bool memoryEfficient)
    {
        for (int i = 0; i < layers; ++i)
            m_layers.push_back(&addChild<DenseLayer>("denselayer" + std::to_string(i + 1), inputs + i * growth, growth,
                                                     memoryEfficient));
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        std::vector<at::Tensor> features{input};
        for (DenseLayer *layer : m_layers)
            features.push_back(layer->newFeatures(features));
        return at::cat(features, 1);
    }

private:
    std::vector<DenseLayer *> m_layers;
};

/// Half as many features of half the size.
class Transition : public Module
{
public:
    explicit Transition(int inputs)
        : m_norm(addChild<BatchNorm2d>("norm", inputs)),
          m_conv(addChild<Conv2d>("conv", inputs, inputs / 2, 1, Conv2d::Options{.bias = false}))
    {
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        return at::avg_pool2d(m_conv.forward(m_norm.forward(input).relu_()), {2, 2}, {2, 2});
    }

private:
    BatchNorm2d &m_norm;
    Conv2d &m_conv;
};

class Features : public Module
{
public:
    Features(const Variant &variant, bool memoryEfficient)
        : m_conv0(addChild<Conv2d>("conv0", 3, variant.firstFeatures, 7,
                                   Conv2d::Options{.stride = 2, .padding = 3, .bias = false})),
          m_norm0(addChild<BatchNorm2d>("norm0", variant.firstFeatures)), m_outputs(variant.firstFeatures)
    {
        for (std::size_t i = 0; i < variant.blocks.size(); ++i) {
            const std::string number = std::to_string(i + 1);
            m_stages.push_back(&addChild<DenseBlock>("denseblock" + number, variant.blocks[i], m_outputs,
                                                     variant.growth, memoryEfficient));
            m_outputs += variant.blocks[i] * variant.growth;
            if (i + 1 == variant.blocks.size())
                break;
            m_stages.push_back(&addChild<Transition>("transition" + number, m_outputs));
            m_outputs /= 2;
        }
        m_norm5 = &addChild<BatchNorm2d>("norm5", m_outputs);
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        at::Tensor x = m_norm0.forward(m_conv0.forward(input)).relu_();
        x = at::max_pool2d(x, {3, 3}, {2, 2}, {1, 1});
        for (Module *stage : m_stages)
            x = stage->forward(x);
        return m_norm5->forward(x);
    }
    int outputs() const { return m_outputs; }

private:
    Conv2d &m_conv0;
    BatchNorm2d &m_norm0;
    std::vector<Module *> m_stages;
    int m_outputs;
    BatchNorm2d *m_norm5 = nullptr;
};

class DenseNet : public Network
{
public:
    DenseNet(const Variant &variant, int classes, bool memoryEfficient)
        : m_features(addChild<Features>("features", variant, memoryEfficient)),
          m_classifier(addChild<Linear>("classifier", m_features.outputs(), classes))
    {
    }

    at::Tensor forward(const at::Tensor &input) override
    {
        const at::Tensor x = m_features.forward(input).relu_();
        return m_classifier.forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
    }

    void initialise(at::Generator &generator) override
    {
        Module::initialise(generator);
        visitAll([&](Module &module) {
            if (auto *conv = dynamic_cast<Conv2d *>(&module))
                conv->initialiseKaimingNormal(generator, Conv2d::Fan::In);
        });
        m_classifier.zeroBias();
    }

    std::string headPrefix() const override { return "classifier."; }

private:
    Features &m_features;
    Linear &m_classifier;
};

/// Whether `name` up to `end` ends with "denselayer" and a number.
bool endsWithLayer(const std::string &name, std::size_t end)
{
    constexpr std::string_view layer = "denselayer";
    std::size_t digits = end;
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        --digits;
    return digits < end && digits >= layer.size()
           && std::string_view(name).substr(digits - layer.size(), layer.size()) == layer;
}

/// torchvision's files of 2017 name the parts of a layer "norm.1", "conv.2", …
std::string currentName(const std::string &name)
{
    for (const std::string_view part : {".norm.", ".relu.", ".conv."}) {
        const std::size_t at = name.rfind(part);
        if (at == std::string::npos || !endsWithLayer(name, at))
            continue;
        const std::size_t number = at + part.size();
        if (number + 1 < name.size() && (name[number] == '1' || name[number] == '2') && name[number + 1] == '.')
            return name.substr(0, number - 1) + name.substr(number);
    }
    return name;
}

Result<std::unique_ptr<Network>> make(const Variant &variant, const ModelConfig &config)
{
    NetworkArguments arguments(config);
    const int classes = arguments.integer("num_classes", 1000, 1, 1 << 20);
    const bool memoryEfficient = arguments.flag("memory_efficient", false);
    TW_TRY(arguments.finish());
    return std::unique_ptr<Network>(std::make_unique<DenseNet>(variant, classes, memoryEfficient));
}

} // namespace densenet

void registerArchitectures_densenet(ArchitectureList &list)
{
    for (const densenet::Variant &variant : densenet::variants) {
        Architecture architecture;
        architecture.name = QString::fromLatin1(variant.name);
        architecture.minimumSize = densenet::smallestPicture;
        architecture.currentName = densenet::currentName;
        architecture.make = [&variant](const ModelConfig &config) { return densenet::make(variant, config); };
        list.add(std::move(architecture));
    }
}

} // namespace tw
