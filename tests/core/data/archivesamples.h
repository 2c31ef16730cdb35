// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"

#include <QByteArray>

#include <string>
#include <vector>

namespace tw::test {

/// A member of an archive made for a test; a name that ends in '/' is a folder.
struct Packed
{
    std::string name;
    QByteArray bytes;
    char kind = '0';       ///< of a tar: '1' hard link, '2' symbolic link (bytes: the target)
    int flags = 0;         ///< of a zip: 1 encrypted
    int claimedBytes = -1; ///< of a zip: in place of the true size
    bool wrongChecksum = false;
    bool deflated = true;
    int host = 3;      ///< of a zip: 3 Unix, 0 DOS
    int recordOf = -1; ///< of a zip: the list names the record of this member, by number, in place of its own
};

void writeZip(const fs::path &file, const std::vector<Packed> &members);
QByteArray tarOf(const std::vector<Packed> &members);
QByteArray gzipOf(const QByteArray &bytes);
QByteArray bzip2Of(const QByteArray &bytes);

} // namespace tw::test
