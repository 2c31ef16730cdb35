// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/startup.h"
#include "tests/core/train/trainfixture.h"
#include "tests/support/testsupport.h"

#include <QTest>
#include <QThread>

#include <sys/resource.h>

#include <memory>

using namespace tw;

namespace {

long minorFaults()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

} // namespace

/// With glibc's usual settings a step hands its large blocks back to the system and faults them in
/// again; on a second thread tens of thousands of pages a step.
class TestTrainingMemory : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void steadyStepsFaultNoPages();
};

void TestTrainingMemory::steadyStepsFaultNoPages()
{
    constexpr std::size_t steadyFrom = 20, steps = 10;
    test::SmallTraining small(32 * 64, 4, 28);
    small.spec.batchSize = 64;
    small.spec.epochs = 1;
    std::vector<long> faults;
    faults.reserve(64);
    test::RecordingContext context;
    context.onProgress = [&](const QString &) { faults.push_back(minorFaults()); };
    bool trained = false;
    const std::unique_ptr<QThread> thread(QThread::create([&] { trained = train(small.spec, context).ok(); }));
    thread->start();
    thread->wait();
    QVERIFY(trained);
    QVERIFY(faults.size() > steadyFrom + steps);
    const long perStep = (faults[steadyFrom + steps] - faults[steadyFrom]) / long(steps);
    QVERIFY2(perStep < 200, qPrintable(QStringLiteral("%1 page faults a step").arg(perStep)));
}

int main(int argc, char **argv)
{
    configureAllocator();
    TestTrainingMemory test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_trainingmemory.moc"
