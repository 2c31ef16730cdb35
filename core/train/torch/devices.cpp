// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/devices.h"

#include "core/base/paths.h"
#include "core/train/torch/torcherror.h"
#include "core/train/torch/torchthreads.h"

#include <ATen/ATen.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/headeronly/version.h>

#include <QJsonArray>
#include <QRegularExpression>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <mutex>

namespace tw {

namespace devicesdetail {

bool hasNvidiaDriver()
{
    std::error_code ignored;
    if (fs::exists("/proc/driver/nvidia/version", ignored))
        return true;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver)
        dlclose(driver);
    return driver != nullptr;
}

void openCudaBesideTorch()
{
    Dl_info info{};
    // The address of an exported function; nothing of torch is called.
    if (!dladdr(reinterpret_cast<void *>(&at::get_parallel_info), &info) || !info.dli_fname)
        return;
    const fs::path library = fs::path(info.dli_fname).parent_path() / "libtorch_cuda.so";
    std::error_code ignored;
    if (fs::exists(library, ignored) && hasNvidiaDriver())
        dlopen(fs::absolute(library, ignored).c_str(), RTLD_NOW | RTLD_GLOBAL);
}

int cudaDevices()
{
    return at::hasCUDA() ? int(at::detail::getCUDAHooks().deviceCount()) : 0;
}

QString valueAfterColon(const fs::path &file, const std::string &key)
{
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (line.compare(0, key.size(), key) == 0)
            return QString::fromStdString(line.substr(line.find(':') + 1)).trimmed();
    }
    return {};
}

DeviceInfo cpuInfo()
{
    DeviceInfo cpu;
    cpu.id = QStringLiteral("cpu");
    cpu.name = valueAfterColon("/proc/cpuinfo", "model name");
    cpu.memoryBytes = qint64(sysconf(_SC_PHYS_PAGES)) * qint64(sysconf(_SC_PAGESIZE));
    cpu.threads = automaticTorchThreads();
    return cpu;
}

/// The driver lists its cards by bus address, which is CUDA's order of equal cards.
QStringList nvidiaNames()
{
    std::vector<fs::path> folders;
    std::error_code ignored;
    for (const auto &entry : fs::directory_iterator("/proc/driver/nvidia/gpus", ignored))
        folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    QStringList names;
    for (const fs::path &folder : folders)
        names.append(valueAfterColon(folder / "information", "Model"));
    return names;
}

/// "535.104.05" of the driver's own words.
QJsonValue nvidiaDriver()
{
    std::ifstream module("/sys/module/nvidia/version"), words("/proc/driver/nvidia/version");
    std::string version, line;
    if (std::getline(module, version) && !version.empty())
        return QString::fromStdString(version).trimmed();
    if (!std::getline(words, line))
        return {};
    static const QRegularExpression number(QStringLiteral(R"(\b\d+\.\d+(\.\d+)?\b)"));
    return number.match(QString::fromStdString(line)).captured();
}

Error unavailable(const QString &id)
{
    QStringList known;
    for (const DeviceInfo &device : devices())
        known.append(device.id);
    return makeError(errors::DeviceUnavailable,
                     QT_TRANSLATE_NOOP("Error", "The device %1 is not there; this machine has: %2."),
                     {id, known.join(QStringLiteral(", "))},
                     QT_TRANSLATE_NOOP("Error", "Choose auto or one of the devices it has."))
        .atParameter(QStringLiteral("device"));
}

} // namespace devicesdetail

void openCudaLibrary()
{
    static std::once_flag once;
    std::call_once(once, devicesdetail::openCudaBesideTorch);
}

QList<DeviceInfo> devices()
{
    openCudaLibrary();
    QList<DeviceInfo> list{devicesdetail::cpuInfo()};
    const QStringList names = devicesdetail::nvidiaNames();
    for (int i = 0; i < devicesdetail::cudaDevices(); ++i) {
        DeviceInfo device;
        device.id = QStringLiteral("cuda:%1").arg(i);
        device.name = names.value(i, QStringLiteral("CUDA device"));
        guarded([&]() -> Result<void> {
            device.memoryBytes = qint64(at::accelerator::getMemoryInfo(c10::DeviceIndex(i)).second);
            return {};
        }).ok();
        list.append(device);
    }
    return list;
}

Result<QString> resolveDevice(const QString &id)
{
    openCudaLibrary();
    const int count = devicesdetail::cudaDevices();
    if (id == QLatin1String("cpu"))
        return id;
    if (id.isEmpty() || id == QLatin1String("auto"))
        return count > 0 ? QStringLiteral("cuda:0") : QStringLiteral("cpu");
    for (int i = 0; i < count; ++i) {
        if (id == QStringLiteral("cuda:%1").arg(i))
            return id;
    }
    return devicesdetail::unavailable(id);
}

Result<void> testDevice(const QString &id)
{
    TW_ASSIGN(resolved, resolveDevice(id));
    const auto outcome = guarded([&]() -> Result<double> {
        const at::Device device(resolved.toStdString());
        return at::arange(1, 1001, at::TensorOptions().dtype(at::kFloat).device(device)).sum().item<double>();
    });
    if (outcome.ok() && *outcome == 500500.0)
        return {};
    const QString reason =
        outcome.ok() ? QStringLiteral("1 + … + 1000 gave %1").arg(*outcome) : outcome.error().sentence();
    return makeError(errors::DeviceUnavailable, QT_TRANSLATE_NOOP("Error", "The device %1 does not work: %2"),
                     {resolved, reason}, QT_TRANSLATE_NOOP("Error", "Check the driver, or choose another device."));
}

QJsonObject describeComputation()
{
    QJsonArray cards;
    for (const DeviceInfo &device : devices())
        if (device.threads == 0)
            cards.append(QJsonObject{{QStringLiteral("id"), device.id},
                                     {QStringLiteral("name"), device.name},
                                     {QStringLiteral("memory_mb"), device.memoryBytes >> 20}});
    return {{QStringLiteral("libtorch"), libtorchVersion()},
            {QStringLiteral("gpus"), cards},
            {QStringLiteral("gpu_driver"), devicesdetail::nvidiaDriver()}};
}

QString libtorchVersion()
{
    return QStringLiteral(TORCH_VERSION);
}

QString libtorchDetails()
{
    openCudaLibrary();
    return QString::fromStdString(at::show_config() + at::get_parallel_info()
                                  + "CPU capability: " + at::get_cpu_capability());
}

} // namespace tw
