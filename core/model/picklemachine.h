// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/model/picklenames.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tw {

/// One value that a pickle made. Values refer to each other by their number in the machine, so that
/// cycles and depth cost nothing. `items`: elements of a tuple or list; key, value, key, value … of a
/// dictionary; of a Tensor (storage, offset, sizes, strides), for _rebuild_tensor_v3 also the element
/// type; of a Storage (tag, class, key, device, elements), before PyTorch 1.6 also what it is a part of.
struct PickleValue
{
    enum class Kind { None, Bool, Int, Float, Text, Tuple, List, Dict, Name, Storage, Tensor, Reference, Opaque };
    explicit PickleValue(Kind k, std::int64_t number = 0) : kind(k), integer(number) {}
    explicit PickleValue(double number) : kind(Kind::Float), real(number) {}
    PickleValue(Kind k, std::string words) : kind(k), text(std::move(words)) {}
    PickleValue(Kind k, std::vector<std::uint32_t> parts) : kind(k), items(std::move(parts)) {}
    Kind kind = Kind::None;
    std::int64_t integer = 0;
    double real = 0;
    std::string text; ///< Text; Name: "module.name"; Reference: key of a tensor or storage in its file
    std::vector<std::uint32_t> items;
};

/// Of the key of a storage or tensor, bytes: torch.save writes numbers. Keys are copied for each that names them.
constexpr std::size_t longestStorageKey = 256;

/// Reads what torch.save writes (pickle protocol 2, of Python 2 too) and nothing else: opcodes and names
/// are fixed lists, calls only ever put a description of a value together. No code of any kind runs, no
/// memory is asked for on the word of the file, and all values together take at most 128 MiB.
/// Reference for the opcodes: Python's pickletools.
class PickleMachine
{
public:
    /// What a persistent id is: the tuple that describes a storage, or (before PyTorch 0.1.10) the key of
    /// a tensor or storage that stands elsewhere in the file.
    enum class PersistentIds { Storages, Keys };
    explicit PickleMachine(PersistentIds ids = PersistentIds::Storages) : m_ids(ids) {}
    /// The root value's number; values of earlier runs stay. Errors have no file name yet: text and hint
    /// only.
    Result<std::uint32_t> run(std::span<const std::byte> bytes);
    const PickleValue &value(std::uint32_t id) const { return m_values[id]; }
    std::uint32_t count() const { return static_cast<std::uint32_t>(m_values.size()); }
    /// Bytes that the last run() read, STOP included.
    std::size_t consumed() const { return m_at; }

private:
    using Id = std::uint32_t;
    Result<void> step(unsigned char opcode);
    Result<void> stepNumber(unsigned char opcode);
    Result<void> stepCollection(unsigned char opcode);
    Result<void> stepMemo(unsigned char opcode);
    Result<void> readProtocol();
    Result<void> readGlobal();
    Result<void> readText(unsigned char opcode);
    Result<void> readLong();
    Result<void> readDigits();
    Result<void> closeTuple(std::size_t from);
    Result<void> setItems(std::size_t from);
    Result<void> appendItems(std::size_t from);
    Result<void> moveItems(std::size_t from, PickleValue &target);
    Result<void> reduce();
    Result<void> callName(const std::string &name, const std::vector<Id> &arguments);
    Result<void> makeDictionary(const std::vector<Id> &arguments);
    Result<void> makeTensor(const std::vector<Id> &arguments, bool typed);
    Result<void> makeAnyTensor(const std::vector<Id> &arguments);
    Result<void> build();
    Result<void> persistentId();
    Result<std::uint64_t> little(int bytes);
    Result<std::string> line();
    Result<Id> pop();
    Result<std::size_t> popMark();
    Result<void> push(PickleValue value);
    Result<void> pushId(Id id);
    Result<void> spend(std::size_t bytes);

    PersistentIds m_ids;
    std::span<const std::byte> m_bytes;
    std::size_t m_at = 0, m_spent = 0;
    std::deque<PickleValue> m_values;
    std::vector<Id> m_stack;
    std::vector<std::size_t> m_marks;
    std::unordered_map<std::uint64_t, Id> m_memo;
};

} // namespace tw
