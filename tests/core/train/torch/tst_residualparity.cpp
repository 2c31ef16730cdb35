// SPDX-License-Identifier: GPL-3.0-or-later
// The residual networks against torchvision's numbers.
#include "tests/core/train/torch/networkparity.h"

#include <ATen/Parallel.h>

#include <QTest>

using namespace tw;

class TestResidualParity : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        at::set_num_threads(1); // another program of these tests runs beside this one
        m_goldens = test::networkGoldens();
    }
    void equalsTorchvision_data() { test::addParityRows(true); }
    void equalsTorchvision();

private:
    QJsonObject m_goldens;
};

void TestResidualParity::equalsTorchvision()
{
    QFETCH(QString, name);
    QVERIFY2(m_goldens.contains(name), "there is no golden");
    QCOMPARE(test::parityProblem(name, m_goldens[name].toObject()), QString());
}

QTEST_GUILESS_MAIN(TestResidualParity)
#include "tst_residualparity.moc"
