// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/checkpointreader.h"

#include "core/model/mappedfile.h"
#include "core/model/tensorview.h"
#include "core/model/weightschecks.h"

#include <QString>

#include <algorithm>
#include <array>
#include <map>

namespace tw {

namespace {

using Kind = PickleValue::Kind;
constexpr std::size_t maxDimensions = 64;
constexpr int deepest = 5;                  ///< a checkpoint in a checkpoint in …
constexpr std::size_t maxEntries = 200'000; ///< of a state_dict; the largest networks have a few thousand
constexpr std::size_t longestName = 4096;
constexpr std::size_t maxClassBytes = std::size_t(16) << 20;

constexpr std::array<const char *, 8> plainKeys{"state_dict", "model_state_dict", "model",   "net",
                                                "network",    "module",           "weights", "params"};
constexpr std::array<const char *, 6> averageKeys{"model_ema", "state_dict_ema", "ema_state_dict",
                                                  "ema",       "ema_model",      "params_ema"};
/// torch.optim.swa_utils.AveragedModel counts its updates beside the weights that it averages.
constexpr const char *averageCounter = "n_averaged";

/// Of a key for people: a file may hold one of any length.
QString keyText(const PickleValue &key)
{
    constexpr std::size_t shown = 200;
    return key.kind == Kind::Int ? QString::number(key.integer)
                                 : QString::fromUtf8(key.text.data(), qsizetype(std::min(key.text.size(), shown)));
}

bool isAverageKey(const std::string &key)
{
    return std::find(averageKeys.begin(), averageKeys.end(), key) != averageKeys.end();
}

} // namespace

Error CheckpointReader::badTensor(const std::string &name, const char *what) const
{
    return makeError(
        errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "%1 is not a sound weights file: tensor '%2' %3."),
        {displayPath(m_file), QString::fromStdString(name), QString::fromLatin1(what)},
        QT_TRANSLATE_NOOP("Error", "Save the weights again: torch.save(model.state_dict(), \"weights.pth\")."));
}

Error CheckpointReader::noWeights(Id root) const
{
    const Kind kind = m_machine.value(root).kind;
    const char *const hint =
        QT_TRANSLATE_NOOP("Error", "Save only the weights: torch.save(model.state_dict(), \"weights.pth\").");
    if (isTensor(root) || kind == Kind::List || kind == Kind::Tuple)
        return makeError(errors::InvalidModelDirectory,
                         QT_TRANSLATE_NOOP("Error", "%1 holds no state_dict: its values have no names."),
                         {displayPath(m_file)}, hint);
    QStringList keys;
    for (const char *key : plainKeys)
        keys += u'\'' + QLatin1String(key) + u'\'';
    return makeError(errors::InvalidModelDirectory,
                     QT_TRANSLATE_NOOP("Error", "%1 holds no state_dict: no dictionary of named tensors, neither "
                                                "itself nor under one of %2."),
                     {displayPath(m_file), keys.join(QStringLiteral(", "))}, hint);
}

bool CheckpointReader::isTensor(Id id) const
{
    const PickleValue &value = m_machine.value(id);
    return value.kind == Kind::Tensor || (value.kind == Kind::Reference && m_source.listedTensor(value.text));
}

/// `ofLayers`: one whose name is that of a layer's part, as opposed to a figure of the training.
bool CheckpointReader::holdsTensors(Id id, bool ofLayers) const
{
    const PickleValue &value = m_machine.value(id);
    if (value.kind != Kind::Dict)
        return false;
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        const PickleValue &name = m_machine.value(value.items[i]);
        if (name.kind == Kind::Text && isTensor(value.items[i + 1])
            && (!ofLayers || name.text.find('.') != std::string::npos))
            return true;
    }
    return false;
}

/// A usual key leads before tensors of the checkpoint's own (a generator's state, a mean).
std::optional<CheckpointReader::Found> CheckpointReader::find(Id id, Entered &entered, int depth) const
{
    const PickleValue &value = m_machine.value(id);
    if (value.kind != Kind::Dict || depth > deepest || !entered.insert(id).second)
        return std::nullopt;
    if (auto found = findUnder(value, false, entered, depth))
        return found;
    if (holdsTensors(id, true))
        return Found{id, {}, false};
    if (auto found = findUnder(value, true, entered, depth))
        return found;
    if (holdsTensors(id, false))
        return Found{id, {}, false};
    return std::nullopt;
}

std::optional<CheckpointReader::Found> CheckpointReader::findUnder(const PickleValue &checkpoint, bool average,
                                                                   Entered &entered, int depth) const
{
    std::optional<Found> secondBest;
    const std::span<const char *const> keys =
        average ? std::span<const char *const>(averageKeys) : std::span<const char *const>(plainKeys);
    for (const char *key : keys) {
        for (std::size_t i = 0; i + 1 < checkpoint.items.size(); i += 2) {
            const PickleValue &name = m_machine.value(checkpoint.items[i]);
            if (name.kind != Kind::Text || name.text != key)
                continue;
            auto found = find(checkpoint.items[i + 1], entered, depth + 1);
            if (!found)
                continue;
            found->path.prepend(QLatin1String(key));
            found->average = found->average || average;
            if (average || !found->average)
                return found;
            secondBest = secondBest ? std::move(secondBest) : std::move(found);
        }
    }
    return secondBest;
}

/// The entries of a list of texts, none of them empty; else nothing.
std::vector<std::string> CheckpointReader::texts(Id id) const
{
    const PickleValue &list = m_machine.value(id);
    std::vector<std::string> found;
    if (list.kind != Kind::List && list.kind != Kind::Tuple)
        return found;
    std::size_t bytes = 0;
    for (const Id item : list.items) {
        const PickleValue &text = m_machine.value(item);
        bytes += text.text.size() + sizeof(std::string);
        if (text.kind != Kind::Text || text.text.empty() || bytes > maxClassBytes)
            return {};
        found.push_back(text.text);
    }
    return found;
}

/// Names what stands beside the entry `led`, which is returned.
CheckpointReader::Id CheckpointReader::reportBeside(const PickleValue &checkpoint, const std::string &led, bool average,
                                                    Entered &entered)
{
    Id next = 0;
    std::set<Id> named;
    for (std::size_t k = 0; k + 1 < checkpoint.items.size(); k += 2) {
        const PickleValue &key = m_machine.value(checkpoint.items[k]);
        const Id content = checkpoint.items[k + 1];
        if (key.kind == Kind::Text && key.text == led) {
            next = content;
            continue;
        }
        if (!named.insert(checkpoint.items[k]).second)
            continue;
        m_report->addExtra(keyText(key));
        if (key.text == "classes" || key.text == "class_names")
            m_report->classes = texts(content);
        if (!average && isAverageKey(key.text) && find(content, entered))
            m_report->warnings += QStringLiteral("A moving average of the weights (EMA) stands beside them under "
                                                 "'%1'; the plain weights were read.")
                                      .arg(keyText(key));
    }
    return next;
}

/// What a checkpoint holds beside its weights, level by level down to them.
void CheckpointReader::reportFound(Id root, const Found &found)
{
    m_report->weightsUnder = found.path.join(u'/');
    Id level = root;
    Entered entered;
    for (const QString &led : found.path)
        level = reportBeside(m_machine.value(level), led.toStdString(), found.average, entered);
    if (found.average)
        m_report->warnings += QStringLiteral("Only a moving average of the weights (EMA) was found, under '%1'; "
                                             "it was read.")
                                  .arg(m_report->weightsUnder);
}

Result<StateDict> CheckpointReader::read(Id root)
{
    Entered entered;
    const auto found = find(root, entered);
    if (!found)
        return noWeights(root);
    if (m_report)
        reportFound(root, *found);
    return collect(found->dictionary);
}

Error CheckpointReader::notNamed() const
{
    return makeError(errors::InvalidModelDirectory,
                     QT_TRANSLATE_NOOP("Error", "%1 is not a state_dict: one of its keys is not a name."),
                     {displayPath(m_file)},
                     QT_TRANSLATE_NOOP("Error", "Save the weights with their names: torch.save(model.state_dict(), "
                                                "\"weights.pth\")."));
}

Result<StateDict> CheckpointReader::collect(Id dictionary)
{
    const PickleValue &value = m_machine.value(dictionary);
    std::map<std::string_view, Id> last; // a key that is set twice has the second value, at its first place
    std::vector<std::string_view> order;
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        const PickleValue &key = m_machine.value(value.items[i]);
        if (key.kind != Kind::Text || key.text.empty() || key.text.size() > longestName || order.size() > maxEntries)
            return notNamed();
        if (last.insert_or_assign(key.text, value.items[i + 1]).second)
            order.push_back(key.text);
    }
    StateDict weights;
    for (const std::string_view key : order) {
        const Id id = last[key];
        const std::string name(key);
        if (!isTensor(id) || (name == averageCounter && order.size() > 1)) {
            if (m_report)
                m_report->addExtra(QString::fromStdString(name));
            continue;
        }
        TW_ASSIGN(described, view(name, m_machine.value(id)));
        TW_ASSIGN(made, blob(name, described));
        weights.push_back(std::move(made));
    }
    return weights;
}

Result<std::vector<std::int64_t>> CheckpointReader::integers(const std::string &name, Id id) const
{
    const PickleValue &list = m_machine.value(id);
    if ((list.kind != Kind::Tuple && list.kind != Kind::List) || list.items.size() > maxDimensions)
        return badTensor(name, "has no proper list of sizes");
    std::vector<std::int64_t> numbers;
    for (const Id item : list.items) {
        const PickleValue &number = m_machine.value(item);
        if (number.kind != Kind::Int || number.integer < 0)
            return badTensor(name, "has a size or stride that is not a number from 0 up");
        numbers.push_back(number.integer);
    }
    return numbers;
}

std::optional<StorageName> CheckpointReader::storageName(const PickleMachine &machine, const PickleValue &storage)
{
    constexpr std::size_t viewAt = 5, viewParts = 3;
    const std::optional<ElementType> type = pickleElementType(machine.value(storage.items[1]).text);
    if (!type)
        return std::nullopt;
    StorageName name{machine.value(storage.items[2]).text, *type, machine.value(storage.items[4]).integer, 0, 0};
    name.end = name.elements;
    if (storage.items.size() <= viewAt || machine.value(storage.items[viewAt]).kind == Kind::None)
        return name;
    const PickleValue &part = machine.value(storage.items[viewAt]); // (key, offset, size)
    if (part.kind != Kind::Tuple || part.items.size() != viewParts)
        return std::nullopt;
    const PickleValue &begin = machine.value(part.items[1]), &size = machine.value(part.items[2]);
    const bool sound = begin.kind == Kind::Int && size.kind == Kind::Int && begin.integer >= 0 && size.integer >= 0;
    if (!sound || __builtin_add_overflow(begin.integer, size.integer, &name.end))
        return std::nullopt;
    name.begin = begin.integer;
    return name;
}

Result<StorageName> CheckpointReader::storageOf(const std::string &name, const PickleValue &tensor) const
{
    constexpr std::size_t typeAt = 4;
    const PickleValue &stored = m_machine.value(tensor.items[0]);
    std::optional<StorageName> storage;
    if (stored.kind == Kind::Storage) {
        storage = storageName(m_machine, stored);
    } else if (const StorageName *listed = m_source.listedStorage(stored.text)) {
        storage = *listed;
    }
    if (!storage)
        return badTensor(name, "has a storage or an element type that is not known");
    if (tensor.items.size() <= typeAt)
        return *storage;
    // _rebuild_tensor_v3 names the bytes of its storage and the type apart.
    const std::optional<ElementType> type = pickleElementType(m_machine.value(tensor.items[typeAt]).text);
    if (!type)
        return badTensor(name, "has an element type that is not known");
    const auto size = static_cast<std::int64_t>(elementBytes(*type) / elementBytes(storage->type));
    if (size < 1 || storage->elements % size != 0 || storage->begin != 0)
        return badTensor(name, "has another element type than its storage");
    storage->type = *type;
    storage->elements /= size;
    storage->end = storage->elements;
    return *storage;
}

Result<TensorView> CheckpointReader::view(const std::string &name, const PickleValue &tensor) const
{
    TensorView result;
    if (tensor.kind == Kind::Reference) {
        result = *m_source.listedTensor(tensor.text);
    } else {
        TW_ASSIGN(storage, storageOf(name, tensor));
        TW_ASSIGN(shape, integers(name, tensor.items[2]));
        TW_ASSIGN(strides, integers(name, tensor.items[3]));
        const PickleValue &offset = m_machine.value(tensor.items[1]);
        if (offset.kind != Kind::Int)
            return badTensor(name, "begins before its storage");
        result = {std::move(storage), offset.integer, std::move(shape), std::move(strides)};
    }
    if (const char *fault = viewFault(result))
        return badTensor(name, fault);
    return result;
}

/// Copies of views may take four times what the file's storages hold themselves, and a little; views that lie
/// in them as they are, 16 times, since each is looked through.
Result<void> CheckpointReader::reserve(const std::string &name, const StorageName &storage, std::uint64_t bytes,
                                       bool isCopy)
{
    const std::uint64_t stored = static_cast<std::uint64_t>(storage.elements) * elementBytes(storage.type);
    if (m_storageBytes.emplace(storage.key, stored).second) {
        m_copyAllowance += 4 * stored;
        m_viewAllowance += 16 * stored;
    }
    std::uint64_t &allowance = isCopy ? m_copyAllowance : m_viewAllowance;
    if (bytes > allowance)
        return badTensor(name, "repeats its storage more often than any network needs");
    allowance -= bytes;
    return {};
}

Result<TensorBlob> CheckpointReader::blob(const std::string &name, const TensorView &described)
{
    TW_ASSIGN(stored, m_source.read(described.storage));
    const std::size_t size = elementBytes(described.storage.type);
    TensorBlob made;
    made.name = name;
    made.type = described.storage.type;
    made.shape = described.shape;
    made.bytes = viewBytes(described);
    if (made.bytes == 0)
        return made;
    const bool isCopy = !isContiguous(described) || (m_source.isBigEndian() && size > 1);
    TW_TRY(reserve(name, described.storage, made.bytes, isCopy));
    if (!isCopy) {
        made.owner = stored.owner;
        made.data = stored.bytes.data() + static_cast<std::size_t>(described.storage.begin + described.offset) * size;
        made.mapped = stored.mapped;
        return made;
    }
    TW_TRY(checkWeightsMemory(m_file, made.bytes));
    auto memory = std::make_shared<std::vector<std::byte>>(made.bytes);
    copyView(described, stored.bytes.data(), memory->data());
    if (stored.mapped)
        MappedFile::release(stored.bytes);
    if (m_source.isBigEndian())
        swapElements(*memory, size);
    made.data = memory->data();
    made.owner = std::move(memory);
    return made;
}

} // namespace tw
