// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/weights.h"

#include "core/model/mappedfile.h"

#include <QStringList>

#include <array>
#include <cstring>
#include <map>
#include <optional>

namespace tw {

namespace weightsdetail {

constexpr std::array<std::pair<ElementType, at::ScalarType>, 10> types{{
    {ElementType::F32, at::kFloat},
    {ElementType::F64, at::kDouble},
    {ElementType::F16, at::kHalf},
    {ElementType::BF16, at::kBFloat16},
    {ElementType::I64, at::kLong},
    {ElementType::I32, at::kInt},
    {ElementType::I16, at::kShort},
    {ElementType::I8, at::kChar},
    {ElementType::U8, at::kByte},
    {ElementType::Bool, at::kBool},
}};

const std::string counterName = ".num_batches_tracked";

ElementType elementType(at::ScalarType type)
{
    for (const auto &[ours, theirs] : types) {
        if (theirs == type)
            return ours;
    }
    TORCH_CHECK(false, "a weight of type ", type, " cannot be stored");
}

at::ScalarType scalarType(ElementType type)
{
    for (const auto &[ours, theirs] : types) {
        if (ours == type)
            return theirs;
    }
    TORCH_CHECK(false, "unknown element type");
}

bool isFloating(ElementType type)
{
    return at::isFloatingType(scalarType(type));
}

QString shapeText(at::IntArrayRef shape)
{
    QStringList sizes;
    for (const std::int64_t size : shape)
        sizes.append(QString::number(size));
    return sizes.isEmpty() ? QStringLiteral("scalar") : sizes.join(u'×');
}

bool endsWith(const std::string &text, const std::string &end)
{
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool hasPrefix(const std::string &text, const std::string &prefix)
{
    return !prefix.empty() && text.compare(0, prefix.size(), prefix) == 0;
}

/// Empty when the tensor can take the blob's values.
QString misfit(const NamedTensor &ours, const TensorBlob &theirs, const ImportOptions &options)
{
    const QString name = QString::fromStdString(ours.name);
    if (ours.tensor.sizes() != at::IntArrayRef(theirs.shape))
        return QStringLiteral("%1 (given %2, needed %3)")
            .arg(name, shapeText(theirs.shape), shapeText(ours.tensor.sizes()));
    const ElementType needed = elementType(ours.tensor.scalar_type());
    const bool isCounter = endsWith(ours.name, counterName); // whole state_dicts are converted, counters too
    const bool converts = options.lenientTypes && (isCounter || isFloating(needed) == isFloating(theirs.type));
    if (theirs.type == needed || converts)
        return {};
    return QStringLiteral("%1 (given %2, needed %3)")
        .arg(name, QLatin1String(elementTypeName(theirs.type)), QLatin1String(elementTypeName(needed)));
}

TensorBlob layoutOf(std::string name, const at::Tensor &tensor)
{
    TensorBlob blob;
    blob.name = std::move(name);
    blob.type = elementType(tensor.scalar_type());
    blob.shape = tensor.sizes().vec();
    blob.bytes = tensor.nbytes();
    return blob;
}

std::map<std::string, const TensorBlob *> byName(const StateDict &weights)
{
    std::map<std::string, const TensorBlob *> out;
    for (const TensorBlob &blob : weights)
        out.emplace(blob.name, &blob);
    return out;
}

/// The number of classes that all tensors of the head are for, where it is another than ours and nothing else
/// differs.
std::optional<std::int64_t> otherClasses(const Module &module, const std::map<std::string, const TensorBlob *> &given,
                                         const std::string &headPrefix)
{
    std::optional<std::int64_t> classes;
    for (const NamedTensor &ours : module.stateDict()) {
        if (!hasPrefix(ours.name, headPrefix))
            continue;
        const auto found = given.find(ours.name);
        if (found == given.end() || found->second->shape.empty() || ours.tensor.dim() == 0)
            return std::nullopt;
        std::vector<std::int64_t> wanted = ours.tensor.sizes().vec();
        wanted[0] = found->second->shape[0];
        const bool isOther = wanted[0] != ours.tensor.size(0) && wanted[0] == classes.value_or(wanted[0]);
        if (!isOther || wanted != found->second->shape)
            return std::nullopt;
        classes = wanted[0];
    }
    return classes;
}

void copyInto(const NamedTensor &entry, const TensorBlob &blob)
{
    at::Tensor destination = entry.tensor;
    destination.copy_(viewOf(blob));
    if (blob.mapped)
        MappedFile::release({blob.data, blob.bytes});
}

} // namespace weightsdetail

StateDict layoutOf(const Module &module)
{
    StateDict out;
    for (const NamedTensor &entry : module.stateDict())
        out.push_back(weightsdetail::layoutOf(entry.name, entry.tensor));
    return out;
}

StateDict exportWeights(const Module &module)
{
    c10::NoGradGuard noGrad;
    StateDict out;
    for (const NamedTensor &entry : module.stateDict())
        out.push_back(blobOf(entry.name, entry.tensor));
    return out;
}

TensorBlob blobOf(std::string name, const at::Tensor &tensor)
{
    c10::NoGradGuard noGrad;
    TensorBlob blob = weightsdetail::layoutOf(std::move(name), tensor);
    auto copy =
        std::make_shared<at::Tensor>(at::empty(tensor.sizes(), tensor.options().device(at::kCPU).requires_grad(false)));
    copy->copy_(tensor);
    blob.data = static_cast<const std::byte *>(copy->const_data_ptr());
    blob.owner = std::move(copy);
    return blob;
}

at::Tensor viewOf(const TensorBlob &blob)
{
    const auto options = at::TensorOptions().dtype(weightsdetail::scalarType(blob.type));
    if (reinterpret_cast<std::uintptr_t>(blob.data) % elementBytes(blob.type) != 0) { // in a mapped file, as it stands
        at::Tensor copy = at::empty(blob.shape, options);
        std::memcpy(copy.mutable_data_ptr(), blob.data, blob.bytes);
        return copy;
    }
    auto *data = const_cast<std::byte *>(blob.data); // from_blob has no const form; only to be read
    return at::from_blob(data, blob.shape, options);
}

StateDict arrangedWeights(const Module &module, const StateDict &weights)
{
    using namespace weightsdetail;
    c10::NoGradGuard noGrad;
    const auto given = byName(weights);
    StateDict out;
    for (TensorBlob &blob : layoutOf(module)) {
        const auto found = given.find(blob.name);
        if (found != given.end() && found->second->type == blob.type)
            blob = *found->second;
        else if (found != given.end())
            blob = blobOf(blob.name, viewOf(*found->second).to(scalarType(blob.type)));
        else
            blob = blobOf(blob.name, at::zeros(blob.shape, at::TensorOptions().dtype(scalarType(blob.type))));
        out.push_back(std::move(blob));
    }
    return out;
}

QString weightsMismatch(const Module &module, const StateDict &weights, const ImportOptions &options)
{
    using namespace weightsdetail;
    auto given = byName(weights);
    const bool replacesHead = otherClasses(module, given, options.headPrefix).has_value();
    QStringList missing, unexpected, misshapen;
    for (const NamedTensor &entry : module.stateDict()) {
        const auto found = given.find(entry.name);
        if (found == given.end()) {
            if (!options.lenientTypes || !endsWith(entry.name, counterName))
                missing.append(QString::fromStdString(entry.name));
            continue;
        }
        if (!replacesHead || !hasPrefix(entry.name, options.headPrefix)) {
            if (const QString problem = misfit(entry, *found->second, options); !problem.isEmpty())
                misshapen.append(problem);
        }
        given.erase(found);
    }
    for (const auto &[name, blob] : given)
        unexpected.append(QString::fromStdString(name));
    QStringList parts;
    const auto add = [&parts](const char *label, const QStringList &names) {
        if (!names.isEmpty())
            parts.append(QLatin1String(label) + names.join(QStringLiteral(", ")));
    };
    add("missing: ", missing);
    add("unexpected: ", unexpected);
    add("other shape or type: ", misshapen);
    return parts.join(QStringLiteral("; "));
}

Error weightsMismatchError(const QString &what, const QString &mismatch, const QString &network)
{
    return makeError(errors::CheckpointMismatch,
                     network.isEmpty() ? QT_TRANSLATE_NOOP("Error", "The weights of %1 do not fit the network: %2.")
                                       : QT_TRANSLATE_NOOP("Error", "The weights of %1 do not fit %3: %2."),
                     {what, mismatch, network},
                     QT_TRANSLATE_NOOP("Error", "Choose the architecture and arguments that the "
                                                "weights were made with."));
}

std::optional<std::int64_t> replacedHead(const Module &module, const StateDict &weights, const ImportOptions &options)
{
    return weightsdetail::otherClasses(module, weightsdetail::byName(weights), options.headPrefix);
}

Result<void> importWeights(Module &module, const StateDict &weights, const QString &what, const ImportOptions &options)
{
    if (const QString mismatch = weightsMismatch(module, weights, options); !mismatch.isEmpty())
        return weightsMismatchError(what, mismatch, options.network);
    c10::NoGradGuard noGrad;
    const unsigned before = MappedFile::lost();
    const auto given = weightsdetail::byName(weights);
    for (const NamedTensor &entry : module.stateDict()) {
        const auto found = given.find(entry.name);
        if (found == given.end()) {
            at::Tensor counter = entry.tensor;
            counter.zero_();
        } else if (entry.tensor.sizes() == at::IntArrayRef(found->second->shape)) {
            weightsdetail::copyInto(entry, *found->second);
        }
    }
    return MappedFile::checkNothingLost(before, what);
}

} // namespace tw
