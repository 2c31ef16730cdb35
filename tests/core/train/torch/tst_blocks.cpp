// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/blocks.h"
#include "tests/core/train/torch/formula.h"
#include "tests/support/testsupport.h"

#include <ATen/CPUGeneratorImpl.h>

#include <QTest>

using namespace tw;
using test::formula;

namespace {

/// From −10 to 10, the limits of every activation among them.
at::Tensor values()
{
    return at::arange(-40, 41, at::TensorOptions().dtype(at::kFloat)) / 4;
}

at::Tensor picture(std::int64_t channels, std::int64_t height, std::int64_t width)
{
    return formula(channels * height * width, 1).to(at::kFloat).reshape({1, channels, height, width});
}

double largestGap(const at::Tensor &a, const at::Tensor &b)
{
    return (a - b).abs().max().item<double>();
}

at::Tensor expected(Activation activation, const at::Tensor &x)
{
    switch (activation) {
    case Activation::None:
        return x.clone();
    case Activation::Relu:
        return at::relu(x);
    case Activation::Relu6:
        return at::hardtanh(x, 0, 6);
    case Activation::Silu:
        return x * at::sigmoid(x);
    case Activation::Hardswish:
        return x * at::hardtanh(x + 3, 0, 6) / 6;
    }
    return {};
}

} // namespace

/// The layers that several families share, against plain formulas.
class TestBlocks : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void activations_data();
    void activations();
    void relu6KeepsOneTensor();
    void stochasticDepthDropsRows();
    void stochasticDepthOff();
    void dropout();
    void sameSeedSameDraws();
    void samePadding_data();
    void samePadding();
    void squeezeExcitation();
    void batchNormOptions();
    void roundedWidths();
};

void TestBlocks::activations_data()
{
    QTest::addColumn<int>("activation");
    for (const auto &[name, activation] : {std::pair{"none", Activation::None}, std::pair{"relu", Activation::Relu},
                                           std::pair{"relu6", Activation::Relu6}, std::pair{"silu", Activation::Silu},
                                           std::pair{"hardswish", Activation::Hardswish}})
        QTest::newRow(name) << int(activation);
}

void TestBlocks::activations()
{
    QFETCH(int, activation);
    const auto kind = Activation(activation);
    const at::Tensor leaf = values().requires_grad_(true), other = values().requires_grad_(true);
    const at::Tensor weights = formula(leaf.numel(), 2).to(at::kFloat);
    const at::Tensor ours = activated(leaf * 1, kind), theirs = expected(kind, other * 1);
    QVERIFY(largestGap(ours.detach(), theirs.detach()) <= 1e-6);
    (ours * weights).sum().backward();
    (theirs * weights).sum().backward();
    QVERIFY(largestGap(leaf.grad(), other.grad()) <= 1e-6);
    const c10::NoGradGuard noGrad;
    const at::Tensor plain = values();
    QVERIFY(largestGap(activated(plain, kind), expected(kind, values())) <= 1e-6);
    QVERIFY(largestGap(plain, expected(kind, values())) <= 1e-6); // in place
}

/// What comes out is what was given in, changed, with gradients as well as without.
void TestBlocks::relu6KeepsOneTensor()
{
    const at::Tensor leaf = values().requires_grad_(true);
    const at::Tensor x = leaf * 1;
    const at::Tensor y = activated(x, Activation::Relu6);
    QCOMPARE(y.const_data_ptr(), x.const_data_ptr());
    QVERIFY(y.requires_grad());
}

void TestBlocks::stochasticDepthDropsRows()
{
    constexpr int rows = 4000;
    at::manual_seed(3);
    StochasticDepth layer(0.25);
    const at::Tensor out = layer.forward(at::ones({rows, 2, 3, 3}));
    const at::Tensor first = out.select(1, 0).select(1, 0).select(1, 0);
    QVERIFY(largestGap(out, first.reshape({rows, 1, 1, 1}).expand_as(out)) == 0); // a row is whole or gone
    const at::Tensor kept = first.gt(0);
    QVERIFY(largestGap(first, kept.to(at::kFloat) / 0.75) <= 1e-6);
    const double share = double(kept.sum().item<std::int64_t>()) / rows;
    QVERIFY2(std::abs(share - 0.75) < 0.03, qPrintable(QString::number(share)));
    QCOMPARE(layer.forward(at::ones({5, 7})).sizes(), at::IntArrayRef({5, 7}));
}

void TestBlocks::stochasticDepthOff()
{
    const at::Tensor input = picture(2, 3, 3);
    StochasticDepth none(0), all(0.9);
    QCOMPARE(none.forward(input).const_data_ptr(), input.const_data_ptr());
    all.setTraining(false);
    QCOMPARE(all.forward(input).const_data_ptr(), input.const_data_ptr());
}

void TestBlocks::dropout()
{
    at::manual_seed(4);
    Dropout layer(0.4);
    const at::Tensor out = layer.forward(at::ones({10000}));
    const at::Tensor kept = out.gt(0);
    QVERIFY(largestGap(out, kept.to(at::kFloat) / 0.6) <= 1e-6);
    QVERIFY(std::abs(double(kept.sum().item<std::int64_t>()) / 10000 - 0.6) < 0.02);
    layer.setTraining(false);
    QVERIFY(at::equal(layer.forward(at::ones({100})), at::ones({100})));
}

void TestBlocks::sameSeedSameDraws()
{
    StochasticDepth depth(0.5);
    Dropout drop(0.5);
    const auto draw = [&](std::uint64_t seed) {
        at::manual_seed(seed);
        return drop.forward(depth.forward(at::ones({64, 3})));
    };
    QVERIFY(at::equal(draw(1), draw(1)));
    QVERIFY(!at::equal(draw(1), draw(2)));
}

void TestBlocks::samePadding_data()
{
    QTest::addColumn<int>("kernel");
    QTest::addColumn<int>("stride");
    QTest::addColumn<int>("height");
    QTest::addColumn<int>("width");
    for (const int kernel : {1, 3, 5}) {
        for (const int stride : {1, 2}) {
            for (const auto &[height, width] : {std::pair{8, 8}, std::pair{7, 7}, std::pair{8, 7}, std::pair{1, 2}})
                QTest::addRow("%d×%d, stride %d, %d×%d", kernel, kernel, stride, height, width)
                    << kernel << stride << height << width;
        }
    }
}

/// Each output from its window, as TensorFlow's documentation defines it.
void TestBlocks::samePadding()
{
    QFETCH(int, kernel);
    QFETCH(int, stride);
    QFETCH(int, height);
    QFETCH(int, width);
    Conv2d conv(1, 1, kernel, Conv2d::Options{.stride = stride, .bias = false, .same = true});
    const c10::NoGradGuard noGrad;
    conv.parameters()[0].copy_(formula(kernel * kernel, 5).reshape({1, 1, kernel, kernel}));
    const at::Tensor weight = conv.parameters()[0].contiguous(), input = picture(1, height, width);
    const at::Tensor out = conv.forward(input);
    const auto outputs = [stride](int size) { return (size + stride - 1) / stride; };
    const auto before = [&](int size) { return std::max(0, (outputs(size) - 1) * stride + kernel - size) / 2; };
    QCOMPARE(out.sizes(), at::IntArrayRef({1, 1, outputs(height), outputs(width)}));
    const float *w = weight.const_data_ptr<float>(), *x = input.const_data_ptr<float>();
    for (int row = 0; row < outputs(height); ++row) {
        for (int column = 0; column < outputs(width); ++column) {
            double sum = 0;
            for (int i = 0; i < kernel * kernel; ++i) {
                const int y = row * stride + i / kernel - before(height);
                const int at = column * stride + i % kernel - before(width);
                if (y >= 0 && y < height && at >= 0 && at < width)
                    sum += double(w[i]) * x[y * width + at];
            }
            QVERIFY(std::abs(out[0][0][row][column].item<double>() - sum) <= 1e-5);
        }
    }
}

void TestBlocks::squeezeExcitation()
{
    for (const auto gate : {SqueezeExcitation::Gate::Sigmoid, SqueezeExcitation::Gate::Hardsigmoid}) {
        SqueezeExcitation layer(4, 2, Activation::Relu, gate);
        test::fillByFormula(layer);
        const c10::NoGradGuard noGrad;
        const auto state = layer.stateDict();
        QCOMPARE(state.size(), std::size_t(4));
        QCOMPARE(state[2].name, std::string("fc2.weight"));
        const at::Tensor input = picture(4, 3, 5);
        const auto dense = [&](const at::Tensor &x, std::size_t i) {
            return at::linear(x, state[i].tensor.flatten(1), state[i + 1].tensor);
        };
        const at::Tensor raw = dense(at::relu(dense(input.mean({2, 3}), 0)), 2);
        const at::Tensor scale =
            gate == SqueezeExcitation::Gate::Sigmoid ? at::sigmoid(raw) : at::hardtanh(raw + 3, 0, 6) / 6;
        QVERIFY(largestGap(layer.forward(input), input * scale.reshape({1, 4, 1, 1})) <= 1e-6);
    }
}

void TestBlocks::batchNormOptions()
{
    BatchNorm2d norm(2, {.eps = 0.5, .momentum = 0.25});
    at::Generator generator = at::detail::createCPUGenerator(1);
    norm.initialise(generator);
    const c10::NoGradGuard noGrad;
    const at::Tensor input = picture(2, 4, 4) + 3;
    const at::Tensor mean = input.mean({0, 2, 3}), variance = input.var({0, 2, 3}, false);
    const auto shaped = [](const at::Tensor &x) { return x.reshape({1, 2, 1, 1}); };
    const at::Tensor wanted = (input - shaped(mean)) / (shaped(variance) + 0.5).sqrt();
    QVERIFY(largestGap(norm.forward(input), wanted) <= 1e-5);
    const auto state = norm.stateDict();
    QVERIFY(largestGap(state[2].tensor, mean * 0.25) <= 1e-6);
    QVERIFY(largestGap(state[3].tensor, input.var({0, 2, 3}, true) * 0.25 + 0.75) <= 1e-6);
}

void TestBlocks::roundedWidths()
{
    // 35.2 is nearer to 32, which is 9.1 % less; 11 would lose 27 % at 8.
    for (const auto &[given, wanted] : {std::pair{32.0, 32}, std::pair{35.2, 32}, std::pair{11.0, 16},
                                        std::pair{1.0, 8}, std::pair{22.4, 24}, std::pair{18.0, 24}})
        QCOMPARE(roundedChannels(given), wanted);
}

QTEST_APPLESS_MAIN(TestBlocks)
#include "tst_blocks.moc"
