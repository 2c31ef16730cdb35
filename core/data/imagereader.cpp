// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/imagereader.h"

#include "core/data/idxfile.h"

#include <QCoreApplication>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tw {

namespace {

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

class FileReader final : public ImageReader
{
public:
    FileReader(ManifestPtr manifest, const DecodeOptions &options) : m_manifest(std::move(manifest)), m_options(options)
    {
    }

    Result<PixelView> view(std::size_t index, ReadScratch &scratch) const override
    {
        const std::string name = m_manifest->displayName(index);
        TW_TRY(readPictureFile(name, scratch.file));
        scratch.bytesRead += std::int64_t(scratch.file.size());
        TW_TRY(decodeImageInto(scratch.file, name, m_options, scratch.image));
        return viewOf(scratch.image);
    }

private:
    ManifestPtr m_manifest;
    DecodeOptions m_options;
};

class IdxReader final : public ImageReader
{
public:
    IdxReader(std::shared_ptr<const IdxFile> file, std::vector<std::uint32_t> places)
        : m_file(std::move(file)), m_places(std::move(places))
    {
    }

    Result<PixelView> view(std::size_t index, ReadScratch &scratch) const override
    {
        const std::uint32_t rows = m_file->header.sizes[1], columns = m_file->header.sizes[2];
        const std::size_t bytes = std::size_t(rows) * columns;
        scratch.bytesRead += std::int64_t(bytes);
        return PixelView{m_file->values.data() + m_places[index] * bytes, int(columns), int(rows), 1, columns};
    }

private:
    std::shared_ptr<const IdxFile> m_file;
    std::vector<std::uint32_t> m_places;
};

Result<std::unique_ptr<ImageReader>> openIdx(const ImageManifest &manifest)
{
    TW_ASSIGN(file, sharedIdxImages(manifest.root));
    std::vector<std::uint32_t> places(manifest.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::string_view text = manifest.path(i);
        const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), places[i]);
        if (code != std::errc() || end != text.data() + text.size() || places[i] >= file->header.sizes[0])
            return makeError(
                errors::InvalidDataset,
                QT_TRANSLATE_NOOP("Error", "The image directory asks for image %1 of \"%2\", which holds %3 images."),
                {QString::fromStdString(std::string(text)), displayPath(manifest.root),
                 QString::number(file->header.sizes[0])},
                QT_TRANSLATE_NOOP("Error", "Run Convert to Image Directory again."));
    }
    return std::unique_ptr<ImageReader>(new IdxReader(file, std::move(places)));
}

/// At most `most` bytes from the start of the file.
Result<void> readStart(const std::string &path, std::size_t most, std::vector<std::uint8_t> &bytes)
{
    const FileHandle file(path.c_str());
    struct stat status
    {
    };
    if (file.descriptor() < 0 || ::fstat(file.descriptor(), &status) != 0)
        return cannotRead(path, errno);
    if (!S_ISREG(status.st_mode))
        return cannotRead(path, S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
    bytes.resize(std::min(std::size_t(status.st_size), most));
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

} // namespace

Result<void> readPictureFile(const std::string &path, std::vector<std::uint8_t> &bytes)
{
    return readStart(path, std::numeric_limits<std::size_t>::max(), bytes);
}

Result<ImageHeader> readPictureHeader(const std::string &path, std::vector<std::uint8_t> &bytes)
{
    constexpr std::size_t UsualHeader = 64 << 10;
    TW_TRY(readStart(path, UsualHeader, bytes));
    const Result<ImageHeader> header = readImageHeader(bytes, path);
    if (header.ok() || bytes.size() < UsualHeader)
        return header;
    TW_TRY(readPictureFile(path, bytes));
    return readImageHeader(bytes, path);
}

Result<ImageBuffer> ImageReader::read(std::size_t index) const
{
    ReadScratch scratch;
    TW_ASSIGN(pixels, view(index, scratch));
    if (pixels.data == scratch.image.pixels.data())
        return std::move(scratch.image);
    return bufferOf(pixels);
}

Result<std::unique_ptr<ImageReader>> ImageReader::open(ManifestPtr manifest, const DecodeOptions &options)
{
    if (manifest->storage == ImageManifest::Storage::Idx)
        return openIdx(*manifest);
    std::error_code code;
    if (manifest->storage == ImageManifest::Storage::Files && fs::is_directory(manifest->root, code))
        return std::unique_ptr<ImageReader>(new FileReader(std::move(manifest), options));
    return makeError(errors::InvalidDataset,
                     QT_TRANSLATE_NOOP("Error", "The images' folder \"%1\" is gone or is no folder."),
                     {displayPath(manifest->root)},
                     QT_TRANSLATE_NOOP("Error", "Put the data back, or run Convert to Image Directory again."));
}

} // namespace tw
