// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/picklemachine.h"

#include <QString>

#include <bit>
#include <set>

namespace tw {

namespace {

constexpr std::size_t maxValues = 1'000'000;
constexpr std::size_t maxStack = 4'000'000;
constexpr std::size_t maxMarks = 10'000;

using Kind = PickleValue::Kind;

Error broken(const char *what)
{
    return makeError(errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "the list of tensors is damaged (%1)"),
                     {QString::fromLatin1(what)}, QT_TRANSLATE_NOOP("Error", "Copy or download the file again."));
}

Error foreignObject(const std::string &name)
{
    return makeError(
        errors::InvalidModelDirectory,
        QT_TRANSLATE_NOOP("Error", "it holds a Python object of type '%1', and only tensors are read from "
                                   "a file, because objects can run code"),
        {QString::fromStdString(name).left(200)},
        QT_TRANSLATE_NOOP("Error", "Save only the weights: torch.save(model.state_dict(), \"weights.pth\")."));
}

/// Names whose call is understood.
bool isCallable(const std::string &name)
{
    static const std::set<std::string> names{"collections.OrderedDict", "torch._utils._rebuild_tensor_v2",
                                             "torch._utils._rebuild_parameter", "torch.Size", "torch.device"};
    return names.contains(name);
}

/// Names that stand for a constant: storage classes and element types.
bool isConstant(const std::string &name)
{
    static const std::set<std::string> names{
        "torch.FloatStorage", "torch.DoubleStorage", "torch.HalfStorage", "torch.BFloat16Storage", "torch.LongStorage",
        "torch.IntStorage",   "torch.ShortStorage",  "torch.CharStorage", "torch.ByteStorage",     "torch.BoolStorage",
        "torch.float32",      "torch.float64",       "torch.float16",     "torch.bfloat16",        "torch.int64",
        "torch.int32",        "torch.int16",         "torch.int8",        "torch.uint8",           "torch.bool"};
    return names.contains(name);
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
    return broken("it ends too early");
}

Result<void> PickleMachine::step(unsigned char opcode)
{
    switch (opcode) {
    case 0x80:
        return readProtocol();
    case 'c':
        return readGlobal();
    case 'R':
        return reduce();
    case 'b':
        return build();
    case 'Q':
        return persistentId();
    case '(':
        if (m_marks.size() >= maxMarks)
            return broken("it is nested too deeply");
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
    if (length > 8)
        return broken("a number is too large");
    TW_ASSIGN(number, little(static_cast<int>(length)));
    const int unusedBits = 64 - 8 * static_cast<int>(length);
    const std::int64_t value = length == 0 ? 0 : static_cast<std::int64_t>(number << unusedBits) >> unusedBits;
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
            return broken("its stack is empty");
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
            return broken("its stack is empty");
        m_memo[slot] = m_stack.back();
        return {};
    }
    const auto found = m_memo.find(slot);
    if (found == m_memo.end())
        return broken("it refers to a value that is not there");
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
    const std::string full = module + "." + name;
    // The two words are compared as they stand: a dot in the second never reaches an attribute.
    if (name.find('.') != std::string::npos || (!isCallable(full) && !isConstant(full)))
        return foreignObject(full);
    return push(PickleValue(Kind::Name, full));
}

Result<void> PickleMachine::readText(unsigned char opcode)
{
    TW_ASSIGN(length, little(opcode == 'U' ? 1 : 4));
    if (length > m_bytes.size() - m_at)
        return broken("a text is longer than the file");
    std::string text(reinterpret_cast<const char *>(m_bytes.data()) + m_at, length);
    m_at += length;
    return push(PickleValue(Kind::Text, std::move(text)));
}

Result<void> PickleMachine::closeTuple(std::size_t from)
{
    PickleValue tuple(Kind::Tuple);
    tuple.items.assign(m_stack.begin() + static_cast<std::ptrdiff_t>(from), m_stack.end());
    m_stack.resize(from);
    return push(std::move(tuple));
}

Result<void> PickleMachine::appendItems(std::size_t from)
{
    const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
    if (from <= floor || m_values[m_stack[from - 1]].kind != Kind::List)
        return broken("it appends to something that is not a list");
    auto &items = m_values[m_stack[from - 1]].items;
    items.insert(items.end(), m_stack.begin() + static_cast<std::ptrdiff_t>(from), m_stack.end());
    m_stack.resize(from);
    return {};
}

Result<void> PickleMachine::setItems(std::size_t from)
{
    const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
    if (from <= floor || (m_stack.size() - from) % 2 != 0 || m_values[m_stack[from - 1]].kind != Kind::Dict)
        return broken("it sets keys of something that is not a dictionary");
    auto &items = m_values[m_stack[from - 1]].items;
    items.insert(items.end(), m_stack.begin() + static_cast<std::ptrdiff_t>(from), m_stack.end());
    m_stack.resize(from);
    return {};
}

Result<void> PickleMachine::reduce()
{
    TW_ASSIGN(argumentsId, pop());
    TW_ASSIGN(callableId, pop());
    if (m_values[argumentsId].kind != Kind::Tuple || m_values[callableId].kind != Kind::Name)
        return broken("it calls something that is not a name");
    // A deque's elements stay where they are while values are added.
    return callName(m_values[callableId].text, m_values[argumentsId].items);
}

Result<void> PickleMachine::callName(const std::string &name, const std::vector<Id> &arguments)
{
    if (name == "collections.OrderedDict") {
        if (!arguments.empty())
            return broken("an OrderedDict is made from arguments");
        return push(PickleValue(Kind::Dict));
    }
    if (name == "torch._utils._rebuild_tensor_v2") {
        if (arguments.size() < 6 || m_values[arguments[0]].kind != Kind::Storage)
            return broken("a tensor lacks its storage");
        return push(PickleValue(Kind::Tensor, std::vector<Id>(arguments.begin(), arguments.begin() + 4)));
    }
    if (name == "torch._utils._rebuild_parameter") {
        if (arguments.empty() || m_values[arguments[0]].kind != Kind::Tensor)
            return broken("a parameter lacks its tensor");
        return pushId(arguments[0]);
    }
    if (!isCallable(name))
        return broken("it calls a constant");
    return push(PickleValue(Kind::Opaque, name));
}

/// State of an object: only a dictionary's own (state_dict's _metadata), which nothing here needs.
Result<void> PickleMachine::build()
{
    TW_ASSIGN(state, pop());
    const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
    if (m_stack.size() <= floor || m_values[m_stack.back()].kind != Kind::Dict || m_values[state].kind != Kind::Dict)
        return broken("it sets the state of something that is not a dictionary");
    return {};
}

Result<void> PickleMachine::persistentId()
{
    TW_ASSIGN(id, pop());
    const std::vector<Id> &items = m_values[id].items;
    const bool shaped = m_values[id].kind == Kind::Tuple && items.size() >= 5 && m_values[items[0]].text == "storage"
                        && m_values[items[1]].kind == Kind::Name && isConstant(m_values[items[1]].text)
                        && m_values[items[2]].kind == Kind::Text && m_values[items[4]].kind == Kind::Int;
    if (!shaped)
        return broken("a storage is not described as torch.save does it");
    return push(PickleValue(Kind::Storage, std::vector<Id>(items.begin(), items.begin() + 5)));
}

Result<std::uint64_t> PickleMachine::little(int bytes)
{
    if (static_cast<std::size_t>(bytes) > m_bytes.size() - m_at)
        return broken("it ends too early");
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
    return broken("a name does not end");
}

Result<PickleMachine::Id> PickleMachine::pop()
{
    const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
    if (m_stack.size() <= floor)
        return broken("its stack is empty");
    const Id id = m_stack.back();
    m_stack.pop_back();
    return id;
}

Result<std::size_t> PickleMachine::popMark()
{
    if (m_marks.empty())
        return broken("it closes what was not opened");
    const std::size_t from = m_marks.back();
    m_marks.pop_back();
    return from;
}

Result<void> PickleMachine::push(PickleValue value)
{
    if (m_values.size() >= maxValues)
        return broken("it holds too many values");
    m_values.push_back(std::move(value));
    return pushId(static_cast<Id>(m_values.size() - 1));
}

Result<void> PickleMachine::pushId(Id id)
{
    if (m_stack.size() >= maxStack)
        return broken("it holds too many values");
    m_stack.push_back(id);
    return {};
}

} // namespace tw
