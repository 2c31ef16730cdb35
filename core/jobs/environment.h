// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>

#include <functional>

namespace tw {

/// Adds what the engine's core does not know (LibTorch version, graphics processors and driver) to
/// jobs/<id>/environment.json. Set once at start, before any job; called on the job's thread.
void setEnvironmentProvider(std::function<QJsonObject()> provider);

/// Program, Qt, OpenCV, system, processor, cores and memory of this machine, and the provider's keys.
QJsonObject describeEnvironment();

} // namespace tw
