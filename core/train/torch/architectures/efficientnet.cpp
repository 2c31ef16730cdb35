// SPDX-License-Identifier: GPL-3.0-or-later
// EfficientNet (Tan, Le, arXiv:1905.11946) with torchvision's parameter names, layer order and
// initialisation.
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/blocks.h"

#include <array>
#include <cmath>

namespace tw {

namespace efficientnet {

struct Variant
{
    const char *name;
    double width, depth;
    int size;
    double dropout;
};

constexpr std::array<Variant, 5> variants{{
    {"efficientnet_b0", 1.0, 1.0, 224, 0.2},
    {"efficientnet_b1", 1.0, 1.1, 240, 0.2},
    {"efficientnet_b2", 1.1, 1.2, 288, 0.3},
    {"efficientnet_b3", 1.2, 1.4, 300, 0.3},
    {"efficientnet_b4", 1.4, 1.8, 380, 0.4},
}};

/// A stage of the network that all others are scaled from (table 1 of the paper).
struct Stage
{
    int expansion, kernel, stride, inputs, outputs, blocks;
};

constexpr std::array<Stage, 7> stages{{
    {1, 3, 1, 32, 16, 1},
    {6, 3, 2, 16, 24, 2},
    {6, 5, 2, 24, 40, 2},
    {6, 3, 2, 40, 80, 3},
    {6, 5, 1, 80, 112, 3},
    {6, 5, 2, 112, 192, 4},
    {6, 3, 1, 192, 320, 1},
}};

constexpr int squeezeFactor = 4, headFactor = 4;

Stage scaled(const Stage &stage, const Variant &variant)
{
    Stage out = stage;
    out.inputs = roundedChannels(stage.inputs * variant.width);
    out.outputs = roundedChannels(stage.outputs * variant.width);
    out.blocks = int(std::ceil(stage.blocks * variant.depth));
    return out;
}

ConvNormActivation::Options convolution(int kernel, int stride, int groups, Activation activation = Activation::Silu)
{
    return {.kernel = kernel, .stride = stride, .groups = groups, .activation = activation};
}

/// Inverted bottleneck: wide, depthwise, squeeze and excitation, narrow.
class MBConv : public Module
{
public:
    MBConv(const Stage &stage, double dropped)
        : m_residual(stage.stride == 1 && stage.inputs == stage.outputs), m_block(addChild<Sequential>("block")),
          m_stochasticDepth(addChild<StochasticDepth>("stochastic_depth", dropped))
    {
        const int wide = roundedChannels(stage.inputs * stage.expansion);
        if (wide != stage.inputs)
            m_block.append<ConvNormActivation>(stage.inputs, wide, convolution(1, 1, 1));
        m_block.append<ConvNormActivation>(wide, wide, convolution(stage.kernel, stage.stride, wide));
        m_block.append<SqueezeExcitation>(wide, stage.inputs / squeezeFactor, Activation::Silu,
                                          SqueezeExcitation::Gate::Sigmoid);
        m_block.append<ConvNormActivation>(wide, stage.outputs, convolution(1, 1, 1, Activation::None));
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        at::Tensor x = m_block.forward(input);
        return m_residual ? m_stochasticDepth.forward(x).add_(input) : x;
    }

private:
    bool m_residual;
    Sequential &m_block;
    StochasticDepth &m_stochasticDepth;
};

struct Rates
{
    double dropout, stochasticDepth;
};

class EfficientNet : public Network
{
public:
    EfficientNet(const Variant &variant, int classes, const Rates &rates)
        : m_features(addChild<Sequential>("features")), m_classifier(addChild<Sequential>("classifier"))
    {
        const int stem = scaled(stages.front(), variant).inputs;
        m_features.append<ConvNormActivation>(3, stem, convolution(3, 2, 1));
        const int last = addStages(variant, rates.stochasticDepth);
        m_features.append<ConvNormActivation>(last, headFactor * last, convolution(1, 1, 1));
        m_classifier.append<Dropout>(rates.dropout);
        m_head = &m_classifier.append<Linear>(headFactor * last, classes);
        m_classes = classes;
    }

    at::Tensor forward(const at::Tensor &input) override
    {
        return m_classifier.forward(pooled(m_features.forward(input)));
    }

    void initialise(at::Generator &generator) override
    {
        Module::initialise(generator);
        visitAll([&](Module &module) {
            if (auto *conv = dynamic_cast<Conv2d *>(&module))
                conv->initialiseKaimingNormal(generator);
        });
        m_head->initialiseUniform(generator, 1.0 / std::sqrt(double(m_classes)));
    }

    std::string headPrefix() const override { return "classifier.1."; }

private:
    /// Deeper blocks are dropped more often. Channels after the last stage.
    int addStages(const Variant &variant, double stochasticDepth)
    {
        int total = 0, block = 0;
        for (const Stage &stage : stages)
            total += scaled(stage, variant).blocks;
        Stage current{};
        for (const Stage &stage : stages) {
            current = scaled(stage, variant);
            auto &layer = m_features.append<Sequential>();
            for (int i = 0; i < current.blocks; ++i) {
                layer.append<MBConv>(current, stochasticDepth * block++ / total);
                current.inputs = current.outputs;
                current.stride = 1;
            }
        }
        return current.outputs;
    }

    Sequential &m_features, &m_classifier;
    Linear *m_head = nullptr;
    int m_classes = 0;
};

Result<std::unique_ptr<Network>> make(const Variant &variant, const ModelConfig &config)
{
    NetworkArguments arguments(config);
    const int classes = arguments.integer("num_classes", 1000, 1, 1 << 20);
    Rates rates{};
    rates.dropout = arguments.number("dropout", variant.dropout, 0, 1);
    rates.stochasticDepth = arguments.number("stochastic_depth_prob", 0.2, 0, 1);
    TW_TRY(arguments.finish());
    return std::unique_ptr<Network>(std::make_unique<EfficientNet>(variant, classes, rates));
}

} // namespace efficientnet

void registerArchitectures_efficientnet(ArchitectureList &list)
{
    for (const efficientnet::Variant &variant : efficientnet::variants) {
        Architecture architecture;
        architecture.name = QString::fromLatin1(variant.name);
        architecture.usualSize = variant.size;
        architecture.make = [&variant](const ModelConfig &config) { return efficientnet::make(variant, config); };
        list.add(std::move(architecture));
    }
}

} // namespace tw
