// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <QByteArray>
#include <QByteArrayView>

namespace tw {

/// BLAKE2b-256, lower-case hex.
QByteArray blake2b(const QByteArray &bytes);
/// BLAKE2b-256, its 32 bytes.
QByteArray contentKey(QByteArrayView bytes);
/// SHA-256 of a file read in blocks, lower-case hex.
Result<QByteArray> sha256OfFile(const fs::path &file, const char *errorName);

} // namespace tw
