// SPDX-License-Identifier: GPL-3.0-or-later
// MobileNet V2 (Sandler et al., arXiv:1801.04381) and V3 (Howard et al., arXiv:1905.02244) with
// torchvision's parameter names, layer order and initialisation.
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/blocks.h"

#include <array>
#include <span>

namespace tw {

namespace mobilenet {

constexpr double usualDropout = 0.2;

/// Both versions draw alike.
void initialise(Network &network, at::Generator &generator)
{
    constexpr double deviation = 0.01;
    network.visitAll([&](Module &module) {
        if (auto *conv = dynamic_cast<Conv2d *>(&module))
            conv->initialiseKaimingNormal(generator);
        if (auto *dense = dynamic_cast<Linear *>(&module))
            dense->initialiseNormal(generator, deviation);
    });
}

// --- V2 -----------------------------------------------------------------------------------------

/// Table 2 of the paper.
struct Stage
{
    int expansion, outputs, blocks, stride;
};

constexpr std::array<Stage, 7> stages{{
    {1, 16, 1, 1},
    {6, 24, 2, 2},
    {6, 32, 3, 2},
    {6, 64, 4, 2},
    {6, 96, 3, 1},
    {6, 160, 3, 2},
    {6, 320, 1, 1},
}};

constexpr ConvNormActivation::Options withRelu6(int kernel, int stride = 1, int groups = 1)
{
    return {.kernel = kernel, .stride = stride, .groups = groups, .activation = Activation::Relu6};
}

class BlockV2 : public Module
{
public:
    BlockV2(int inputs, int outputs, int stride, int expansion)
        : m_residual(stride == 1 && inputs == outputs), m_conv(addChild<Sequential>("conv"))
    {
        const int wide = inputs * expansion;
        if (expansion != 1)
            m_conv.append<ConvNormActivation>(inputs, wide, withRelu6(1));
        m_conv.append<ConvNormActivation>(wide, wide, withRelu6(3, stride, wide));
        m_conv.append<Conv2d>(wide, outputs, 1, Conv2d::Options{.bias = false});
        m_conv.append<BatchNorm2d>(outputs);
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        at::Tensor x = m_conv.forward(input);
        return m_residual ? x.add_(input) : x;
    }

private:
    bool m_residual;
    Sequential &m_conv;
};

class MobileNetV2 : public Network
{
public:
    MobileNetV2(int classes, double dropout)
        : m_features(addChild<Sequential>("features")), m_classifier(addChild<Sequential>("classifier"))
    {
        constexpr int stem = 32, head = 1280;
        m_features.append<ConvNormActivation>(3, stem, withRelu6(3, 2));
        int inputs = stem;
        for (const Stage &stage : stages) {
            for (int i = 0; i < stage.blocks; ++i) {
                m_features.append<BlockV2>(inputs, stage.outputs, i == 0 ? stage.stride : 1, stage.expansion);
                inputs = stage.outputs;
            }
        }
        m_features.append<ConvNormActivation>(inputs, head, withRelu6(1));
        m_classifier.append<Dropout>(dropout);
        m_classifier.append<Linear>(head, classes);
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        return m_classifier.forward(pooled(m_features.forward(input)));
    }
    void initialise(at::Generator &generator) override
    {
        Module::initialise(generator);
        mobilenet::initialise(*this, generator);
    }
    std::string headPrefix() const override { return "classifier.1."; }

private:
    Sequential &m_features, &m_classifier;
};

// --- V3 -----------------------------------------------------------------------------------------

/// Tables 1 and 2 of the paper.
struct BlockShape
{
    int inputs, kernel, wide, outputs;
    bool squeeze, hardswish;
    int stride;
};

constexpr std::array<BlockShape, 15> largeBlocks{{
    {16, 3, 16, 16, false, false, 1},
    {16, 3, 64, 24, false, false, 2},
    {24, 3, 72, 24, false, false, 1},
    {24, 5, 72, 40, true, false, 2},
    {40, 5, 120, 40, true, false, 1},
    {40, 5, 120, 40, true, false, 1},
    {40, 3, 240, 80, false, true, 2},
    {80, 3, 200, 80, false, true, 1},
    {80, 3, 184, 80, false, true, 1},
    {80, 3, 184, 80, false, true, 1},
    {80, 3, 480, 112, true, true, 1},
    {112, 3, 672, 112, true, true, 1},
    {112, 5, 672, 160, true, true, 2},
    {160, 5, 960, 160, true, true, 1},
    {160, 5, 960, 160, true, true, 1},
}};

constexpr std::array<BlockShape, 11> smallBlocks{{
    {16, 3, 16, 16, true, false, 2},
    {16, 3, 72, 24, false, false, 2},
    {24, 3, 88, 24, false, false, 1},
    {24, 5, 96, 40, true, true, 2},
    {40, 5, 240, 40, true, true, 1},
    {40, 5, 240, 40, true, true, 1},
    {40, 5, 120, 48, true, true, 1},
    {48, 5, 144, 48, true, true, 1},
    {48, 5, 288, 96, true, true, 2},
    {96, 5, 576, 96, true, true, 1},
    {96, 5, 576, 96, true, true, 1},
}};

struct VariantV3
{
    const char *name;
    std::span<const BlockShape> blocks;
    int lastChannels;
};

const std::array<VariantV3, 2> variantsV3{{
    {"mobilenet_v3_small", smallBlocks, 1024},
    {"mobilenet_v3_large", largeBlocks, 1280},
}};

constexpr ConvNormActivation::Options normalised(int kernel, Activation activation, int stride = 1, int groups = 1)
{
    return {.kernel = kernel,
            .stride = stride,
            .groups = groups,
            .activation = activation,
            .norm = {.eps = 1e-3, .momentum = 0.01}};
}

class BlockV3 : public Module
{
public:
    explicit BlockV3(const BlockShape &shape)
        : m_residual(shape.stride == 1 && shape.inputs == shape.outputs), m_block(addChild<Sequential>("block"))
    {
        const Activation activation = shape.hardswish ? Activation::Hardswish : Activation::Relu;
        if (shape.wide != shape.inputs)
            m_block.append<ConvNormActivation>(shape.inputs, shape.wide, normalised(1, activation));
        m_block.append<ConvNormActivation>(shape.wide, shape.wide,
                                           normalised(shape.kernel, activation, shape.stride, shape.wide));
        if (shape.squeeze)
            m_block.append<SqueezeExcitation>(shape.wide, roundedChannels(shape.wide / 4), Activation::Relu,
                                              SqueezeExcitation::Gate::Hardsigmoid);
        m_block.append<ConvNormActivation>(shape.wide, shape.outputs, normalised(1, Activation::None));
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        at::Tensor x = m_block.forward(input);
        return m_residual ? x.add_(input) : x;
    }

private:
    bool m_residual;
    Sequential &m_block;
};

/// Children "1" and "2" of torchvision's hold no weights; "2" is the dropout.
class ClassifierV3 : public Module
{
public:
    ClassifierV3(int inputs, int wide, int classes, double dropout)
        : m_wide(addChild<Linear>("0", inputs, wide)), m_dropout(addChild<Dropout>("2", dropout)),
          m_head(addChild<Linear>("3", wide, classes))
    {
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        return m_head.forward(m_dropout.forward(activated(m_wide.forward(input), Activation::Hardswish)));
    }

private:
    Linear &m_wide;
    Dropout &m_dropout;
    Linear &m_head;
};

class MobileNetV3 : public Network
{
public:
    MobileNetV3(const VariantV3 &variant, int classes, double dropout) : m_features(addChild<Sequential>("features"))
    {
        constexpr int headFactor = 6;
        m_features.append<ConvNormActivation>(3, variant.blocks.front().inputs,
                                              normalised(3, Activation::Hardswish, 2));
        for (const BlockShape &shape : variant.blocks)
            m_features.append<BlockV3>(shape);
        const int last = variant.blocks.back().outputs;
        m_features.append<ConvNormActivation>(last, headFactor * last, normalised(1, Activation::Hardswish));
        m_classifier = &addChild<ClassifierV3>("classifier", headFactor * last, variant.lastChannels, classes, dropout);
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        return m_classifier->forward(pooled(m_features.forward(input)));
    }
    void initialise(at::Generator &generator) override
    {
        Module::initialise(generator);
        mobilenet::initialise(*this, generator);
    }
    std::string headPrefix() const override { return "classifier.3."; }

private:
    Sequential &m_features;
    ClassifierV3 *m_classifier = nullptr;
};

struct Arguments
{
    int classes = 0;
    double dropout = 0;
};

Result<Arguments> read(const ModelConfig &config)
{
    NetworkArguments arguments(config);
    Arguments out;
    out.classes = arguments.integer("num_classes", 1000, 1, 1 << 20);
    out.dropout = arguments.number("dropout", usualDropout, 0, 1);
    TW_TRY(arguments.finish());
    return out;
}

Result<std::unique_ptr<Network>> makeV2(const ModelConfig &config)
{
    TW_ASSIGN(arguments, read(config));
    return std::unique_ptr<Network>(std::make_unique<MobileNetV2>(arguments.classes, arguments.dropout));
}

Result<std::unique_ptr<Network>> makeV3(const VariantV3 &variant, const ModelConfig &config)
{
    TW_ASSIGN(arguments, read(config));
    return std::unique_ptr<Network>(std::make_unique<MobileNetV3>(variant, arguments.classes, arguments.dropout));
}

} // namespace mobilenet

void registerArchitectures_mobilenet(ArchitectureList &list)
{
    Architecture second;
    second.name = QStringLiteral("mobilenet_v2");
    second.make = mobilenet::makeV2;
    list.add(std::move(second));
    for (const mobilenet::VariantV3 &variant : mobilenet::variantsV3) {
        Architecture architecture;
        architecture.name = QString::fromLatin1(variant.name);
        architecture.make = [&variant](const ModelConfig &config) { return mobilenet::makeV3(variant, config); };
        list.add(std::move(architecture));
    }
}

} // namespace tw
