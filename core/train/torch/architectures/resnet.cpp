// SPDX-License-Identifier: GPL-3.0-or-later
// ResNet (He et al., 2015), ResNeXt (Xie et al., 2016) and Wide ResNet (Zagoruyko, Komodakis, 2016)
// with torchvision's parameter names, layer order and initialisation.
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/layers.h"

#include <array>

namespace tw {

namespace resnet {

struct Variant
{
    const char *name;
    bool bottleneck;
    std::array<int, 4> blocks;
    int groups = 1;
    int baseWidth = 64;
};

constexpr std::array<Variant, 10> variants{{
    {"resnet18", false, {2, 2, 2, 2}},
    {"resnet34", false, {3, 4, 6, 3}},
    {"resnet50", true, {3, 4, 6, 3}},
    {"resnet101", true, {3, 4, 23, 3}},
    {"resnet152", true, {3, 8, 36, 3}},
    {"resnext50_32x4d", true, {3, 4, 6, 3}, 32, 4},
    {"resnext101_32x8d", true, {3, 4, 23, 3}, 32, 8},
    {"resnext101_64x4d", true, {3, 4, 23, 3}, 64, 4},
    {"wide_resnet50_2", true, {3, 4, 6, 3}, 1, 128},
    {"wide_resnet101_2", true, {3, 4, 23, 3}, 1, 128},
}};

constexpr Conv2d::Options kernel1(int stride)
{
    return {.stride = stride, .bias = false};
}

constexpr Conv2d::Options kernel3(int stride, int groups = 1)
{
    return {.stride = stride, .padding = 1, .groups = groups, .bias = false};
}

/// The shortcut's projection, where size or channels change.
class Downsample : public Sequential
{
public:
    Downsample(int inputs, int outputs, int stride)
    {
        append<Conv2d>(inputs, outputs, 1, kernel1(stride));
        append<BatchNorm2d>(outputs);
    }
};

class Block : public Module
{
public:
    /// The batch norm that zero_init_residual sets to 0.
    virtual BatchNorm2d &lastNorm() = 0;

protected:
    void addShortcut(int inputs, int outputs, int stride)
    {
        if (stride != 1 || inputs != outputs)
            m_downsample = &addChild<Downsample>("downsample", inputs, outputs, stride);
    }
    /// In place: neither batch norm nor the sum needs its output for the gradient.
    at::Tensor joinShortcut(at::Tensor branch, const at::Tensor &input)
    {
        return branch.add_(m_downsample ? m_downsample->forward(input) : input).relu_();
    }

private:
    Downsample *m_downsample = nullptr;
};

class BasicBlock : public Block
{
public:
    BasicBlock(int inputs, int planes, int stride)
        : m_conv1(addChild<Conv2d>("conv1", inputs, planes, 3, kernel3(stride))),
          m_bn1(addChild<BatchNorm2d>("bn1", planes)),
          m_conv2(addChild<Conv2d>("conv2", planes, planes, 3, kernel3(1))), m_bn2(addChild<BatchNorm2d>("bn2", planes))
    {
        addShortcut(inputs, planes, stride);
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        const at::Tensor x = m_bn1.forward(m_conv1.forward(input)).relu_();
        return joinShortcut(m_bn2.forward(m_conv2.forward(x)), input);
    }
    BatchNorm2d &lastNorm() override { return m_bn2; }

private:
    Conv2d &m_conv1;
    BatchNorm2d &m_bn1;
    Conv2d &m_conv2;
    BatchNorm2d &m_bn2;
};

class Bottleneck : public Block
{
public:
    static constexpr int expansion = 4;
    Bottleneck(int inputs, int planes, int stride, const Variant &variant)
        : Bottleneck(inputs, planes * expansion, stride, variant.groups,
                     planes * variant.baseWidth / 64 * variant.groups)
    {
    }
    at::Tensor forward(const at::Tensor &input) override
    {
        at::Tensor x = m_bn1.forward(m_conv1.forward(input)).relu_();
        x = m_bn2.forward(m_conv2.forward(x)).relu_();
        return joinShortcut(m_bn3.forward(m_conv3.forward(x)), input);
    }
    BatchNorm2d &lastNorm() override { return m_bn3; }

private:
    Bottleneck(int inputs, int outputs, int stride, int groups, int width)
        : m_conv1(addChild<Conv2d>("conv1", inputs, width, 1, kernel1(1))), m_bn1(addChild<BatchNorm2d>("bn1", width)),
          m_conv2(addChild<Conv2d>("conv2", width, width, 3, kernel3(stride, groups))),
          m_bn2(addChild<BatchNorm2d>("bn2", width)), m_conv3(addChild<Conv2d>("conv3", width, outputs, 1, kernel1(1))),
          m_bn3(addChild<BatchNorm2d>("bn3", outputs))
    {
        addShortcut(inputs, outputs, stride);
    }

    Conv2d &m_conv1;
    BatchNorm2d &m_bn1;
    Conv2d &m_conv2;
    BatchNorm2d &m_bn2;
    Conv2d &m_conv3;
    BatchNorm2d &m_bn3;
};

class ResNet : public Network
{
public:
    ResNet(const Variant &variant, int classes, bool zeroInitResidual)
        : m_zeroInitResidual(zeroInitResidual),
          m_conv1(addChild<Conv2d>("conv1", 3, 64, 7, Conv2d::Options{.stride = 2, .padding = 3, .bias = false})),
          m_bn1(addChild<BatchNorm2d>("bn1", 64))
    {
        int inputs = 64;
        for (int stage = 0; stage < 4; ++stage)
            inputs = addStage(variant, stage, inputs);
        m_fc = &addChild<Linear>("fc", inputs, classes);
    }

    at::Tensor forward(const at::Tensor &input) override
    {
        at::Tensor x = m_bn1.forward(m_conv1.forward(input)).relu_();
        x = at::max_pool2d(x, {3, 3}, {2, 2}, {1, 1});
        for (Sequential *stage : m_stages)
            x = stage->forward(x);
        return m_fc->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
    }

    void initialise(at::Generator &generator) override
    {
        Module::initialise(generator);
        visitAll([&](Module &module) {
            if (auto *conv = dynamic_cast<Conv2d *>(&module))
                conv->initialiseKaimingNormal(generator);
            if (auto *block = dynamic_cast<Block *>(&module); block && m_zeroInitResidual)
                block->lastNorm().setWeight(0);
        });
    }

    std::string headPrefix() const override { return "fc."; }

private:
    int addStage(const Variant &variant, int stage, int inputs)
    {
        auto &layer = addChild<Sequential>("layer" + std::to_string(stage + 1));
        m_stages.push_back(&layer);
        const int planes = 64 << stage;
        const int outputs = variant.bottleneck ? planes * Bottleneck::expansion : planes;
        for (int i = 0; i < variant.blocks[std::size_t(stage)]; ++i) {
            const int stride = i == 0 && stage > 0 ? 2 : 1;
            if (variant.bottleneck)
                layer.append<Bottleneck>(inputs, planes, stride, variant);
            else
                layer.append<BasicBlock>(inputs, planes, stride);
            inputs = outputs;
        }
        return inputs;
    }

    bool m_zeroInitResidual;
    Conv2d &m_conv1;
    BatchNorm2d &m_bn1;
    std::vector<Sequential *> m_stages;
    Linear *m_fc = nullptr;
};

Result<std::unique_ptr<Network>> make(const Variant &variant, const ModelConfig &config)
{
    NetworkArguments arguments(config);
    const int classes = arguments.integer("num_classes", 1000, 1, 1 << 20);
    const bool zeroInit = arguments.flag("zero_init_residual", false);
    TW_TRY(arguments.finish());
    return std::unique_ptr<Network>(std::make_unique<ResNet>(variant, classes, zeroInit));
}

} // namespace resnet

void registerArchitectures_resnet(ArchitectureList &list)
{
    for (const resnet::Variant &variant : resnet::variants) {
        Architecture architecture;
        architecture.name = QString::fromLatin1(variant.name);
        architecture.make = [&variant](const ModelConfig &config) { return resnet::make(variant, config); };
        list.add(std::move(architecture));
    }
}

} // namespace tw
