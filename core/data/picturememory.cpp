// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/picturememory.h"

#include "core/data/parallel.h"

#include <chrono>
#include <unordered_map>

#include <sys/stat.h>

namespace tw {

namespace {

FileIdentity identityOf(const std::string &file)
{
    struct stat status = {};
    if (::stat(file.c_str(), &status) != 0)
        return {-1, 0, 0};
    return {std::int64_t(status.st_size), std::int64_t(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec,
            std::int64_t(status.st_ino)};
}

std::string_view folderOf(std::string_view path)
{
    const std::size_t slash = path.rfind('/');
    return path.substr(0, slash == std::string_view::npos ? 0 : slash);
}

std::string_view nameOf(std::string_view path)
{
    return path.substr(path.rfind('/') + 1);
}

} // namespace

PictureMemory::PictureMemory(const ImageManifest &manifest, VerifyMode mode, const fs::path &database)
    : m_manifest(manifest), m_mode(mode), m_files(database), m_state(manifest.size(), State::Unknown),
      m_facts(manifest.size())
{
    if (mode == VerifyMode::Full)
        m_keys.assign(manifest.size() * ImageManifest::KeyBytes, '\0');
}

void PictureMemory::makeFolders()
{
    std::unordered_map<std::string_view, std::size_t> places; // the views end with the manifest
    std::size_t place = 0;
    for (std::uint32_t i = 0; i < m_manifest.size(); ++i) {
        const std::string_view folder = folderOf(m_manifest.path(i));
        if (i == 0 || folder != folderOf(m_manifest.path(i - 1)))
            place = places.try_emplace(folder, places.size()).first->second;
        if (place == m_folders.size())
            m_folders.push_back({(m_manifest.root / folder).native(), {}});
        m_folders[place].pictures.push_back(i);
    }
}

void PictureMemory::recall(int workers, const StopToken *stop)
{
    if (!isOpen())
        return;
    m_identities.resize(m_manifest.size());
    const bool isFile = m_manifest.storage == ImageManifest::Storage::Files;
    const FileIdentity archive = isFile ? FileIdentity() : identityOf(m_manifest.root.native());
    parallelFor(m_identities.size(), workers, stop, [&](std::size_t i, std::size_t) {
        m_identities[i] = isFile ? identityOf(m_manifest.displayName(i))
                                 : FileIdentity{m_manifest.bytes(i), archive.mtimeNs, archive.inode};
    });
    makeFolders();
    for (const Folder &folder : m_folders) {
        if (stop && stop->cancel.load(std::memory_order_relaxed))
            return;
        recallFolder(folder);
    }
}

void PictureMemory::recallFolder(const Folder &folder)
{
    const VerifiedFolder known = m_files.recall(folder.path);
    if (known.size() == 0)
        return;
    for (const std::uint32_t i : folder.pictures) {
        const auto picture = known.find(nameOf(m_manifest.path(i)), m_identities[i]);
        if (!picture || (m_mode == VerifyMode::Full && picture->key.empty()))
            continue;
        m_facts[i] = unpackedFacts(picture->facts);
        if (m_facts[i].width == 0 || (m_mode == VerifyMode::Full && !m_facts[i].hasPixels))
            continue;
        m_state[i] = State::Recalled;
        if (m_mode == VerifyMode::Full)
            m_keys.replace(i * ImageManifest::KeyBytes, ImageManifest::KeyBytes, picture->key);
    }
}

void PictureMemory::found(std::size_t i, std::string_view key, const PictureFacts &facts)
{
    m_facts[i] = facts;
    m_state[i] = State::Found;
    if (key.size() == ImageManifest::KeyBytes)
        key.copy(m_keys.data() + i * ImageManifest::KeyBytes, ImageManifest::KeyBytes);
}

std::string_view PictureMemory::key(std::size_t i) const
{
    if (m_keys.empty())
        return {};
    return std::string_view(m_keys).substr(i * ImageManifest::KeyBytes, ImageManifest::KeyBytes);
}

// A file that changed within the clock's last step may change again unseen.
void PictureMemory::save()
{
    constexpr std::int64_t restNs = 2'000'000'000;
    const auto nowNs =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count();
    std::vector<VerifiedFiles::Addition> additions;
    for (const Folder &folder : m_folders) {
        VerifiedFiles::Addition addition{folder.path, {}};
        for (const std::uint32_t i : folder.pictures) {
            if (m_state[i] != State::Found)
                continue;
            m_state[i] = State::Saved;
            if (m_identities[i].bytes >= 0 && m_identities[i].mtimeNs < nowNs - restNs)
                addition.files.push_back({std::string(nameOf(m_manifest.path(i))), m_identities[i], std::string(key(i)),
                                          packedFacts(m_facts[i])});
        }
        if (!addition.files.empty())
            additions.push_back(std::move(addition));
    }
    m_files.remember(additions);
}

} // namespace tw
