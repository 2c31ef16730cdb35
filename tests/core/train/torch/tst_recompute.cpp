// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/recompute.h"
#include "tests/core/train/torch/formula.h"
#include "tests/support/testsupport.h"

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <c10/core/CPUAllocator.h>

#include <QTest>

#include <atomic>
#include <cstdlib>

#include <malloc.h>

using namespace tw;
using test::formula;

namespace {

/// Counts the bytes of tensors that live. The context of a block must be its address, so the size is
/// asked of malloc.
class CountingAllocator : public c10::Allocator
{
public:
    static std::atomic<std::int64_t> live, peak;

    at::DataPtr allocate(std::size_t bytes) override
    {
        constexpr std::size_t alignment = 64;
        void *memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
        const std::int64_t now = live += std::int64_t(malloc_usable_size(memory));
        if (now > peak)
            peak = now;
        return {memory, memory, release, at::Device(at::kCPU)};
    }
    at::DeleterFnPtr raw_deleter() const override { return release; }
    void copy_data(void *to, const void *from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

private:
    static void release(void *memory)
    {
        live -= std::int64_t(malloc_usable_size(memory));
        std::free(memory);
    }
};

std::atomic<std::int64_t> CountingAllocator::live{0}, CountingAllocator::peak{0};

std::unique_ptr<Network> densenet(bool memoryEfficient)
{
    auto made =
        makeNetwork({QStringLiteral("densenet121"),
                     {{QStringLiteral("num_classes"), 5}, {QStringLiteral("memory_efficient"), memoryEfficient}}},
                    TensorPlace::Memory);
    for (NamedTensor &entry : (*made)->stateDict()) {
        if (entry.isBuffer)
            entry.tensor.zero_();
    }
    test::fillByFormula(**made);
    return std::move(*made);
}

at::Tensor pictures(int count, int size)
{
    return formula(std::int64_t(count) * 3 * size * size, 1).to(at::kFloat).reshape({count, 3, size, size});
}

struct Figures
{
    std::vector<NamedTensor> state;
    std::int64_t kept = 0; ///< bytes between the forward and the backward pass
    std::int64_t peak = 0; ///< without the gradients themselves
};

Figures trainOnce(Network &network, const at::Tensor &input)
{
    const std::int64_t before = CountingAllocator::live;
    CountingAllocator::peak = before;
    Figures figures;
    const at::Tensor logits = network.forward(input);
    figures.kept = CountingAllocator::live - before;
    (logits * formula(logits.numel(), 2).to(at::kFloat).reshape(logits.sizes())).sum().backward();
    figures.peak = CountingAllocator::peak - before - network.parameterCount() * std::int64_t(sizeof(float));
    figures.state = network.stateDict();
    return figures;
}

/// Largest difference relative to the largest value.
double difference(const at::Tensor &a, const at::Tensor &b)
{
    return ((a - b).abs().max() / (b.abs().max() + 1e-12)).item<double>();
}

} // namespace

class TestRecompute : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        static CountingAllocator counting;
        m_usual = c10::GetCPUAllocator();
        c10::SetCPUAllocator(&counting, 1);
        at::set_num_threads(1);
    }
    void cleanupTestCase() { c10::SetCPUAllocator(m_usual, 1); }
    void memoryFallsAndNothingElseChanges();
    void secondStepAgrees();
    void frozenLayers();
    void evaluationKeepsNothing();
    void callsAndGradients();
    void inputsWithoutGradient();
    void autocast();

private:
    c10::Allocator *m_usual = nullptr;
};

void TestRecompute::memoryFallsAndNothingElseChanges()
{
    const auto plain = densenet(false), efficient = densenet(true);
    const at::Tensor input = pictures(4, 64);
    const Figures a = trainOnce(*plain, input), b = trainOnce(*efficient, input);
    QVERIFY2(b.kept * 2 < a.kept, qPrintable(QStringLiteral("%1 of %2 bytes kept").arg(b.kept).arg(a.kept)));
    QVERIFY2(b.peak * 3 < a.peak * 2, qPrintable(QStringLiteral("peak %1 of %2 bytes").arg(b.peak).arg(a.peak)));
    QCOMPARE(a.state.size(), b.state.size());
    for (std::size_t i = 0; i < a.state.size(); ++i) {
        const NamedTensor &one = a.state[i], &other = b.state[i];
        if (one.isBuffer)
            QVERIFY2(at::equal(one.tensor, other.tensor), one.name.c_str());
        else
            QVERIFY2(difference(other.tensor.grad(), one.tensor.grad()) <= 1e-6, one.name.c_str());
        if (test::endsWith(one.name, "num_batches_tracked"))
            QCOMPARE(other.tensor.item<std::int64_t>(), std::int64_t(1));
    }
}

/// Running statistics that moved twice would show in the evaluation after a step.
void TestRecompute::secondStepAgrees()
{
    const auto plain = densenet(false), efficient = densenet(true);
    const at::Tensor input = pictures(2, 32);
    for (Network *network : {plain.get(), efficient.get()}) {
        trainOnce(*network, input);
        trainOnce(*network, input);
        network->setTraining(false);
    }
    c10::NoGradGuard noGrad;
    QVERIFY(at::equal(plain->forward(input), efficient->forward(input)));
}

void TestRecompute::frozenLayers()
{
    const auto plain = densenet(false), efficient = densenet(true);
    for (Network *network : {plain.get(), efficient.get()}) {
        for (NamedTensor &entry : network->stateDict()) {
            if (!entry.isBuffer)
                entry.tensor.requires_grad_(entry.name.find("denseblock4.denselayer3.conv1") != std::string::npos);
        }
        trainOnce(*network, pictures(2, 64));
    }
    int trained = 0;
    const auto a = plain->stateDict(), b = efficient->stateDict();
    for (std::size_t i = 0; i < a.size(); ++i) {
        QCOMPARE(a[i].tensor.grad().defined(), b[i].tensor.grad().defined());
        if (!a[i].tensor.grad().defined())
            continue;
        ++trained;
        QVERIFY2(difference(b[i].tensor.grad(), a[i].tensor.grad()) <= 1e-6, a[i].name.c_str());
    }
    QCOMPARE(trained, 1);
}

void TestRecompute::evaluationKeepsNothing()
{
    const auto plain = densenet(false), efficient = densenet(true);
    plain->setTraining(false);
    efficient->setTraining(false);
    const at::Tensor input = pictures(1, 32);
    QVERIFY(at::equal(plain->forward(input), efficient->forward(input)));
    c10::NoGradGuard noGrad;
    const std::int64_t before = CountingAllocator::live;
    const at::Tensor logits = efficient->forward(input);
    QVERIFY(!logits.requires_grad());
    QVERIFY(CountingAllocator::live - before < 1024);
}

void TestRecompute::callsAndGradients()
{
    const at::Tensor x = formula(6, 1).requires_grad_(), y = formula(6, 2).requires_grad_();
    const at::Tensor weight = formula(6, 3).requires_grad_();
    QList<bool> calls;
    const Computation compute = [&](const std::vector<at::Tensor> &inputs, bool again) {
        calls.append(again);
        return (inputs[0] * weight).tanh() * inputs[1];
    };
    const at::Tensor plain = compute({x, y}, false);
    const auto expected = [&] {
        (plain * 3).sum().backward();
        return std::vector<at::Tensor>{x.grad().clone(), y.grad().clone(), weight.grad().clone()};
    }();
    for (const at::Tensor &leaf : {x, y, weight})
        leaf.mutable_grad().reset();
    calls.clear();
    const at::Tensor result = recomputed(compute, {x, y}, {weight});
    QVERIFY(at::equal(result, plain));
    QCOMPARE(calls, QList<bool>{false});
    (result * 3).sum().backward();
    QCOMPARE(calls, (QList<bool>{false, true}));
    QVERIFY(at::equal(x.grad(), expected[0]) && at::equal(y.grad(), expected[1]));
    QVERIFY(at::equal(weight.grad(), expected[2]));
}

void TestRecompute::inputsWithoutGradient()
{
    const at::Tensor x = formula(6, 1), weight = formula(6, 3).requires_grad_();
    const at::Tensor y = formula(6, 4).requires_grad_();
    int calls = 0;
    const Computation compute = [&](const std::vector<at::Tensor> &inputs, bool again) {
        ++calls;
        // Only what asks for a gradient is given one, whatever its place.
        for (std::size_t i = 0; again && i < inputs.size(); ++i)
            calls += inputs[i].requires_grad() == (i == 1) ? 0 : 100;
        return inputs[0] * weight + inputs.back();
    };
    recomputed(compute, {x, y, x}, {weight}).sum().backward();
    QCOMPARE(calls, 2);
    QVERIFY(!x.grad().defined());
    QVERIFY(at::equal(weight.grad(), x));
    QVERIFY(!y.grad().defined()); // it asks for one, but the result does not depend on it
    c10::NoGradGuard noGrad;
    QVERIFY(!recomputed(compute, {x}, {weight}).requires_grad());
    QCOMPARE(calls, 3);
}

/// bfloat16 in the first pass means bfloat16 in the second, and weights still get their gradient.
void TestRecompute::autocast()
{
    const at::Tensor x = formula(12, 1).to(at::kFloat).reshape({3, 4});
    const at::Tensor weight = formula(20, 3).to(at::kFloat).reshape({5, 4}).requires_grad_();
    std::vector<at::ScalarType> types;
    const Computation compute = [&](const std::vector<at::Tensor> &inputs, bool) {
        const at::Tensor out = at::linear(inputs[0], weight);
        types.push_back(out.scalar_type());
        return out;
    };
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    const at::Tensor result = recomputed(compute, {x}, {weight});
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, false);
    result.to(at::kFloat).sum().backward();
    QCOMPARE(types, (std::vector<at::ScalarType>{at::kBFloat16, at::kBFloat16}));
    QVERIFY(weight.grad().defined());
    QVERIFY(at::allclose(weight.grad(), x.sum(0).expand({5, 4}), 0.02, 0.02));
    QVERIFY(!at::autocast::is_autocast_enabled(at::kCPU) && at::autocast::is_autocast_cache_enabled());
}

QTEST_GUILESS_MAIN(TestRecompute)
#include "tst_recompute.moc"
