// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

class QSqlQuery;

namespace tw {

/// What a picture is known by between runs; of an archive's member time and inode are the archive's.
struct FileIdentity
{
    std::int64_t bytes = 0, mtimeNs = 0, inode = 0;
};

struct VerifiedFile
{
    std::string path; ///< absolute, or archive/member
    FileIdentity identity;
    std::string key;   ///< BLAKE2b-256 of the bytes, 32 of them
    std::string facts; ///< packedFacts()
};

/// <workspace>/cache/files.db: pictures that were decoded whole without a fault, with their content
/// keys. Only a memory: safe to delete; one that is locked, damaged or cannot be written knows nothing
/// and never fails anything. Pictures that could not be read are not remembered: a later version may
/// read them. One thread.
class VerifiedFiles
{
public:
    explicit VerifiedFiles(const fs::path &database);
    ~VerifiedFiles();
    VerifiedFiles(const VerifiedFiles &) = delete;
    VerifiedFiles &operator=(const VerifiedFiles &) = delete;
    bool isOpen() const { return m_open; }
    /// The content key, and into `facts` what was measured; nothing where the file is unknown or another
    /// one by now.
    std::optional<std::string> keyOf(const std::string &path, const FileIdentity &identity,
                                     std::string *facts = nullptr);
    /// All in one transaction.
    void remember(const std::vector<VerifiedFile> &files);

private:
    bool prepare();
    fs::path m_database;
    QString m_connection;
    std::unique_ptr<QSqlQuery> m_lookup;
    bool m_open = false;
};

} // namespace tw
