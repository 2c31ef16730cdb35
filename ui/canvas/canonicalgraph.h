// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componentregistry.h"
#include "core/pipeline/pipeline.h"

namespace tw {

/// The usual training pipeline for a folder of images (resources/samples/folder-resnet18), with the
/// folder set. `folder` is bytes. Components that the registry lacks are left out with their wires.
Pipeline canonicalPipeline(const ComponentRegistry &registry, const QByteArray &folder);

} // namespace tw
