// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/data/transforms.h"

#include <QByteArray>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

struct PictureFacts; // picturefacts.h
using PictureFactsPtr = std::shared_ptr<const std::vector<PictureFacts>>;

/// What an ImageDirectory wire carries: images referenced in place + the full list of categories.
/// Packed (one byte pool for paths); immutable once shared. Category -1: none.
class ImageManifest
{
public:
    enum class Storage { Files, Idx, Zip, Tar };
    static constexpr std::size_t KeyBytes = 32;

    Storage storage = Storage::Files;
    fs::path root;                           ///< folder, or the IDX images file, or the archive
    fs::path unpacked;                       ///< compressed tar: where it is unpacked to, safe to delete
    std::vector<std::string> categories;     ///< bytes of the names, class-id order
    std::optional<TransformList> transforms; ///< attached list; none after Convert and Split
    bool transformsForTraining = false;
    bool skipUnreadable = true; ///< Convert's on_unreadable, for pictures that fail later
    std::string fingerprint;    ///< hash over sorted (path, size, mtime_ns, category)
    PictureFactsPtr facts;      ///< null, or one per image: what verifying measured

    std::size_t size() const { return m_categories.size(); }
    void reserve(std::size_t images, std::size_t pathBytes);
    /// What the images take in memory, without the names of the categories.
    std::size_t memoryBytes() const;
    /// `path` relative to root: of a file, the name of a member, "<index>" for IDX.
    void add(std::string_view path, int category, std::int64_t bytes, std::int64_t mtimeNs);
    std::string_view path(std::size_t i) const;
    int category(std::size_t i) const { return m_categories[i]; }
    std::int64_t bytes(std::size_t i) const { return m_bytes[i]; }
    std::int64_t mtimeNs(std::size_t i) const { return m_mtimes[i]; }
    /// BLAKE2b-256 of the encoded picture, 32 bytes; empty where it was not read in full.
    std::string_view key(std::size_t i) const;
    /// 32 bytes, or empty for none.
    void setKey(std::size_t i, std::string_view key);
    /// All at once: KeyBytes for each image, zeros for none; or nothing.
    void setKeys(std::string keys);
    /// For messages and tables: root/path ("set.zip/cat/1.png"), or "images-file#index".
    std::string displayName(std::size_t i) const;
    std::vector<std::int64_t> counts() const; ///< per category
    bool isLabelled() const;                  ///< every image has a category, at least one image
    /// Same root and categories, only these images, in this order.
    ImageManifest subset(const std::vector<std::uint32_t> &indices) const;
    void computeFingerprint();

    /// image_directory.json + images.jsonl, picture_facts.bin where there are facts. FailedToWriteOutputsError.
    Result<void> write(const fs::path &folder) const;
    /// InvalidDatasetError naming file and line.
    static Result<ImageManifest> read(const fs::path &folder);

private:
    std::string m_pool;
    std::vector<std::uint64_t> m_offsets; ///< start of each path in the pool
    std::vector<std::int32_t> m_categories;
    std::vector<std::int64_t> m_bytes;
    std::vector<std::int64_t> m_mtimes;
    std::string m_keys; ///< empty, or KeyBytes each; zeros: none
};
using ManifestPtr = std::shared_ptr<const ImageManifest>;

} // namespace tw
