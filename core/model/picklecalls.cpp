// SPDX-License-Identifier: GPL-3.0-or-later
// What calls, states and persistent ids of a pickle put together.
#include "core/model/pickledamage.h"
#include "core/model/picklemachine.h"

#include <QString>

namespace tw {

using Kind = PickleValue::Kind;

Error pickleDamage(const char *what)
{
    return makeError(errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "the list of tensors is damaged (%1)"),
                     {QString::fromLatin1(what)}, QT_TRANSLATE_NOOP("Error", "Copy or download the file again."));
}

Error pickleTooLarge()
{
    return makeError(
        errors::InvalidModelDirectory,
        QT_TRANSLATE_NOOP("Error", "it holds more values beside its tensors than this program reads"), {},
        QT_TRANSLATE_NOOP("Error", "Save only the weights: torch.save(model.state_dict(), \"weights.pth\")."));
}

Result<void> PickleMachine::reduce()
{
    TW_ASSIGN(argumentsId, pop());
    TW_ASSIGN(callableId, pop());
    if (m_values[argumentsId].kind != Kind::Tuple || m_values[callableId].kind != Kind::Name)
        return pickleDamage("it calls something that is not a name");
    // A deque's elements stay where they are while values are added.
    return callName(m_values[callableId].text, m_values[argumentsId].items);
}

Result<void> PickleMachine::callName(const std::string &name, const std::vector<Id> &arguments)
{
    switch (pickleName(name)) {
    case PickleName::Dictionary:
        return makeDictionary(arguments);
    case PickleName::Tensor:
        return makeTensor(arguments, false);
    case PickleName::TypedTensor:
        return makeTensor(arguments, true);
    case PickleName::AnyTensor:
        return makeAnyTensor(arguments);
    case PickleName::Parameter:
        if (arguments.empty()
            || (m_values[arguments[0]].kind != Kind::Tensor && m_values[arguments[0]].kind != Kind::Reference))
            return pickleDamage("a parameter lacks its tensor");
        return pushId(arguments[0]);
    case PickleName::Data:
        if (name == "torch.Size" && arguments.size() == 1 && m_values[arguments[0]].kind == Kind::Tuple)
            return pushId(arguments[0]);
        return push(PickleValue(Kind::Opaque, name));
    case PickleName::Constant:
    case PickleName::Unknown:
        break;
    }
    return pickleDamage("it calls a constant");
}

/// OrderedDict of Python 2 is made from a list of pairs; what a defaultdict begins with does not matter.
Result<void> PickleMachine::makeDictionary(const std::vector<Id> &arguments)
{
    PickleValue dictionary(Kind::Dict);
    const bool empty =
        arguments.empty() || m_values[arguments[0]].kind == Kind::Name || m_values[arguments[0]].kind == Kind::None;
    if (!empty) {
        const PickleValue &pairs = m_values[arguments[0]];
        if (pairs.kind != Kind::List)
            return pickleDamage("an OrderedDict is made from arguments that are no pairs");
        TW_TRY(spend(4 * sizeof(Id) * pairs.items.size()));
        for (const Id pair : pairs.items) {
            const PickleValue &parts = m_values[pair];
            if ((parts.kind != Kind::List && parts.kind != Kind::Tuple) || parts.items.size() != 2)
                return pickleDamage("an OrderedDict is made from arguments that are no pairs");
            dictionary.items.insert(dictionary.items.end(), parts.items.begin(), parts.items.end());
        }
    }
    return push(std::move(dictionary));
}

Result<void> PickleMachine::makeTensor(const std::vector<Id> &arguments, bool typed)
{
    constexpr std::size_t needed = 4, typeAt = 6;
    const bool stored =
        arguments.size() >= needed
        && (m_values[arguments[0]].kind == Kind::Storage || m_values[arguments[0]].kind == Kind::Reference);
    if (!stored)
        return pickleDamage("a tensor lacks its storage");
    std::vector<Id> parts(arguments.begin(), arguments.begin() + needed);
    if (typed) {
        if (arguments.size() <= typeAt || m_values[arguments[typeAt]].kind != Kind::Name)
            return pickleDamage("a tensor lacks its element type");
        parts.push_back(arguments[typeAt]);
    }
    return push(PickleValue(Kind::Tensor, std::move(parts)));
}

/// (function, class, arguments, state): a tensor that carries attributes of its own.
Result<void> PickleMachine::makeAnyTensor(const std::vector<Id> &arguments)
{
    const bool sound = arguments.size() >= 3 && m_values[arguments[0]].kind == Kind::Name
                       && m_values[arguments[2]].kind == Kind::Tuple;
    const PickleName called = sound ? pickleName(m_values[arguments[0]].text) : PickleName::Unknown;
    if (called != PickleName::Tensor && called != PickleName::TypedTensor && called != PickleName::Parameter)
        return pickleDamage("a tensor is not rebuilt as torch.save does it");
    return callName(m_values[arguments[0]].text, m_values[arguments[2]].items);
}

/// State of an object: a dictionary's own (state_dict's _metadata), a tensor's gradient settings or the
/// fields of plain data, which nothing here needs.
Result<void> PickleMachine::build()
{
    TW_ASSIGN(state, pop());
    const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
    const Kind target = m_stack.size() <= floor ? Kind::None : m_values[m_stack.back()].kind;
    const bool kept = target == Kind::Tensor || target == Kind::Reference || target == Kind::Opaque;
    if (!kept && (target != Kind::Dict || m_values[state].kind != Kind::Dict))
        return pickleDamage("it sets the state of something that is not a dictionary");
    return {};
}

Result<void> PickleMachine::persistentId()
{
    TW_ASSIGN(id, pop());
    const PickleValue &described = m_values[id];
    if (m_ids == PersistentIds::Keys) {
        if ((described.kind != Kind::Text && described.kind != Kind::Int) || described.text.size() > longestStorageKey)
            return pickleDamage("a tensor is not named as torch.save does it");
        TW_TRY(spend(described.text.size()));
        return push(PickleValue(Kind::Reference,
                                described.kind == Kind::Text ? described.text : std::to_string(described.integer)));
    }
    constexpr std::size_t needed = 5, most = 6;
    const std::vector<Id> &items = described.items;
    const bool shaped = described.kind == Kind::Tuple && items.size() >= needed && items.size() <= most
                        && m_values[items[0]].text == "storage" && m_values[items[1]].kind == Kind::Name
                        && isStorageName(m_values[items[1]].text) && m_values[items[2]].kind == Kind::Text
                        && m_values[items[2]].text.size() <= longestStorageKey && m_values[items[4]].kind == Kind::Int;
    if (!shaped)
        return pickleDamage("a storage is not described as torch.save does it");
    return push(PickleValue(Kind::Storage, items));
}

} // namespace tw
