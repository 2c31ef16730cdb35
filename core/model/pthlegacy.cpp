// SPDX-License-Identifier: GPL-3.0-or-later
// What torch.save wrote from PyTorch 0.1.10 to 1.5: pickles of a magic number, of the format's version, of
// the machine's sizes, of the object and of the storages' keys, then each storage: how many elements
// (64 bits) and the elements, lowest byte first on every machine.
#include "core/model/mappedfile.h"
#include "core/model/pthformats.h"

#include <QString>

#include <cstring>

namespace tw {

namespace {

using Kind = PickleValue::Kind;

class LegacyFile : public StorageSource
{
public:
    explicit LegacyFile(const fs::path &file) : m_file(file) {}
    Result<StateDict> readAll(WeightsReport *report);
    Result<StorageBytes> read(const StorageName &storage) override;

private:
    using Id = std::uint32_t;
    Result<Id> next();
    Result<void> placeStorages(Id keys);
    struct Stored
    {
        std::int64_t elements = 0;
        std::size_t elementBytes = 0;
    };
    std::map<std::string, Stored> namedStorages() const;
    Result<void> place(const std::string &key, const Stored &storage);

    const fs::path &m_file;
    std::shared_ptr<const MappedFile> m_mapping;
    std::size_t m_at = 0;
    PickleMachine m_machine;
    std::map<std::string, std::span<const std::byte>> m_storages;
};

Result<LegacyFile::Id> LegacyFile::next()
{
    TW_ASSIGN(id, runPickle(m_machine, m_mapping->bytes().subspan(m_at), m_file));
    m_at += m_machine.consumed();
    return id;
}

Result<StateDict> LegacyFile::readAll(WeightsReport *report)
{
    constexpr std::int64_t knownVersion = 1001;
    TW_ASSIGN(mapping, MappedFile::open(m_file));
    m_mapping = mapping;
    TW_TRY(next()); // the magic number, by which the file was told
    TW_ASSIGN(version, next());
    if (m_machine.value(version).kind != Kind::Int || m_machine.value(version).integer != knownVersion)
        return pthDamaged(m_file, QStringLiteral("its version is not %1").arg(knownVersion));
    TW_TRY(next()); // byte order and sizes of the machine: what follows does not depend on them
    TW_ASSIGN(root, next());
    TW_ASSIGN(keys, next());
    TW_TRY(placeStorages(keys));
    return finishPth(m_file, m_machine, root, *this, "pytorch-legacy", report);
}

/// Every storage that the object names, by key; also those of values that are left out and of types that no
/// network here has.
std::map<std::string, LegacyFile::Stored> LegacyFile::namedStorages() const
{
    std::map<std::string, Stored> named;
    for (Id id = 0; id < m_machine.count(); ++id) {
        const PickleValue &storage = m_machine.value(id);
        if (storage.kind != Kind::Storage)
            continue;
        const std::size_t bytes = storedElementBytes(m_machine.value(storage.items[1]).text);
        const std::int64_t elements = m_machine.value(storage.items[4]).integer;
        if (bytes > 0 && elements >= 0)
            named.emplace(m_machine.value(storage.items[2]).text, Stored{elements, bytes});
    }
    return named;
}

Result<void> LegacyFile::placeStorages(Id keys)
{
    const PickleValue &list = m_machine.value(keys);
    if (list.kind != Kind::List)
        return pthDamaged(m_file, QStringLiteral("it does not list its storages"));
    const auto named = namedStorages();
    for (const Id item : list.items) {
        const auto found = named.find(m_machine.value(item).text);
        if (found == named.end())
            return pthDamaged(m_file, QStringLiteral("it lists storage '%1', whose elements no tensor describes")
                                          .arg(QString::fromStdString(m_machine.value(item).text).left(200)));
        TW_TRY(place(found->first, found->second));
    }
    return {};
}

Result<void> LegacyFile::place(const std::string &key, const Stored &storage)
{
    std::uint64_t elements = 0, bytes = 0;
    const auto rest = m_mapping->bytes().subspan(m_at);
    if (rest.size() < sizeof elements)
        return pthDamaged(m_file, QStringLiteral("it ends before its last storage"));
    std::memcpy(&elements, rest.data(), sizeof elements);
    const auto stated = static_cast<std::uint64_t>(storage.elements);
    // The first versions wrote this number, and only this one, in the machine's own byte order.
    const bool same = elements == stated || __builtin_bswap64(elements) == stated;
    if (!same || __builtin_mul_overflow(stated, storage.elementBytes, &bytes) || bytes > rest.size() - sizeof elements)
        return pthDamaged(m_file, QStringLiteral("storage '%1' is cut short or has another size than its tensors say")
                                      .arg(QString::fromStdString(key).left(200)));
    if (!m_storages.emplace(key, rest.subspan(sizeof elements, bytes)).second)
        return pthDamaged(m_file, QStringLiteral("it lists a storage twice"));
    m_at += sizeof elements + bytes;
    return {};
}

Result<StorageBytes> LegacyFile::read(const StorageName &storage)
{
    const auto found = m_storages.find(storage.key);
    std::uint64_t bytes = 0;
    if (found == m_storages.end()
        || __builtin_mul_overflow(static_cast<std::uint64_t>(storage.elements), elementBytes(storage.type), &bytes)
        || found->second.size() != bytes)
        return pthDamaged(m_file, QStringLiteral("storage '%1' is missing or has another size than its tensors say")
                                      .arg(QString::fromStdString(storage.key).left(200)));
    return StorageBytes{m_mapping, found->second, true};
}

} // namespace

Result<StateDict> readLegacyPth(const fs::path &file, WeightsReport *report)
{
    return LegacyFile(file).readAll(report);
}

} // namespace tw
