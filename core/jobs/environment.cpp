// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/environment.h"

#include "core/base/files.h"
#include "core/data/opencvversion.h"

#include <QSysInfo>

#include <mutex>
#include <thread>
#include <unistd.h>

namespace tw {

namespace {

std::mutex providerMutex;

std::function<QJsonObject()> &providerSlot()
{
    static std::function<QJsonObject()> provider;
    return provider;
}

QString processorModel()
{
    constexpr qint64 maxBytes = 64 << 20;
    const auto text = readFile("/proc/cpuinfo", errors::Library, maxBytes);
    if (!text.ok())
        return {};
    const QList<QByteArray> lines = text->split('\n');
    for (const QByteArray &line : lines)
        if (line.startsWith("model name"))
            return QString::fromUtf8(line.mid(line.indexOf(':') + 1).trimmed());
    return {};
}

qint64 memoryMb()
{
    return qint64(::sysconf(_SC_PHYS_PAGES)) * (qint64(::sysconf(_SC_PAGESIZE)) / 1024) / 1024;
}

} // namespace

void setEnvironmentProvider(std::function<QJsonObject()> provider)
{
    const std::lock_guard guard(providerMutex);
    providerSlot() = std::move(provider);
}

QJsonObject describeEnvironment()
{
    QJsonObject json{
        {"program", QJsonObject{{"name", "Trainwright"}, {"version", TRAINWRIGHT_VERSION}}},
        {"qt", QString::fromLatin1(qVersion())},
        {"opencv", openCvVersion()},
        {"system", QSysInfo::prettyProductName()},
        {"kernel", QString(QSysInfo::kernelType() + u' ' + QSysInfo::kernelVersion())},
        {"architecture", QSysInfo::currentCpuArchitecture()},
        {"cpu", processorModel()},
        {"cores", static_cast<int>(std::thread::hardware_concurrency())},
        {"memory_mb", memoryMb()},
    };
    std::function<QJsonObject()> provider;
    {
        const std::lock_guard guard(providerMutex);
        provider = providerSlot();
    }
    const QJsonObject more = provider ? provider() : QJsonObject();
    for (auto key = more.constBegin(); key != more.constEnd(); ++key)
        json.insert(key.key(), *key);
    return json;
}

} // namespace tw
