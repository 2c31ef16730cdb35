// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/devices.h"

#include "core/base/paths.h"
#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QTest>

using namespace tw;

class TestDevices : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void thereIsAlwaysTheProcessor();
    void resolving();
    void everyDevicePassesItsTest();
    void unknownDevicesAreNamed();
    void computationIsDescribed();
};

void TestDevices::thereIsAlwaysTheProcessor()
{
    const QList<DeviceInfo> list = devices();
    QCOMPARE(list.first().id, QStringLiteral("cpu"));
    QVERIFY(list.first().threads >= 1);
    QVERIFY(list.first().memoryBytes > 0);
    QVERIFY(libtorchVersion().startsWith(QLatin1String("2.")));
    QVERIFY(libtorchDetails().contains(QLatin1String("CPU capability")));
}

void TestDevices::resolving()
{
    const auto cpu = resolveDevice(QStringLiteral("cpu"));
    TW_VERIFY(cpu);
    QCOMPARE(*cpu, QStringLiteral("cpu"));
    const auto automatic = resolveDevice(QStringLiteral("auto"));
    TW_VERIFY(automatic);
    QCOMPARE(*automatic, devices().size() > 1 ? QStringLiteral("cuda:0") : QStringLiteral("cpu"));
}

void TestDevices::everyDevicePassesItsTest()
{
    for (const DeviceInfo &device : devices())
        TW_VERIFY(testDevice(device.id));
}

void TestDevices::unknownDevicesAreNamed()
{
    for (const char *id : {"cuda:99", "cuda", "gpu", "CPU"}) {
        const auto device = resolveDevice(QString::fromLatin1(id));
        QVERIFY(!device.ok());
        QCOMPARE(device.error().name, QStringLiteral("DeviceUnavailableError"));
        QCOMPARE(device.error().parameter, QStringLiteral("device"));
        QVERIFY(device.error().sentence().contains(QLatin1String(id)));
        QVERIFY(device.error().sentence().contains(QLatin1String("cpu")));
        QVERIFY(!testDevice(QString::fromLatin1(id)).ok());
    }
}

void TestDevices::computationIsDescribed()
{
    const QJsonObject json = describeComputation();
    QCOMPARE(json.value(QStringLiteral("libtorch")).toString(), libtorchVersion());
    const QJsonArray cards = json.value(QStringLiteral("gpus")).toArray();
    const QList<DeviceInfo> found = devices();
    QCOMPARE(cards.size(), found.size() - 1);
    for (qsizetype i = 0; i < cards.size(); ++i) {
        const QJsonObject card = cards.at(i).toObject();
        QCOMPARE(card.value(QStringLiteral("id")).toString(), found.at(i + 1).id);
        QVERIFY(card.value(QStringLiteral("memory_mb")).toInteger() > 0);
        QVERIFY(!card.value(QStringLiteral("name")).toString().isEmpty());
    }
    const bool hasDriver = fs::exists("/proc/driver/nvidia/version") || fs::exists("/sys/module/nvidia/version");
    QCOMPARE(json.value(QStringLiteral("gpu_driver")).isString(), hasDriver);
}

QTEST_APPLESS_MAIN(TestDevices)
#include "tst_devices.moc"
