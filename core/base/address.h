// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <QUrl>

namespace tw {

/// Whether what stands where a path can stand is an address ("scheme://…", of any scheme).
bool isAddress(const QByteArray &bytes);

/// Of http and https, with a host and a file name. InvalidDatasetError naming the address.
Result<QUrl> parseAddress(const QByteArray &bytes);

/// The last part of the address's path as the name of a file: percent signs resolved; slashes, control
/// characters and leading dots become '_', at most 200 bytes. Empty where the address names no file.
std::string addressFileName(const QByteArray &bytes);

/// For people: without a password, and without a query, which may hold a key.
QString displayAddress(const QUrl &address);

/// 64 hex digits, without regard to case.
bool isSha256(const QString &text);

} // namespace tw
