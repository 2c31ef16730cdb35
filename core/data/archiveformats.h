// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/archivefile.h"

namespace tw {

/// Bytes of a tar from first to last, whether it is compressed or not.
class TarStream
{
public:
    virtual ~TarStream() = default;
    /// Bytes read; less than `count` only at the end. False: `problem` says why.
    virtual bool read(std::uint8_t *to, std::size_t count, std::size_t &got, QString &problem) = 0;
    /// Leaves bytes out; false: the stream ends before.
    virtual bool skip(std::uint64_t count, QString &problem) = 0;
};

/// A regular file opened for reading, closed at the end.
class FileDescriptor
{
public:
    explicit FileDescriptor(int descriptor = -1) : m_descriptor(descriptor) {}
    ~FileDescriptor();
    FileDescriptor(FileDescriptor &&other) noexcept : m_descriptor(other.m_descriptor) { other.m_descriptor = -1; }
    FileDescriptor &operator=(FileDescriptor &&other) noexcept;
    FileDescriptor(const FileDescriptor &) = delete;
    FileDescriptor &operator=(const FileDescriptor &) = delete;
    int get() const { return m_descriptor; }
    bool isOpen() const { return m_descriptor >= 0; }

private:
    int m_descriptor;
};

/// InvalidDatasetError naming the archive and the system's reason.
Result<FileDescriptor> openArchiveDescriptor(const fs::path &file);
/// Bytes at `offset`, less at the end of the file; -1: errno.
std::int64_t readAt(int descriptor, std::uint64_t offset, std::uint8_t *to, std::size_t count);

Result<ArchiveIndex> indexTar(const fs::path &file, TarStream &stream, const StopToken *stop);
Result<std::unique_ptr<TarStream>> openTarStream(const fs::path &file, bool packed);
Result<ArchiveIndex> indexZip(const fs::path &file, const StopToken *stop);
Result<std::unique_ptr<ArchiveFile>> openZip(const fs::path &file, ArchiveIndexPtr index);

} // namespace tw
