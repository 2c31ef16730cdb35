// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <QJsonObject>
#include <QList>
#include <QString>

namespace tw {

struct DeviceInfo
{
    QString id; ///< cpu, cuda:0, …
    QString name;
    qint64 memoryBytes = 0;
    int threads = 0; ///< cpu only
};

/// Opens libtorch_cuda by absolute path where an NVIDIA driver is present. Must run before the first
/// torch call of any kind; cheap and harmless elsewhere. Thread-safe, once.
void openCudaLibrary();
QList<DeviceInfo> devices();
/// "auto" → the first cuda device or cpu. DeviceUnavailableError naming what exists.
Result<QString> resolveDevice(const QString &id);
/// A small sum on the device, checked. DeviceUnavailableError.
Result<void> testDevice(const QString &id);
QString libtorchVersion();
/// What environment.json says of LibTorch (build, threads, CPU capability).
QString libtorchDetails();
/// What a job's environment.json has beyond the core's keys: libtorch, gpus [{id, name, memory_mb}],
/// gpu_driver (null without one). Looks at the devices: not for the start of a program.
QJsonObject describeComputation();

} // namespace tw
