// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/picturebytes.h"

#include "core/data/archivefile.h"
#include "core/data/decoders.h"

#include <QCoreApplication>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tw {

namespace {

constexpr std::size_t UsualHeader = 64 << 10;
constexpr std::size_t LargestPicture = std::size_t(1) << 31;

class FileHandle
{
public:
    explicit FileHandle(const char *path) : m_descriptor(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~FileHandle()
    {
        if (m_descriptor >= 0)
            ::close(m_descriptor);
    }
    FileHandle(const FileHandle &) = delete;
    FileHandle &operator=(const FileHandle &) = delete;
    int descriptor() const { return m_descriptor; }

private:
    int m_descriptor;
};

Error cannotRead(const std::string &name, int code)
{
    return makeError(errors::InvalidImage, QT_TRANSLATE_NOOP("Error", "The image \"%1\" cannot be read: %2."),
                     {QString::fromStdString(name), QString::fromLocal8Bit(std::strerror(code))},
                     QT_TRANSLATE_NOOP("Error", "Check that the file is still there and that you may read it."));
}

/// At most `most` bytes from the start of the file.
Result<void> readStart(const std::string &path, std::size_t most, std::vector<std::uint8_t> &bytes)
{
    const FileHandle file(path.c_str());
    struct stat status = {};
    if (file.descriptor() < 0 || ::fstat(file.descriptor(), &status) != 0)
        return cannotRead(path, errno);
    if (S_ISDIR(status.st_mode))
        return cannotRead(path, EISDIR);
    if (!S_ISREG(status.st_mode))
        return imageError(path, QStringLiteral("it is a device or pipe, no regular file"));
    const auto length = std::size_t(status.st_size);
    if (length > LargestPicture && most > LargestPicture)
        return imageError(
            path, QStringLiteral("its %1 bytes are more than a picture may have (%2)").arg(length).arg(LargestPicture));
    bytes.resize(std::min(length, most));
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = ::read(file.descriptor(), bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cannotRead(path, errno);
        if (got == 0)
            break;
        done += std::size_t(got);
    }
    bytes.resize(done);
    return {};
}

class FilePictures final : public PictureBytes
{
public:
    explicit FilePictures(const ImageManifest &manifest) : m_manifest(manifest) {}
    Result<void> read(std::size_t index, std::vector<std::uint8_t> &bytes) const override
    {
        return readPictureFile(m_manifest.displayName(index), bytes);
    }
    Result<ImageHeader> header(std::size_t index, std::vector<std::uint8_t> &bytes) const override
    {
        return readPictureHeader(m_manifest.displayName(index), bytes);
    }

private:
    const ImageManifest &m_manifest;
};

class ArchivePictures final : public PictureBytes
{
public:
    ArchivePictures(const ImageManifest &manifest, std::unique_ptr<ArchiveFile> archive,
                    std::vector<std::uint32_t> places)
        : m_manifest(manifest), m_archive(std::move(archive)), m_places(std::move(places))
    {
    }
    Result<void> read(std::size_t index, std::vector<std::uint8_t> &bytes) const override
    {
        return m_archive->read(member(index), m_manifest.displayName(index), 0, bytes);
    }
    Result<ImageHeader> header(std::size_t index, std::vector<std::uint8_t> &bytes) const override
    {
        const std::string name = m_manifest.displayName(index);
        TW_TRY(m_archive->read(member(index), name, UsualHeader, bytes));
        const Result<ImageHeader> found = readImageHeader(bytes, name);
        if (found.ok() || std::int64_t(bytes.size()) >= member(index).bytes)
            return found;
        TW_TRY(read(index, bytes));
        return readImageHeader(bytes, name);
    }

private:
    const ArchiveMember &member(std::size_t index) const { return m_archive->index().files[m_places[index]]; }
    const ImageManifest &m_manifest;
    std::unique_ptr<ArchiveFile> m_archive;
    std::vector<std::uint32_t> m_places;
};

Error gone(const fs::path &root)
{
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "The images' folder or archive \"%1\" is gone or is something else."),
                     {displayPath(root)},
                     QT_TRANSLATE_NOOP("Error", "Put the data back, or run Convert to Image Directory again."));
}

Result<std::unique_ptr<PictureBytes>> openArchive(const ImageManifest &manifest, const StopToken *stop)
{
    std::error_code unknown;
    if (!fs::is_regular_file(manifest.root, unknown))
        return gone(manifest.root);
    TW_ASSIGN(archive, ArchiveFile::open(manifest.root, manifest.unpacked, stop));
    std::vector<std::uint32_t> places(manifest.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto place = archive->index().find(manifest.path(i));
        if (!place)
            return memberError(manifest.root, manifest.path(i), QStringLiteral("it is not there any more"));
        places[i] = std::uint32_t(*place);
    }
    return std::unique_ptr<PictureBytes>(new ArchivePictures(manifest, std::move(archive), std::move(places)));
}

} // namespace

Result<void> readPictureFile(const std::string &path, std::vector<std::uint8_t> &bytes)
{
    return readStart(path, std::numeric_limits<std::size_t>::max(), bytes);
}

Result<ImageHeader> readPictureHeader(const std::string &path, std::vector<std::uint8_t> &bytes)
{
    TW_TRY(readStart(path, UsualHeader, bytes));
    const Result<ImageHeader> header = readImageHeader(bytes, path);
    if (header.ok() || bytes.size() < UsualHeader)
        return header;
    TW_TRY(readPictureFile(path, bytes));
    return readImageHeader(bytes, path);
}

Result<std::unique_ptr<PictureBytes>> PictureBytes::open(const ImageManifest &manifest, const StopToken *stop)
{
    std::error_code unknown;
    switch (manifest.storage) {
    case ImageManifest::Storage::Zip:
    case ImageManifest::Storage::Tar:
        return openArchive(manifest, stop);
    case ImageManifest::Storage::Files:
        if (fs::is_directory(manifest.root, unknown))
            return std::unique_ptr<PictureBytes>(new FilePictures(manifest));
        break;
    case ImageManifest::Storage::Idx:
        break;
    }
    return gone(manifest.root);
}

} // namespace tw
