// SPDX-License-Identifier: GPL-3.0-or-later
// Every network but the residual ones (tst_residualparity) against torchvision's numbers.
#include "core/train/architectures.h"
#include "tests/core/train/torch/networkparity.h"

#include <ATen/Parallel.h>

#include <QTest>

using namespace tw;

class TestNetworkParity : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        at::set_num_threads(1); // another program of these tests runs beside this one
        m_goldens = test::networkGoldens();
    }
    void everyGoldenHasItsNetwork();
    void equalsTorchvision_data() { test::addParityRows(false); }
    void equalsTorchvision();

private:
    QJsonObject m_goldens;
};

void TestNetworkParity::everyGoldenHasItsNetwork()
{
    QStringList known = architectureNames(), golden = m_goldens.keys();
    known.sort();
    golden.sort();
    QCOMPARE(golden, known);
}

void TestNetworkParity::equalsTorchvision()
{
    QFETCH(QString, name);
    QVERIFY2(m_goldens.contains(name), "there is no golden");
    QCOMPARE(test::parityProblem(name, m_goldens[name].toObject()), QString());
}

QTEST_GUILESS_MAIN(TestNetworkParity)
#include "tst_networkparity.moc"
