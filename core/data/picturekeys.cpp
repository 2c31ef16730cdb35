// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/picturekeys.h"

#include "core/base/hash.h"

#include <cstring>

#include <sys/stat.h>

namespace tw {

static std::int64_t modifiedNs(const struct stat &status)
{
    return std::int64_t(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

static PictureKey keyFrom(std::string_view bytes)
{
    PictureKey key;
    std::memcpy(key.data(), bytes.data(), key.size());
    return key;
}

PictureKeys::PictureKeys(const ImageManifest &manifest)
    : m_manifest(manifest),
      m_isArchive(manifest.storage == ImageManifest::Storage::Zip || manifest.storage == ImageManifest::Storage::Tar)
{
    std::error_code unknown;
    if (manifest.root.is_relative())
        m_base = fs::current_path(unknown).native() + '/';
    struct stat status = {};
    if (!m_isArchive)
        return;
    m_isThere = ::stat(manifest.root.c_str(), &status) == 0;
    m_bytes = std::int64_t(status.st_size);
    m_mtimeNs = modifiedNs(status);
    m_inode = std::int64_t(status.st_ino);
}

std::optional<PictureKey> PictureKeys::of(std::size_t index) const
{
    std::int64_t bytes = m_bytes, mtimeNs = m_mtimeNs, inode = m_inode;
    const std::string name = m_manifest.displayName(index);
    if (!m_isThere)
        return std::nullopt;
    if (!m_isArchive) {
        struct stat status = {};
        if (::stat(name.c_str(), &status) != 0)
            return std::nullopt;
        bytes = std::int64_t(status.st_size);
        mtimeNs = modifiedNs(status);
        inode = std::int64_t(status.st_ino);
    }
    const std::string_view content = m_manifest.key(index);
    const bool isAsListed = mtimeNs == m_manifest.mtimeNs(index) && (m_isArchive || bytes == m_manifest.bytes(index));
    if (content.size() == ImageManifest::KeyBytes && isAsListed)
        return keyFrom(content);
    const QByteArray identity = QByteArray::fromStdString(m_base + name) + '\0' + QByteArray::number(qlonglong(bytes))
                                + ' ' + QByteArray::number(qlonglong(mtimeNs)) + ' '
                                + QByteArray::number(qlonglong(inode));
    return keyFrom(contentKey(identity).toStdString());
}

} // namespace tw
