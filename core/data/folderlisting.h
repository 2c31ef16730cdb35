// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace tw {

enum class EntryKind : std::uint8_t {
    Picture,    ///< a regular file with a picture's name, or a link to one
    Unreadable, ///< has a picture's name, but nothing can be learnt about it
    Folder,
    LinkedFolder,
    Dangling, ///< a link to nothing or to itself
    Other,    ///< other names, pipes, sockets, devices
};

/// What is remembered of one name in a folder.
struct FolderEntry
{
    std::uint32_t offset = 0; ///< of the name in FolderListing::names
    std::uint16_t length = 0;
    EntryKind kind = EntryKind::Other;
    std::uint8_t type = 0; ///< d_type
    std::int64_t bytes = 0, mtimeNs = 0;
};

/// Closes it in the end.
class FolderDescriptor
{
public:
    explicit FolderDescriptor(int descriptor) : m_descriptor(descriptor) {}
    ~FolderDescriptor();
    FolderDescriptor(const FolderDescriptor &) = delete;
    FolderDescriptor &operator=(const FolderDescriptor &) = delete;
    int get() const { return m_descriptor; }

private:
    int m_descriptor;
};

using FolderId = std::pair<dev_t, ino_t>;

/// The names of one folder in the byte order of their paths (a folder sorts as "name/"). Only what
/// may be a picture or is a link is asked for its size and time, relative to the folder's descriptor,
/// so that the kernel does not walk the path for each.
class FolderListing
{
public:
    /// `relative` below the open folder `root`; empty: itself. Gives errno, ECANCELED after a stop.
    /// `workers` share the asking in a large folder.
    int read(int root, const std::string &relative, int workers, const StopToken *stop);
    const std::vector<FolderEntry> &entries() const { return m_entries; }
    std::string_view name(const FolderEntry &entry) const
    {
        return std::string_view(m_names).substr(entry.offset, entry.length);
    }
    const FolderId &id() const { return m_id; }

private:
    int readNames(int folder, const StopToken *stop);
    void sortByPath();
    std::string m_names; ///< each followed by a zero byte
    std::vector<FolderEntry> m_entries;
    FolderId m_id{};
};

} // namespace tw
