// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/component/runcontext.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

enum class ArchiveKind { Zip, Tar, PackedTar };

/// Why a member is listed but cannot be a picture.
enum class MemberProblem { None, Encrypted, Method, Sparse, Claim };

struct ArchiveMember
{
    std::string path; ///< parts joined by '/', without "." and empty parts; bytes as stored
    std::int64_t bytes = 0;
    std::uint64_t place = 0; ///< tar: where the data start (unpacked); zip: where its header starts
    std::uint64_t packedBytes = 0;
    std::uint32_t crc = 0;
    std::uint16_t method = 0;
    std::uint16_t nameBytes = 0; ///< zip: of the stored name
    MemberProblem problem = MemberProblem::None;
};

struct ArchiveIndex
{
    std::vector<ArchiveMember> files; ///< by byte order of the paths
    std::vector<std::string> folders; ///< those that have an entry of their own
    std::vector<std::string> ignored; ///< links that lead to no member, devices
    std::int64_t mtimeNs = 0;         ///< of the archive: one time for all members
    /// Place of the first member of that path in `files`.
    std::optional<std::size_t> find(std::string_view path) const;
};
using ArchiveIndexPtr = std::shared_ptr<const ArchiveIndex>;

/// By name and first bytes; nothing for a file that is no archive.
std::optional<ArchiveKind> archiveKindOf(const fs::path &file);
/// Parts joined by '/'; nothing for a path that leads out of its folder ("..", absolute, a drive), is
/// empty of parts or holds a zero byte. Backslashes count as separators in the check only.
std::optional<std::string> memberPath(std::string_view stored);

/// All members, remembered while the file stays as it is. A compressed tar is read as a stream and
/// nothing is written. InvalidDatasetError naming the archive (and the member): not readable, cut
/// short, damaged, a member that leads out. CanceledError. Any thread.
Result<ArchiveIndexPtr> archiveIndex(const fs::path &file, ArchiveKind kind, const StopToken *stop = nullptr);

/// Members of an archive by random access; used by many threads at once.
class ArchiveFile
{
public:
    virtual ~ArchiveFile() = default;
    /// At most `most` bytes from the start of a member (0: all). InvalidImageError naming `shown`:
    /// damaged. InvalidDatasetError: it is not what the list of contents says.
    virtual Result<void> read(const ArchiveMember &member, const std::string &shown, std::size_t most,
                              std::vector<std::uint8_t> &bytes) const = 0;
    const ArchiveIndex &index() const { return *m_index; }

    /// A compressed tar is unpacked once to the file `unpacked`, which may be gone or given empty:
    /// then to a file without a name that lives as long as the reader. Errors as archiveIndex();
    /// FailedToWriteOutputsError: no room to unpack.
    static Result<std::unique_ptr<ArchiveFile>> open(const fs::path &file, const fs::path &unpacked = {},
                                                     const StopToken *stop = nullptr);

protected:
    explicit ArchiveFile(ArchiveIndexPtr index) : m_index(std::move(index)) {}

private:
    ArchiveIndexPtr m_index;
};

/// <cache>/archives/<fingerprint>/archive.tar, where the fingerprint is of path, size, time and inode.
fs::path unpackedArchive(const fs::path &cacheFolder, const fs::path &archive);
/// Unpacks a compressed tar beside `unpacked` and renames; does nothing where it is there already.
Result<void> unpackArchive(const fs::path &archive, const fs::path &unpacked, const StopToken *stop,
                           const std::function<void(std::int64_t bytes)> &progress = {});

/// InvalidDatasetError "The archive %1 cannot be read: %2."
Error archiveError(const fs::path &file, const QString &reason);
/// InvalidDatasetError naming archive and member.
Error memberError(const fs::path &file, std::string_view member, const QString &reason);

} // namespace tw
