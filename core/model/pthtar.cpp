// SPDX-License-Identifier: GPL-3.0-or-later
// What torch.save wrote before PyTorch 0.1.10: a tar of `storages`, `tensors` and `pickle`, whose values
// refer to the tensors by key. Numbers have their lowest byte first.
#include "core/model/mappedfile.h"
#include "core/model/pthformats.h"
#include "core/model/tarmembers.h"

#include <QString>

#include <cstring>
#include <map>
#include <optional>

namespace tw {

namespace {

using Kind = PickleValue::Kind;
constexpr std::int64_t maxListed = 200'000;
constexpr std::int32_t maxDimensions = 64;

/// Reads a member from its start: pickles and numbers in turn.
class Cursor
{
public:
    Cursor(std::span<const std::byte> bytes, const fs::path &file) : m_bytes(bytes), m_file(file) {}
    /// A pickle; its values stay in `machine`.
    Result<std::uint32_t> pickle(PickleMachine &machine)
    {
        TW_ASSIGN(id, runPickle(machine, m_bytes, m_file));
        m_bytes = m_bytes.subspan(machine.consumed());
        return id;
    }
    /// A pickle that is a whole number from 0 to maxListed.
    Result<std::int64_t> count()
    {
        PickleMachine machine;
        TW_ASSIGN(id, pickle(machine));
        const PickleValue &value = machine.value(id);
        if (value.kind != Kind::Int || value.integer < 0 || value.integer > maxListed)
            return pthDamaged(m_file, QStringLiteral("the number of its tensors or storages is not one"));
        return value.integer;
    }
    Result<std::span<const std::byte>> take(std::uint64_t bytes)
    {
        if (bytes > m_bytes.size())
            return pthDamaged(m_file, QStringLiteral("a list of tensors or storages ends too early"));
        const auto taken = m_bytes.first(bytes);
        m_bytes = m_bytes.subspan(bytes);
        return taken;
    }
    template <typename T> Result<T> number()
    {
        TW_ASSIGN(bytes, take(sizeof(T)));
        T value = 0;
        std::memcpy(&value, bytes.data(), sizeof(T));
        return value;
    }

private:
    std::span<const std::byte> m_bytes;
    const fs::path &m_file;
};

class TarFile : public StorageSource
{
public:
    explicit TarFile(const fs::path &file) : m_file(file) {}
    Result<StateDict> readAll(WeightsReport *report);
    Result<StorageBytes> read(const StorageName &storage) override;
    const TensorView *listedTensor(const std::string &key) const override;
    const StorageName *listedStorage(const std::string &key) const override;

private:
    Result<void> readStorages(Cursor cursor);
    Result<void> readStorage(Cursor &cursor);
    Result<void> readViews(Cursor &cursor);
    Result<void> readTensor(Cursor &cursor);
    Error damaged(const char *what) const { return pthDamaged(m_file, QLatin1String(what)); }

    const fs::path &m_file;
    std::shared_ptr<const MappedFile> m_mapping;
    std::map<std::string, std::span<const std::byte>> m_bytes; ///< by key of a whole storage
    std::map<std::string, StorageName> m_storages;
    std::map<std::string, TensorView> m_tensors;
};

/// Keys are addresses of the writing program: numbers, or texts of them. None: it is no key.
std::optional<std::string> keyOf(const PickleValue &value)
{
    if (value.kind == Kind::Int)
        return std::to_string(value.integer);
    const bool sound = value.kind == Kind::Text && value.text.size() <= longestStorageKey;
    return sound ? std::optional(value.text) : std::nullopt;
}

/// The parts of a tuple or list; null where it has another number of them.
const std::vector<std::uint32_t> *parts(const PickleMachine &machine, std::uint32_t id, std::size_t count)
{
    const PickleValue &value = machine.value(id);
    const bool sound = (value.kind == Kind::Tuple || value.kind == Kind::List) && value.items.size() == count;
    return sound ? &value.items : nullptr;
}

Result<StateDict> TarFile::readAll(WeightsReport *report)
{
    TW_ASSIGN(mapping, MappedFile::open(m_file));
    m_mapping = mapping;
    const auto members = tarMembers(mapping->bytes());
    for (const char *needed : {"storages", "tensors", "pickle"}) {
        if (!members.contains(needed))
            return makeError(errors::InvalidModelDirectory,
                             QT_TRANSLATE_NOOP("Error", "%1 is a tar archive, but none that torch.save wrote before "
                                                        "PyTorch 0.1.10: it lacks '%2'."),
                             {displayPath(m_file), QLatin1String(needed)},
                             QT_TRANSLATE_NOOP("Error", "Unpack it and choose the weights file in it."));
    }
    TW_TRY(readStorages(Cursor(members.at("storages"), m_file)));
    Cursor tensors(members.at("tensors"), m_file);
    TW_ASSIGN(count, tensors.count());
    for (std::int64_t i = 0; i < count; ++i)
        TW_TRY(readTensor(tensors));
    PickleMachine machine(PickleMachine::PersistentIds::Keys);
    TW_ASSIGN(root, runPickle(machine, members.at("pickle"), m_file));
    return finishPth(m_file, machine, root, *this, "pytorch-tar", report);
}

Result<void> TarFile::readStorages(Cursor cursor)
{
    TW_ASSIGN(count, cursor.count());
    for (std::int64_t i = 0; i < count; ++i)
        TW_TRY(readStorage(cursor));
    return readViews(cursor);
}

/// (key, device, class), then the number of elements and the elements.
Result<void> TarFile::readStorage(Cursor &cursor)
{
    PickleMachine machine;
    TW_ASSIGN(id, cursor.pickle(machine));
    const auto *fields = parts(machine, id, 3);
    const auto type = fields ? pickleElementType(machine.value((*fields)[2]).text) : std::nullopt;
    if (!type)
        return damaged("a storage has an element type that is not known");
    TW_ASSIGN(elements, cursor.number<std::int64_t>());
    std::uint64_t bytes = 0;
    if (elements < 0 || __builtin_mul_overflow(static_cast<std::uint64_t>(elements), elementBytes(*type), &bytes))
        return damaged("a storage has a size that no memory can hold");
    TW_ASSIGN(content, cursor.take(bytes));
    const auto key = keyOf(machine.value((*fields)[0]));
    if (!key)
        return damaged("a storage has no key");
    m_bytes[*key] = content;
    m_storages[*key] = {*key, *type, elements, 0, elements};
    return {};
}

/// A list of (key, key of the whole storage, first element, elements).
Result<void> TarFile::readViews(Cursor &cursor)
{
    PickleMachine machine;
    TW_ASSIGN(id, cursor.pickle(machine));
    for (const std::uint32_t item : machine.value(id).items) {
        const auto *fields = parts(machine, item, 4);
        const auto key = fields ? keyOf(machine.value((*fields)[0])) : std::nullopt;
        const auto of = fields ? keyOf(machine.value((*fields)[1])) : std::nullopt;
        const StorageName *whole = key && of ? listedStorage(*of) : nullptr;
        if (!whole)
            return damaged("a part of a storage lacks the storage");
        StorageName part = *whole;
        part.begin = machine.value((*fields)[2]).integer;
        if (__builtin_add_overflow(part.begin, machine.value((*fields)[3]).integer, &part.end))
            return damaged("a part of a storage has a size that no memory can hold");
        m_storages[*key] = part; // its bounds are checked with its tensors
    }
    return {};
}

/// (key, storage's key, class), then dimensions (32 bits and 4 bytes without meaning), sizes, strides, offset.
Result<void> TarFile::readTensor(Cursor &cursor)
{
    PickleMachine machine;
    TW_ASSIGN(id, cursor.pickle(machine));
    const auto *fields = parts(machine, id, 3);
    if (!fields)
        return damaged("a tensor is not described as torch.save did it");
    TW_ASSIGN(dimensions, cursor.number<std::int32_t>());
    TW_TRY(cursor.take(sizeof(std::int32_t)));
    if (dimensions < 0 || dimensions > maxDimensions)
        return damaged("a tensor has a number of dimensions that is not from 0 to 64");
    TensorView view;
    for (auto *numbers : {&view.shape, &view.strides}) {
        for (std::int32_t d = 0; d < dimensions; ++d) {
            TW_ASSIGN(value, cursor.number<std::int64_t>());
            numbers->push_back(value);
        }
    }
    TW_ASSIGN(offset, cursor.number<std::int64_t>());
    view.offset = offset;
    if (dimensions == 0) { // there were no scalars then: a tensor without dimensions is empty
        view.shape = {0};
        view.strides = {1};
    }
    if (const PickleValue &storage = machine.value((*fields)[1]); storage.kind != Kind::None) {
        const auto of = keyOf(storage);
        const StorageName *named = of ? listedStorage(*of) : nullptr;
        if (!named)
            return damaged("a tensor lacks its storage");
        view.storage = *named;
    }
    const auto key = keyOf(machine.value((*fields)[0]));
    if (!key)
        return damaged("a tensor has no key");
    m_tensors[*key] = std::move(view);
    return {};
}

Result<StorageBytes> TarFile::read(const StorageName &storage)
{
    const auto found = m_bytes.find(storage.key);
    if (found == m_bytes.end()) // of an empty tensor, which has none
        return StorageBytes{};
    return StorageBytes{m_mapping, found->second, true};
}

const TensorView *TarFile::listedTensor(const std::string &key) const
{
    const auto found = m_tensors.find(key);
    return found == m_tensors.end() ? nullptr : &found->second;
}

const StorageName *TarFile::listedStorage(const std::string &key) const
{
    const auto found = m_storages.find(key);
    return found == m_storages.end() ? nullptr : &found->second;
}

} // namespace

Result<StateDict> readTarPth(const fs::path &file, WeightsReport *report)
{
    return TarFile(file).readAll(report);
}

} // namespace tw
