// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tw {

/// One value that a pickle made. Values refer to each other by their number in the machine, so that
/// cycles and depth cost nothing. `items`: elements of a tuple or list, key, value, key, value … of a
/// dictionary, the arguments of a Tensor (storage, offset, sizes, strides) or the fields of a Storage.
struct PickleValue
{
    enum class Kind { None, Bool, Int, Float, Text, Tuple, List, Dict, Name, Storage, Tensor, Opaque };
    explicit PickleValue(Kind k, std::int64_t number = 0) : kind(k), integer(number) {}
    explicit PickleValue(double number) : kind(Kind::Float), real(number) {}
    PickleValue(Kind k, std::string words) : kind(k), text(std::move(words)) {}
    PickleValue(Kind k, std::vector<std::uint32_t> parts) : kind(k), items(std::move(parts)) {}
    Kind kind = Kind::None;
    std::int64_t integer = 0;
    double real = 0;
    std::string text; ///< Text; Name: "module name"
    std::vector<std::uint32_t> items;
};

/// Reads what torch.save writes (pickle protocol 2) and nothing else: opcodes and names are fixed
/// lists, calls only ever build a dictionary, a tensor description or an opaque constant. No code
/// of any kind runs, no memory is asked for on the word of the file. Reference for the opcodes:
/// Python's pickletools.
class PickleMachine
{
public:
    /// The root value's number. Errors have no file name yet: text and hint only.
    Result<std::uint32_t> run(std::span<const std::byte> bytes);
    const PickleValue &value(std::uint32_t id) const { return m_values[id]; }
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
    Result<void> closeTuple(std::size_t from);
    Result<void> setItems(std::size_t from);
    Result<void> appendItems(std::size_t from);
    Result<void> reduce();
    Result<void> callName(const std::string &name, const std::vector<Id> &arguments);
    Result<void> build();
    Result<void> persistentId();
    Result<std::uint64_t> little(int bytes);
    Result<std::string> line();
    Result<Id> pop();
    Result<std::size_t> popMark();
    Result<void> push(PickleValue value);
    Result<void> pushId(Id id);

    std::span<const std::byte> m_bytes;
    std::size_t m_at = 0;
    std::deque<PickleValue> m_values;
    std::vector<Id> m_stack;
    std::vector<std::size_t> m_marks;
    std::unordered_map<std::uint64_t, Id> m_memo;
};

} // namespace tw
