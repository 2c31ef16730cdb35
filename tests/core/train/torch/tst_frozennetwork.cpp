// SPDX-License-Identifier: GPL-3.0-or-later
// What a network whose head alone trains keeps for the backward pass, and what it leaves alone.
#include "core/train/torch/architecturelist.h"
#include "core/train/torch/memorycheck.h"
#include "tests/core/train/torch/formula.h"
#include "tests/support/testsupport.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <QTest>

#include <set>

using namespace tw;

namespace {

std::unique_ptr<Network> network(const QString &name)
{
    auto made = makeNetwork({name, {{QStringLiteral("num_classes"), 3}}}, TensorPlace::Memory);
    if (!made.ok())
        qFatal("%s", qPrintable(made.error().toString()));
    test::fillByFormula(**made);
    return std::move(*made);
}

at::Tensor pictures()
{
    return test::formula(2 * 3 * 32 * 32, 1).reshape({2, 3, 32, 32}).to(at::kFloat);
}

/// Operations that the backward pass of `tensor` goes through.
std::size_t graphSize(const at::Tensor &tensor)
{
    std::set<torch::autograd::Node *> seen;
    std::vector<torch::autograd::Node *> open{tensor.grad_fn().get()};
    while (!open.empty()) {
        torch::autograd::Node *node = open.back();
        open.pop_back();
        if (!node || !seen.insert(node).second)
            continue;
        for (const auto &edge : node->next_edges())
            open.push_back(edge.function.get());
    }
    return seen.size();
}

} // namespace

class TestFrozenNetwork : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void noGraphBelowTheHead_data() { networks(); }
    void noGraphBelowTheHead();
    void behavesAsInEvaluation_data() { networks(); }
    void behavesAsInEvaluation();
    void takesLessMemory_data() { networks(); }
    void takesLessMemory();
    void countsWithoutMemory();

private:
    static void networks();
};

void TestFrozenNetwork::networks()
{
    QTest::addColumn<QString>("name");
    for (const char *name : {"resnet18", "densenet121", "efficientnet_b0", "mobilenet_v3_small"}) {
        const auto &all = allArchitectures().items();
        if (std::any_of(all.begin(), all.end(), [&](const auto &one) { return one.name == QLatin1String(name); }))
            QTest::newRow(name) << QString::fromLatin1(name);
    }
}

void TestFrozenNetwork::noGraphBelowTheHead()
{
    QFETCH(QString, name);
    const auto frozen = network(name);
    frozen->setTraining(true);
    const std::size_t whole = graphSize(frozen->forward(pictures()));
    frozen->trainHeadOnly();
    const at::Tensor logits = frozen->forward(pictures());
    QVERIFY2(graphSize(logits) <= 4, qPrintable(QString::number(graphSize(logits)))); // addmm, t, weight, bias
    QVERIFY(whole > 50);
    logits.sum().backward();
    for (const NamedTensor &entry : frozen->stateDict()) {
        const bool inHead = entry.name.rfind(frozen->headPrefix(), 0) == 0;
        QCOMPARE(entry.isFrozen, !inHead);
        QCOMPARE(entry.tensor.requires_grad(), inHead);
        QCOMPARE(entry.tensor.grad().defined(), inHead);
    }
    QCOMPARE(frozen->trainableParameters().size(), 2U);
    QVERIFY(frozen->trainableParameterCount() < frozen->parameterCount());
}

/// Training mode or not: the same logits, and no statistic moves.
void TestFrozenNetwork::behavesAsInEvaluation()
{
    QFETCH(QString, name);
    const auto frozen = network(name), untouched = network(name);
    untouched->setTraining(false);
    const at::Tensor wanted = untouched->forward(pictures()).detach();
    frozen->trainHeadOnly();
    frozen->setTraining(true);
    QVERIFY(frozen->isSetToTraining() && !frozen->isTraining());
    QVERIFY(at::equal(frozen->forward(pictures()).detach(), wanted));
    const auto before = untouched->stateDict(), after = frozen->stateDict();
    for (std::size_t i = 0; i < before.size(); ++i)
        QVERIFY2(at::equal(before[i].tensor, after[i].tensor), before[i].name.c_str());
    untouched->setTraining(true);
    QVERIFY(!at::equal(untouched->forward(pictures()).detach(), wanted)); // batch norm shows the mode
}

void TestFrozenNetwork::takesLessMemory()
{
    QFETCH(QString, name);
    const auto whole = network(name);
    const std::int64_t all = measureActivations(*whole, 4, 3, 64, 64, false);
    whole->trainHeadOnly();
    const std::int64_t head = measureActivations(*whole, 4, 3, 64, 64, false);
    QVERIFY2(head * 4 < all, qPrintable(QStringLiteral("%1 of %2 bytes").arg(head).arg(all)));
}

void TestFrozenNetwork::countsWithoutMemory()
{
    const auto shapes =
        makeNetwork({QStringLiteral("resnet18"), {{QStringLiteral("num_classes"), 7}}}, TensorPlace::ShapesOnly);
    TW_VERIFY(shapes);
    QCOMPARE((*shapes)->trainableParameterCount(), (*shapes)->parameterCount());
    (*shapes)->trainHeadOnly();
    QCOMPARE((*shapes)->trainableParameterCount(), std::int64_t(512 * 7 + 7));
}

QTEST_GUILESS_MAIN(TestFrozenNetwork)
#include "tst_frozennetwork.moc"
