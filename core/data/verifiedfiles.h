// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

class QSqlDatabase;

namespace tw {

/// What a picture is known by between runs; of an archive's member time and inode are the archive's.
struct FileIdentity
{
    std::int64_t bytes = 0, mtimeNs = 0, inode = 0;
    bool operator==(const FileIdentity &) const = default;
};

struct VerifiedFile
{
    std::string name; ///< the last part of its path
    FileIdentity identity;
    std::string key{};   ///< BLAKE2b-256 of the bytes, 32 of them; empty: only its header was read
    std::string facts{}; ///< packedFacts()
};

/// What is known about one folder's pictures.
class VerifiedFolder
{
public:
    struct Known
    {
        std::string_view key, facts; ///< as in VerifiedFile
    };
    /// The last that was remembered of this file; nothing where it is unknown or another one by now.
    std::optional<Known> find(std::string_view name, const FileIdentity &identity) const;
    std::size_t size() const { return m_entries.size(); }

private:
    friend class VerifiedFiles;
    struct Entry
    {
        std::string_view name, key, facts;
        FileIdentity identity;
    };
    void take(std::string rows);
    void settle();
    std::deque<std::string> m_rows; ///< what the entries point into; a deque moves none of them
    std::vector<Entry> m_entries;   ///< by name, each once
};

/// <workspace>/cache/files.db: pictures whose header was read, or that were decoded whole, without a
/// fault. Kept by folder, so that a million are looked up and added in seconds; at most about 512 MB,
/// of which folders that were not used for longest go first. Only a memory: safe to delete; one that
/// is locked, damaged or cannot be written knows nothing and never fails anything. Pictures that could
/// not be read are not remembered: a later version may read them. One thread.
class VerifiedFiles
{
public:
    explicit VerifiedFiles(const fs::path &database);
    ~VerifiedFiles();
    VerifiedFiles(const VerifiedFiles &) = delete;
    VerifiedFiles &operator=(const VerifiedFiles &) = delete;
    bool isOpen() const { return m_open; }
    /// `folder`: absolute, or archive/folder.
    VerifiedFolder recall(const std::string &folder);
    struct Addition
    {
        std::string folder;
        std::vector<VerifiedFile> files;
    };
    /// All in one transaction; also that what was recalled is in use.
    void remember(const std::vector<Addition> &additions);

private:
    bool prepare();
    bool add(QSqlDatabase &connection, const Addition &addition);
    void shrink(QSqlDatabase &connection);
    void noteUse(QSqlDatabase &connection);
    fs::path m_database;
    QString m_connection;
    std::vector<std::string> m_recalled; ///< on a later day than they were remembered
    bool m_open = false;
};

} // namespace tw
