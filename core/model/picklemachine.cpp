// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/picklemachine.h"

#include "core/model/pickledamage.h"

#include <QString>

#include <bit>
#include <charconv>

namespace tw {

namespace {

/// For all values together; a state_dict of ten thousand tensors takes 30 MB.
constexpr std::size_t memoryLimit = std::size_t(128) << 20;
constexpr std::size_t maxStack = 4'000'000;
constexpr std::size_t maxMarks = 10'000;
constexpr std::size_t longestNumber = 20; ///< digits of a 64-bit number and its sign

using Kind = PickleValue::Kind;

Error foreignObject(const std::string &name)
{
    return makeError(
        errors::InvalidModelDirectory,
        QT_TRANSLATE_NOOP("Error", "it holds a Python object of type '%1', and only tensors are read from "
                                   "a file, because objects can run code"),
        {QString::fromStdString(name).left(200)},
        QT_TRANSLATE_NOOP("Error", "Save only the weights: torch.save(model.state_dict(), \"weights.pth\")."));
}

} // namespace

Result<std::uint32_t> PickleMachine::run(std::span<const std::byte> bytes)
{
    m_bytes = bytes;
    m_at = 0;
    m_stack.clear();
    m_marks.clear();
    m_memo.clear();
    while (m_at < m_bytes.size()) {
        const auto opcode = static_cast<unsigned char>(m_bytes[m_at++]);
        if (opcode == '.')
            return pop();
        TW_TRY(step(opcode));
    }
    return pickleDamage("it ends too early");
}

Result<void> PickleMachine::step(unsigned char opcode)
{
    switch (opcode) {
    case 0x80:
        return readProtocol();
    case 'c':
        return readGlobal();
    case 'R':
    case 0x81:
        return reduce();
    case 'b':
        return build();
    case 'Q':
        return persistentId();
    case '(':
        if (m_marks.size() >= maxMarks)
            return pickleDamage("it is nested too deeply");
        m_marks.push_back(m_stack.size());
        return {};
    case 'X':
    case 'U':
    case 'T':
        return readText(opcode);
    case 'q':
    case 'r':
    case 'h':
    case 'j':
        return stepMemo(opcode);
    case 'N':
    case 0x88:
    case 0x89:
    case 'K':
    case 'M':
    case 'J':
    case 'G':
    case 'I':
    case 0x8a:
        return stepNumber(opcode);
    default:
        return stepCollection(opcode);
    }
}

Result<void> PickleMachine::stepNumber(unsigned char opcode)
{
    if (opcode == 'N')
        return push(PickleValue(Kind::None));
    if (opcode == 0x88 || opcode == 0x89)
        return push(PickleValue(Kind::Bool, opcode == 0x88));
    if (opcode == 0x8a)
        return readLong();
    if (opcode == 'I')
        return readDigits();
    if (opcode == 'G') {
        TW_ASSIGN(bits, little(8));
        return push(PickleValue(std::bit_cast<double>(__builtin_bswap64(bits))));
    }
    TW_ASSIGN(number, little(opcode == 'K' ? 1 : opcode == 'M' ? 2 : 4));
    const auto value = opcode == 'J' ? static_cast<std::int32_t>(static_cast<std::uint32_t>(number))
                                     : static_cast<std::int64_t>(number);
    return push(PickleValue(Kind::Int, value));
}

Result<void> PickleMachine::readLong()
{
    TW_ASSIGN(length, little(1));
    if (length > 8) { // a seed or the state of a generator: nothing here needs its value
        if (length > m_bytes.size() - m_at)
            return pickleDamage("it ends too early");
        m_at += length;
        return push(PickleValue(Kind::Opaque));
    }
    TW_ASSIGN(number, little(static_cast<int>(length)));
    const int unusedBits = 64 - 8 * static_cast<int>(length);
    const std::int64_t value = length == 0 ? 0 : static_cast<std::int64_t>(number << unusedBits) >> unusedBits;
    return push(PickleValue(Kind::Int, value));
}

/// Python 2 writes numbers of more than 32 bits as text, and so the keys of its storages.
Result<void> PickleMachine::readDigits()
{
    TW_ASSIGN(digits, line());
    if (digits == "00" || digits == "01")
        return push(PickleValue(Kind::Bool, digits == "01"));
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.size() > longestNumber || fault != std::errc() || end != digits.data() + digits.size())
        return pickleDamage("a number is not one");
    return push(PickleValue(Kind::Int, value));
}

Result<void> PickleMachine::stepCollection(unsigned char opcode)
{
    switch (opcode) {
    case ')':
        return push(PickleValue(Kind::Tuple));
    case ']':
        return push(PickleValue(Kind::List));
    case '}':
        return push(PickleValue(Kind::Dict));
    case 't': {
        TW_ASSIGN(from, popMark());
        return closeTuple(from);
    }
    case 0x85:
    case 0x86:
    case 0x87: {
        const std::size_t count = opcode - 0x84u;
        const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
        if (m_stack.size() < floor + count)
            return pickleDamage("its stack is empty");
        return closeTuple(m_stack.size() - count);
    }
    case 'a':
        return appendItems(m_stack.empty() ? 0 : m_stack.size() - 1);
    case 'e': {
        TW_ASSIGN(from, popMark());
        return appendItems(from);
    }
    case 's':
        return setItems(m_stack.size() < 2 ? 0 : m_stack.size() - 2);
    case 'u': {
        TW_ASSIGN(from, popMark());
        return setItems(from);
    }
    default:
        return makeError(
            errors::InvalidModelDirectory,
            QT_TRANSLATE_NOOP("Error", "its list of tensors uses the pickle instruction 0x%1, which state_dict "
                                       "files do not need"),
            {QString::number(opcode, 16)},
            QT_TRANSLATE_NOOP("Error", "Save only the weights: torch.save(model.state_dict(), \"weights.pth\")."));
    }
}

Result<void> PickleMachine::stepMemo(unsigned char opcode)
{
    TW_ASSIGN(slot, little(opcode == 'q' || opcode == 'h' ? 1 : 4));
    if (opcode == 'q' || opcode == 'r') {
        if (m_stack.empty())
            return pickleDamage("its stack is empty");
        constexpr std::size_t entryBytes = 64;
        if (m_memo.insert_or_assign(slot, m_stack.back()).second)
            return spend(entryBytes);
        return {};
    }
    const auto found = m_memo.find(slot);
    if (found == m_memo.end())
        return pickleDamage("it refers to a value that is not there");
    return pushId(found->second);
}

Result<void> PickleMachine::readProtocol()
{
    TW_ASSIGN(protocol, little(1));
    if (protocol == 2)
        return {};
    return makeError(errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "it was saved with pickle protocol %1"),
                     {QString::number(protocol)},
                     QT_TRANSLATE_NOOP("Error", "Save it with torch.save's own protocol, 2."));
}

Result<void> PickleMachine::readGlobal()
{
    TW_ASSIGN(module, line());
    TW_ASSIGN(name, line());
    std::string full = module + "." + name;
    // The two words are compared as they stand: a dot in the second never reaches an attribute.
    if (name.find('.') != std::string::npos || pickleName(full) == PickleName::Unknown)
        return foreignObject(full);
    return push(PickleValue(Kind::Name, std::move(full)));
}

Result<void> PickleMachine::readText(unsigned char opcode)
{
    TW_ASSIGN(length, little(opcode == 'U' ? 1 : 4));
    if (length > m_bytes.size() - m_at)
        return pickleDamage("a text is longer than the file");
    TW_TRY(spend(length));
    std::string text(reinterpret_cast<const char *>(m_bytes.data()) + m_at, length);
    m_at += length;
    return push(PickleValue(Kind::Text, std::move(text)));
}

Result<void> PickleMachine::closeTuple(std::size_t from)
{
    PickleValue tuple(Kind::Tuple);
    TW_TRY(moveItems(from, tuple));
    return push(std::move(tuple));
}

/// What stands on the stack from `from` on; an opaque value keeps nothing.
Result<void> PickleMachine::moveItems(std::size_t from, PickleValue &target)
{
    if (target.kind != Kind::Opaque) {
        // A vector grows by doubling.
        TW_TRY(spend(2 * sizeof(Id) * (m_stack.size() - from)));
        target.items.insert(target.items.end(), m_stack.begin() + static_cast<std::ptrdiff_t>(from), m_stack.end());
    }
    m_stack.resize(from);
    return {};
}

Result<void> PickleMachine::appendItems(std::size_t from)
{
    const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
    PickleValue *list = from <= floor ? nullptr : &m_values[m_stack[from - 1]];
    if (!list || (list->kind != Kind::List && list->kind != Kind::Opaque))
        return pickleDamage("it appends to something that is not a list");
    return moveItems(from, *list);
}

Result<void> PickleMachine::setItems(std::size_t from)
{
    const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
    PickleValue *dictionary = from <= floor ? nullptr : &m_values[m_stack[from - 1]];
    if (!dictionary || (m_stack.size() - from) % 2 != 0
        || (dictionary->kind != Kind::Dict && dictionary->kind != Kind::Opaque))
        return pickleDamage("it sets keys of something that is not a dictionary");
    return moveItems(from, *dictionary);
}

Result<std::uint64_t> PickleMachine::little(int bytes)
{
    if (static_cast<std::size_t>(bytes) > m_bytes.size() - m_at)
        return pickleDamage("it ends too early");
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i)
        value |= static_cast<std::uint64_t>(m_bytes[m_at++]) << (8 * i);
    return value;
}

Result<std::string> PickleMachine::line()
{
    constexpr std::size_t longest = 1000;
    std::string text;
    while (m_at < m_bytes.size() && text.size() < longest) {
        const char c = static_cast<char>(m_bytes[m_at++]);
        if (c == '\n')
            return text;
        text += c;
    }
    return pickleDamage("a name does not end");
}

Result<PickleMachine::Id> PickleMachine::pop()
{
    const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
    if (m_stack.size() <= floor)
        return pickleDamage("its stack is empty");
    const Id id = m_stack.back();
    m_stack.pop_back();
    return id;
}

Result<std::size_t> PickleMachine::popMark()
{
    if (m_marks.empty())
        return pickleDamage("it closes what was not opened");
    const std::size_t from = m_marks.back();
    m_marks.pop_back();
    return from;
}

Result<void> PickleMachine::spend(std::size_t bytes)
{
    if (bytes > memoryLimit - m_spent)
        return pickleTooLarge();
    m_spent += bytes;
    return {};
}

Result<void> PickleMachine::push(PickleValue value)
{
    TW_TRY(spend(sizeof(PickleValue) + 8)); // the place on the stack too
    m_values.push_back(std::move(value));
    return pushId(static_cast<Id>(m_values.size() - 1));
}

Result<void> PickleMachine::pushId(Id id)
{
    if (m_stack.size() >= maxStack)
        return pickleTooLarge();
    m_stack.push_back(id);
    return {};
}

} // namespace tw
