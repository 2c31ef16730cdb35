// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"
#include "core/data/datasetscan.h"
#include "core/data/picturefacts.h"
#include "core/data/verifiedfiles.h"

namespace tw {

/// Which pictures of a manifest need not be looked at again, what was measured of all, and the keys of
/// those read in full.
/// known() and found() from many threads for different pictures, the rest from one.
class PictureMemory
{
public:
    /// Knows nothing until recall(). `manifest` must outlive this.
    PictureMemory(const ImageManifest &manifest, VerifyMode mode, const fs::path &database);
    bool isOpen() const { return m_files.isOpen(); }
    /// Asks every picture for its identity once and looks it up. A picture that was read in full
    /// counts for its header too, never the other way round.
    void recall(int workers, const StopToken *stop);
    bool known(std::size_t i) const { return m_state[i] != State::Unknown; }
    /// Picture `i` is fine; `key` is empty where only its header was read.
    void found(std::size_t i, std::string_view key, const PictureFacts &facts);
    /// Remembers what was found since the last call.
    void save();
    /// Keys for ImageManifest::setKeys(); empty after reading headers.
    std::string takeKeys() { return std::move(m_keys); }
    std::vector<PictureFacts> takeFacts() { return std::move(m_facts); }

private:
    enum class State : char { Unknown, Recalled, Found, Saved };
    struct Folder
    {
        std::string path;
        std::vector<std::uint32_t> pictures;
    };
    void makeFolders();
    void recallFolder(const Folder &folder);
    std::string_view key(std::size_t i) const;

    const ImageManifest &m_manifest;
    VerifyMode m_mode;
    VerifiedFiles m_files;
    std::vector<State> m_state;
    std::vector<FileIdentity> m_identities; ///< empty where nothing is remembered
    std::vector<Folder> m_folders;
    std::string m_keys;
    std::vector<PictureFacts> m_facts;
};

} // namespace tw
