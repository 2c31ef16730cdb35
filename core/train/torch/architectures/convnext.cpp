// SPDX-License-Identifier: GPL-3.0-or-later
// ConvNeXt (Liu et al., arXiv:2201.03545) with torchvision's parameter names, layer order and
// initialisation.
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/blocks.h"
#include "core/train/torch/layernorm.h"
#include "core/train/torch/layers.h"

#include <array>

namespace tw {

namespace convnext {

struct Variant
{
    const char *name;
    std::array<int, 4> blocks;
    double stochasticDepth;
};

constexpr std::array<Variant, 2> variants{{
    {"convnext_tiny", {3, 3, 9, 3}, 0.1},
    {"convnext_small", {3, 3, 27, 3}, 0.4},
}};

constexpr std::array<int, 4> widths{96, 192, 384, 768};
/// Divided by four and three times by two there must be a pixel left.
constexpr int smallestPicture = 32;
constexpr double firstLayerScale = 1e-6, weightDeviation = 0.02;

/// The part of a block between its two changes of the order of dimensions has the channels last, so
/// that the dense layers act on each pixel. Children "1", "4" and "6" of torchvision hold no weights.
class Branch : public Module
{
public:
    explicit Branch(int width)
        : m_depthwise(addChild<Conv2d>("0", width, width, 7, Conv2d::Options{.padding = 3, .groups = width})),
          m_norm(addChild<LayerNorm>("2", width)), m_widen(addChild<Linear>("3", width, 4 * width)),
          m_narrow(addChild<Linear>("5", 4 * width, width))
    {
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        const at::Tensor x = m_norm.forward(m_depthwise.forward(input).permute({0, 2, 3, 1}));
        return m_narrow.forward(at::gelu(m_widen.forward(x))).permute({0, 3, 1, 2});
    }

private:
    Conv2d &m_depthwise;
    LayerNorm &m_norm;
    Linear &m_widen, &m_narrow;
};

class Block : public Module
{
public:
    Block(int width, double stochasticDepth)
        : m_layerScale(addParameter("layer_scale", {width, 1, 1})), m_branch(addChild<Branch>("block", width)),
          m_stochasticDepth(addChild<StochasticDepth>("stochastic_depth", stochasticDepth))
    {
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        return m_stochasticDepth.forward(m_layerScale * m_branch.forward(input)) + input;
    }
    void initialise(at::Generator &generator) override
    {
        c10::NoGradGuard noGrad;
        m_layerScale.fill_(firstLayerScale);
        Module::initialise(generator);
    }

private:
    at::Tensor m_layerScale;
    Branch &m_branch;
    StochasticDepth &m_stochasticDepth;
};

/// Flattening is torchvision's child "1".
class Classifier : public Module
{
public:
    Classifier(int features, int classes)
        : m_norm(addChild<LayerNorm2d>("0", features)), m_linear(addChild<Linear>("2", features, classes))
    {
    }
    at::Tensor forward(const at::Tensor &input) override { return m_linear.forward(m_norm.forward(input).flatten(1)); }

private:
    LayerNorm2d &m_norm;
    Linear &m_linear;
};

class ConvNeXt : public Network
{
public:
    ConvNeXt(const Variant &variant, int classes, double stochasticDepth)
        : m_features(addChild<Sequential>("features")),
          m_classifier(addChild<Classifier>("classifier", widths.back(), classes))
    {
        addStages(variant, stochasticDepth);
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        return m_classifier.forward(at::adaptive_avg_pool2d(m_features.forward(input), {1, 1}));
    }
    void initialise(at::Generator &generator) override
    {
        Module::initialise(generator);
        visitAll([&](Module &module) {
            if (!dynamic_cast<Conv2d *>(&module) && !dynamic_cast<Linear *>(&module))
                return;
            c10::NoGradGuard noGrad;
            const std::vector<at::Tensor> parameters = module.parameters();
            drawTruncatedNormal(parameters.at(0), weightDeviation, generator);
            parameters.at(1).zero_();
        });
    }
    std::string headPrefix() const override { return "classifier.2."; }

private:
    /// The stem, then stages with a halving of the size between them. The share of branches that are left
    /// out grows evenly from 0 at the first block to `stochasticDepth` at the last.
    void addStages(const Variant &variant, double stochasticDepth)
    {
        auto &stem = m_features.append<Sequential>();
        stem.append<Conv2d>(3, widths.front(), 4, Conv2d::Options{.stride = 4});
        stem.append<LayerNorm2d>(widths.front());
        int total = 0, number = 0;
        for (const int blocks : variant.blocks)
            total += blocks;
        for (std::size_t stage = 0; stage < widths.size(); ++stage) {
            auto &blocks = m_features.append<Sequential>();
            for (int i = 0; i < variant.blocks[stage]; ++i, ++number)
                blocks.append<Block>(widths[stage], stochasticDepth * number / (total - 1.0));
            if (stage + 1 == widths.size())
                break;
            auto &halving = m_features.append<Sequential>();
            halving.append<LayerNorm2d>(widths[stage]);
            halving.append<Conv2d>(widths[stage], widths[stage + 1], 2, Conv2d::Options{.stride = 2});
        }
    }

    Sequential &m_features;
    Classifier &m_classifier;
};

Result<std::unique_ptr<Network>> make(const Variant &variant, const ModelConfig &config)
{
    NetworkArguments arguments(config);
    const int classes = arguments.integer("num_classes", 1000, 1, 1 << 20);
    const double stochasticDepth = arguments.number("stochastic_depth_prob", variant.stochasticDepth, 0, 1);
    TW_TRY(arguments.finish());
    return std::unique_ptr<Network>(std::make_unique<ConvNeXt>(variant, classes, stochasticDepth));
}

} // namespace convnext

void registerArchitectures_convnext(ArchitectureList &list)
{
    for (const convnext::Variant &variant : convnext::variants) {
        Architecture architecture;
        architecture.name = QString::fromLatin1(variant.name);
        architecture.minimumSize = convnext::smallestPicture;
        architecture.make = [&variant](const ModelConfig &config) { return convnext::make(variant, config); };
        list.add(std::move(architecture));
    }
}

} // namespace tw
