// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/model/statedict.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tw {

/// A piece of a weights file, or of memory where it had to be unpacked.
struct StorageBytes
{
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
    bool mapped = false; ///< a piece of a MappedFile
};

/// A storage, or the part of one that another storage shares ("view" before PyTorch 1.6).
struct StorageName
{
    std::string key; ///< of the whole storage
    ElementType type = ElementType::F32;
    std::int64_t elements = 0;       ///< of the whole storage
    std::int64_t begin = 0, end = 0; ///< the part of it, in elements
};

/// A tensor: elements of a storage by offset, sizes and strides, all counted in elements.
struct TensorView
{
    StorageName storage;
    std::int64_t offset = 0; ///< from the storage's `begin`
    std::vector<std::int64_t> shape, strides;
};

/// What lies around the pickle of a weights file: its storages.
class StorageSource
{
public:
    virtual ~StorageSource() = default;
    /// All elements of a storage, exactly as many bytes as its name says. InvalidModelDirectoryError:
    /// missing, of another size, damaged.
    virtual Result<StorageBytes> read(const StorageName &storage) = 0;
    /// Whether the elements of storages have their highest byte first.
    virtual bool isBigEndian() const { return false; }
    /// What a key of the pickle stands for where the file lists tensors and storages itself; else null.
    virtual const TensorView *listedTensor(const std::string &) const { return nullptr; }
    virtual const StorageName *listedStorage(const std::string &) const { return nullptr; }
};

} // namespace tw
