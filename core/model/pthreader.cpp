// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/picklemachine.h"
#include "core/model/weightschecks.h"
#include "core/model/weightsfile.h"
#include "core/model/zipreader.h"

#include <QString>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

namespace tw {

namespace {

using Kind = PickleValue::Kind;
constexpr std::size_t maxPickleBytes = std::size_t(32) << 20;
constexpr std::size_t maxDimensions = 64;
/// Copies of views may take this much over what the file's storages hold themselves.
constexpr std::uint64_t copyAllowance = std::uint64_t(64) << 20;

std::optional<ElementType> storageType(const std::string &name)
{
    static const std::map<std::string, ElementType> types{
        {"torch.FloatStorage", ElementType::F32}, {"torch.DoubleStorage", ElementType::F64},
        {"torch.HalfStorage", ElementType::F16},  {"torch.BFloat16Storage", ElementType::BF16},
        {"torch.LongStorage", ElementType::I64},  {"torch.IntStorage", ElementType::I32},
        {"torch.ShortStorage", ElementType::I16}, {"torch.CharStorage", ElementType::I8},
        {"torch.ByteStorage", ElementType::U8},   {"torch.BoolStorage", ElementType::Bool}};
    const auto found = types.find(name);
    return found == types.end() ? std::nullopt : std::optional(found->second);
}

struct View
{
    std::string key;
    ElementType type = ElementType::F32;
    std::int64_t storageElements = 0, offset = 0;
    std::vector<std::int64_t> shape, strides;
};

class PthReader
{
public:
    PthReader(const fs::path &file, WeightsReport *report) : m_file(file), m_report(report) {}
    Result<StateDict> read();

private:
    using Id = std::uint32_t;
    Result<void> findRoot();
    Result<void> readByteOrder();
    Result<Id> findStateDict(Id root);
    bool holdsTensors(Id id) const;
    std::vector<std::string> texts(Id id) const;
    void reportBeside(const PickleValue &checkpoint, std::size_t weightsAt);
    Result<StateDict> collect(Id dict);
    Result<View> view(const std::string &name, const PickleValue &tensor) const;
    Result<std::vector<std::int64_t>> integers(const std::string &name, Id id) const;
    Result<void> checkBounds(const std::string &name, const View &view) const;
    Result<TensorBlob> materialise(const std::string &name, const View &view);
    Result<const ZipMember *> storage(const View &view);
    Error invalid(const char *text, const QStringList &more, const char *hint) const;
    Error badTensor(const std::string &name, const char *what) const;

    fs::path m_file;
    WeightsReport *m_report;
    std::unique_ptr<ZipReader> m_zip;
    std::string m_root;
    bool m_swapBytes = false;
    PickleMachine m_machine;
    std::map<std::string, ZipMember> m_storages;
    std::uint64_t m_storageBytes = 0, m_copiedBytes = 0;
};

Error PthReader::invalid(const char *text, const QStringList &more, const char *hint) const
{
    return makeError(errors::InvalidModelDirectory, text, QStringList{displayPath(m_file)} + more, hint);
}

Error PthReader::badTensor(const std::string &name, const char *what) const
{
    return invalid(
        QT_TRANSLATE_NOOP("Error", "%1 is not a sound weights file: tensor '%2' %3."),
        {QString::fromStdString(name), QString::fromLatin1(what)},
        QT_TRANSLATE_NOOP("Error", "Save the weights again: torch.save(model.state_dict(), \"weights.pth\")."));
}

/// The one folder of the zip that holds data.pkl; its name is free.
Result<void> PthReader::findRoot()
{
    const std::string wanted = "/data.pkl";
    for (const std::string &name : m_zip->names()) {
        if (name.ends_with("/constants.pkl"))
            return invalid(QT_TRANSLATE_NOOP("Error", "%1 is a TorchScript archive, not a state_dict."), {},
                           QT_TRANSLATE_NOOP("Error",
                                             "Load it in Python and save only the weights: "
                                             "torch.save(torch.jit.load(file).state_dict(), \"weights.pth\")."));
        if (name.ends_with(wanted) && name.find('/') == name.size() - wanted.size() && m_root.empty())
            m_root = name.substr(0, name.size() - wanted.size() + 1);
    }
    if (m_root.empty())
        return invalid(QT_TRANSLATE_NOOP("Error", "%1 is a zip file without data.pkl, so torch.save did not write it."),
                       {}, QT_TRANSLATE_NOOP("Error", "Choose a file that torch.save(model.state_dict(), …) wrote."));
    return {};
}

Result<void> PthReader::readByteOrder()
{
    const std::string name = m_root + "byteorder";
    if (!m_zip->contains(name))
        return {};
    TW_ASSIGN(member, m_zip->read(name, 64));
    const std::string_view text(reinterpret_cast<const char *>(member.bytes.data()), member.bytes.size());
    m_swapBytes = text == "big";
    if (!m_swapBytes && text != "little")
        return invalid(QT_TRANSLATE_NOOP("Error", "%1 states an unknown byte order."), {},
                       QT_TRANSLATE_NOOP("Error", "Copy or download the file again."));
    return {};
}

Result<StateDict> PthReader::read()
{
    TW_ASSIGN(zip, ZipReader::open(m_file));
    m_zip = std::move(zip);
    TW_TRY(findRoot());
    TW_TRY(readByteOrder());
    TW_ASSIGN(pickle, m_zip->read(m_root + "data.pkl", maxPickleBytes));
    Result<Id> root = m_machine.run(pickle.bytes);
    if (!root.ok()) {
        Error error = root.error();
        const QString reason = error.sentence();
        error.text = QString::fromUtf8(QT_TRANSLATE_NOOP("Error", "%1 is refused: %2."));
        error.args = {displayPath(m_file), reason};
        return error;
    }
    TW_ASSIGN(dict, findStateDict(*root));
    TW_ASSIGN(weights, collect(dict));
    if (m_report) {
        m_report->format = QStringLiteral("pytorch");
        reportNotFinite(weights, *m_report);
    }
    return std::move(weights);
}

bool PthReader::holdsTensors(Id id) const
{
    const PickleValue &value = m_machine.value(id);
    if (value.kind != Kind::Dict)
        return false;
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        if (m_machine.value(value.items[i]).kind == Kind::Text
            && m_machine.value(value.items[i + 1]).kind == Kind::Tensor)
            return true;
    }
    return false;
}

/// The entries of a list of texts, none of them empty; else nothing.
std::vector<std::string> PthReader::texts(Id id) const
{
    const PickleValue &list = m_machine.value(id);
    std::vector<std::string> found;
    if (list.kind != Kind::List && list.kind != Kind::Tuple)
        return found;
    for (const Id item : list.items) {
        const PickleValue &text = m_machine.value(item);
        if (text.kind != Kind::Text || text.text.empty())
            return {};
        found.push_back(text.text);
    }
    return found;
}

/// What a checkpoint holds beside its weights.
void PthReader::reportBeside(const PickleValue &checkpoint, std::size_t weightsAt)
{
    for (std::size_t k = 0; k + 1 < checkpoint.items.size(); k += 2) {
        if (k == weightsAt)
            continue;
        const std::string &key = m_machine.value(checkpoint.items[k]).text;
        m_report->extras += QString::fromStdString(key);
        if (key == "classes" || key == "class_names")
            m_report->classes = texts(checkpoint.items[k + 1]);
    }
}

Result<PthReader::Id> PthReader::findStateDict(Id root)
{
    if (holdsTensors(root))
        return root;
    const PickleValue &value = m_machine.value(root);
    for (const char *key : {"state_dict", "model_state_dict", "model"}) {
        for (std::size_t i = 0; value.kind == Kind::Dict && i + 1 < value.items.size(); i += 2) {
            const PickleValue &name = m_machine.value(value.items[i]);
            if (name.kind != Kind::Text || name.text != key || !holdsTensors(value.items[i + 1]))
                continue;
            if (m_report) {
                m_report->weightsUnder = QString::fromLatin1(key);
                reportBeside(value, i);
            }
            return value.items[i + 1];
        }
    }
    return invalid(
        QT_TRANSLATE_NOOP("Error", "%1 holds no state_dict: no dictionary of named tensors, neither itself nor "
                                   "under 'state_dict', 'model_state_dict' or 'model'."),
        {}, QT_TRANSLATE_NOOP("Error", "Save only the weights: torch.save(model.state_dict(), \"weights.pth\")."));
}

Result<StateDict> PthReader::collect(Id dict)
{
    const PickleValue &value = m_machine.value(dict);
    std::map<std::string, Id> last; // a key that is set twice has the second value, at its first place
    std::vector<std::string> order;
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        const PickleValue &key = m_machine.value(value.items[i]);
        if (key.kind != Kind::Text || key.text.empty())
            return invalid(QT_TRANSLATE_NOOP("Error", "%1 is not a state_dict: one of its keys is not a name."), {},
                           QT_TRANSLATE_NOOP("Error",
                                             "Save the weights with their names: torch.save(model.state_dict(), "
                                             "\"weights.pth\")."));
        if (last.insert_or_assign(key.text, value.items[i + 1]).second)
            order.push_back(key.text);
    }
    StateDict weights;
    for (const std::string &name : order) {
        const PickleValue &tensor = m_machine.value(last[name]);
        if (tensor.kind != Kind::Tensor) {
            if (m_report)
                m_report->extras += QString::fromStdString(name);
            continue;
        }
        TW_ASSIGN(described, view(name, tensor));
        TW_ASSIGN(blob, materialise(name, described));
        weights.push_back(std::move(blob));
    }
    return weights;
}

Result<std::vector<std::int64_t>> PthReader::integers(const std::string &name, Id id) const
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

Result<View> PthReader::view(const std::string &name, const PickleValue &tensor) const
{
    const PickleValue &store = m_machine.value(tensor.items[0]);
    const PickleValue &offset = m_machine.value(tensor.items[1]);
    const std::optional<ElementType> type = storageType(m_machine.value(store.items[1]).text);
    if (!type)
        return badTensor(name, "has an element type that is not known");
    if (offset.kind != Kind::Int || offset.integer < 0)
        return badTensor(name, "begins before its storage");
    TW_ASSIGN(shape, integers(name, tensor.items[2]));
    TW_ASSIGN(strides, integers(name, tensor.items[3]));
    View result{m_machine.value(store.items[2]).text,
                *type,
                m_machine.value(store.items[4]).integer,
                offset.integer,
                std::move(shape),
                std::move(strides)};
    TW_TRY(checkBounds(name, result));
    return result;
}

Result<void> PthReader::checkBounds(const std::string &name, const View &v) const
{
    if (v.shape.size() != v.strides.size())
        return badTensor(name, "has more strides than sizes or fewer");
    std::int64_t elements = 1, last = v.offset;
    const bool none = std::find(v.shape.begin(), v.shape.end(), 0) != v.shape.end();
    for (std::size_t i = 0; i < v.shape.size(); ++i) {
        std::int64_t reach = 0;
        const std::int64_t edge = none ? 1 : v.shape[i];
        if (__builtin_mul_overflow(elements, edge, &elements) || __builtin_mul_overflow(edge - 1, v.strides[i], &reach)
            || __builtin_add_overflow(last, reach, &last))
            return badTensor(name, "has sizes that no memory can hold");
    }
    if (v.storageElements < 0 || (!none && last >= v.storageElements))
        return badTensor(name, "reaches outside its storage");
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(elements, static_cast<std::int64_t>(elementBytes(v.type)), &bytes))
        return badTensor(name, "has sizes that no memory can hold");
    return {};
}

Result<const ZipMember *> PthReader::storage(const View &v)
{
    const std::string name = m_root + "data/" + v.key;
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<std::uint64_t>(v.storageElements), elementBytes(v.type), &bytes)
        || (m_zip->contains(name) && m_zip->statedBytes(name) != bytes))
        return invalid(QT_TRANSLATE_NOOP("Error", "%1 is damaged: storage '%2' has another size than its tensors say."),
                       {QString::fromStdString(v.key)}, QT_TRANSLATE_NOOP("Error", "Copy or download the file again."));
    if (const auto found = m_storages.find(name); found != m_storages.end())
        return &found->second;
    TW_ASSIGN(member, m_zip->read(name, bytes));
    m_storageBytes += bytes;
    return &m_storages.emplace(name, std::move(member)).first->second;
}

bool isContiguous(const View &v)
{
    std::int64_t expected = 1;
    for (std::size_t i = v.shape.size(); i-- > 0;) {
        if (v.shape[i] != 1 && v.strides[i] != expected)
            return false;
        expected *= v.shape[i];
    }
    return true;
}

/// Row-major copy by strides, without recursion: an odometer over all but the last dimension.
void copyStrided(const View &v, const std::byte *from, std::byte *to)
{
    const std::size_t size = elementBytes(v.type);
    const std::size_t dimensions = v.shape.size();
    const std::int64_t inner = dimensions == 0 ? 1 : v.shape.back();
    const std::int64_t step = dimensions == 0 ? 1 : v.strides.back();
    std::vector<std::int64_t> index(dimensions, 0);
    std::int64_t start = v.offset;
    for (;;) {
        for (std::int64_t i = 0; i < inner; ++i, to += size)
            std::memcpy(to, from + static_cast<std::size_t>(start + i * step) * size, size);
        std::size_t d = dimensions < 2 ? 0 : dimensions - 1;
        while (d > 0) {
            --d;
            start += v.strides[d];
            if (++index[d] < v.shape[d])
                break;
            start -= v.strides[d] * v.shape[d];
            index[d] = 0;
            if (d == 0)
                return;
        }
        if (dimensions < 2)
            return;
    }
}

void swapElements(std::byte *data, std::size_t bytes, std::size_t size)
{
    for (std::size_t at = 0; at + size <= bytes; at += size)
        std::reverse(data + at, data + at + size);
}

Result<TensorBlob> PthReader::materialise(const std::string &name, const View &v)
{
    TW_ASSIGN(store, storage(v));
    TensorBlob blob;
    blob.name = name;
    blob.type = v.type;
    blob.shape = v.shape;
    const std::size_t size = elementBytes(v.type);
    blob.bytes = static_cast<std::size_t>(blob.elements()) * size;
    if (blob.bytes == 0)
        return blob;
    const std::byte *start = store->bytes.data() + static_cast<std::size_t>(v.offset) * size;
    const bool aligned = reinterpret_cast<std::uintptr_t>(start) % size == 0;
    if (isContiguous(v) && aligned && (!m_swapBytes || size == 1)) {
        blob.owner = store->owner;
        blob.data = start;
        return blob;
    }
    if (blob.bytes > copyAllowance + 4 * m_storageBytes - std::min(m_copiedBytes, copyAllowance + 4 * m_storageBytes))
        return badTensor(name, "repeats its storage more often than any network needs");
    m_copiedBytes += blob.bytes;
    auto memory = std::make_shared<std::vector<std::byte>>(blob.bytes);
    copyStrided(v, store->bytes.data(), memory->data());
    if (m_swapBytes)
        swapElements(memory->data(), memory->size(), size);
    blob.data = memory->data();
    blob.owner = std::move(memory);
    return blob;
}

} // namespace

Result<StateDict> readPth(const fs::path &file, WeightsReport *report)
{
    return PthReader(file, report).read();
}

} // namespace tw
