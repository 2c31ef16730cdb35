// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/picklenames.h"

#include <map>
#include <set>
#include <string_view>

namespace tw {

namespace {

const std::map<std::string, PickleName> &builders()
{
    static const std::map<std::string, PickleName> names{
        {"collections.OrderedDict", PickleName::Dictionary},
        {"collections.defaultdict", PickleName::Dictionary},
        {"torch._utils._rebuild_tensor", PickleName::Tensor},
        {"torch._utils._rebuild_tensor_v2", PickleName::Tensor},
        {"torch._utils._rebuild_tensor_v3", PickleName::TypedTensor},
        {"torch._utils._rebuild_parameter", PickleName::Parameter},
        {"torch._utils._rebuild_parameter_with_state", PickleName::Parameter},
        {"torch.nn.parameter.Parameter", PickleName::Parameter},
        {"torch.nn.parameter.Buffer", PickleName::Parameter},
        {"torch._tensor._rebuild_from_type_v2", PickleName::AnyTensor},
    };
    return names;
}

/// Values that stand in checkpoints beside the weights. Each is data alone: to describe it takes no code.
bool isData(const std::string &name)
{
    static const std::set<std::string> names{"torch.Size",
                                             "torch.device",
                                             "torch.torch_version.TorchVersion",
                                             "argparse.Namespace",
                                             "collections.Counter",
                                             "collections.deque",
                                             "datetime.date",
                                             "datetime.datetime",
                                             "datetime.timedelta",
                                             "pathlib.Path",
                                             "pathlib.PosixPath",
                                             "pathlib.PurePosixPath",
                                             "pathlib.WindowsPath",
                                             "pathlib.PureWindowsPath",
                                             "pathlib._local.Path",
                                             "pathlib._local.PosixPath",
                                             "pathlib._local.PurePosixPath",
                                             "pathlib._local.WindowsPath",
                                             "pathlib._local.PureWindowsPath",
                                             "numpy.dtype",
                                             "numpy.ndarray",
                                             "numpy.core.multiarray.scalar",
                                             "numpy.core.multiarray._reconstruct",
                                             "numpy._core.multiarray.scalar",
                                             "numpy._core.multiarray._reconstruct",
                                             "_codecs.encode"};
    return names.contains(name);
}

/// Types of Python's own: arguments of a defaultdict, or a set.
std::optional<PickleName> builtInType(std::string_view name)
{
    const std::string_view module = name.substr(0, name.find('.'));
    if (module != "builtins" && module != "__builtin__")
        return std::nullopt;
    const std::string_view type = name.substr(module.size() + 1);
    for (const std::string_view made : {"set", "frozenset", "complex", "bytes", "bytearray"}) {
        if (type == made)
            return PickleName::Data;
    }
    for (const std::string_view plain : {"int", "long", "float", "bool", "str", "list", "dict", "tuple"}) {
        if (type == plain)
            return PickleName::Constant;
    }
    return std::nullopt;
}

struct TypeName
{
    std::string_view word;           ///< "Float" of torch.FloatStorage
    std::optional<ElementType> type; ///< nothing: known, but of no network here
    std::size_t otherBytes = 0;      ///< then of an element; 0: not whole bytes
};

constexpr TypeName classes[] = {
    {"Float", ElementType::F32},         {"Double", ElementType::F64}, {"Half", ElementType::F16},
    {"BFloat16", ElementType::BF16},     {"Long", ElementType::I64},   {"Int", ElementType::I32},
    {"Short", ElementType::I16},         {"Char", ElementType::I8},    {"Byte", ElementType::U8},
    {"Bool", ElementType::Bool},         {"Untyped", ElementType::U8}, {"ComplexFloat", std::nullopt, 8},
    {"ComplexDouble", std::nullopt, 16}, {"QInt8", std::nullopt, 1},   {"QUInt8", std::nullopt, 1},
    {"QInt32", std::nullopt, 4},         {"QUInt4x2", std::nullopt},   {"QUInt2x4", std::nullopt},
};

constexpr TypeName elementTypes[] = {
    {"float32", ElementType::F32},   {"float", ElementType::F32},     {"float64", ElementType::F64},
    {"double", ElementType::F64},    {"float16", ElementType::F16},   {"half", ElementType::F16},
    {"bfloat16", ElementType::BF16}, {"int64", ElementType::I64},     {"long", ElementType::I64},
    {"int32", ElementType::I32},     {"int", ElementType::I32},       {"int16", ElementType::I16},
    {"short", ElementType::I16},     {"int8", ElementType::I8},       {"uint8", ElementType::U8},
    {"bool", ElementType::Bool},     {"complex32", std::nullopt},     {"complex64", std::nullopt},
    {"complex128", std::nullopt},    {"uint16", std::nullopt},        {"uint32", std::nullopt},
    {"uint64", std::nullopt},        {"float8_e4m3fn", std::nullopt}, {"float8_e5m2", std::nullopt},
    {"qint8", std::nullopt},         {"quint8", std::nullopt},        {"qint32", std::nullopt},
};

/// The word between "torch." or "torch.cuda." and "Storage" or "Tensor"; empty: no such class.
std::string_view classWord(std::string_view name)
{
    bool found = false;
    for (const std::string_view begin : {"torch.cuda.", "torch.storage.", "torch."}) {
        if (!found && name.starts_with(begin)) {
            name.remove_prefix(begin.size());
            found = true;
        }
    }
    for (const std::string_view end : {"Storage", "Tensor"}) {
        if (found && name.ends_with(end))
            return name.substr(0, name.size() - end.size());
    }
    return {};
}

const TypeName *findType(std::string_view name)
{
    const std::string_view word = classWord(name);
    for (const TypeName &known : classes) {
        if (word == known.word)
            return &known;
    }
    constexpr std::string_view begin = "torch.";
    for (const TypeName &known : elementTypes) {
        if (name.starts_with(begin) && name.substr(begin.size()) == known.word)
            return &known;
    }
    return nullptr;
}

} // namespace

PickleName pickleName(const std::string &name)
{
    if (const auto found = builders().find(name); found != builders().end())
        return found->second;
    if (isData(name))
        return PickleName::Data;
    if (const auto type = builtInType(name))
        return *type;
    // torch.Tensor and torch.nn.Parameter stand as classes among the arguments of _rebuild_from_type_v2.
    const bool constant = findType(name) || name == "torch.Tensor" || name == "torch._tensor.Tensor";
    return constant ? PickleName::Constant : PickleName::Unknown;
}

std::optional<ElementType> pickleElementType(const std::string &name)
{
    const TypeName *found = findType(name);
    return found ? found->type : std::nullopt;
}

std::size_t storedElementBytes(const std::string &name)
{
    const TypeName *known = findType(name);
    if (!known)
        return 0;
    return known->type ? elementBytes(*known->type) : known->otherBytes;
}

bool isStorageName(const std::string &name)
{
    const std::string_view word = classWord(name);
    return !word.empty() && findType(name) != nullptr;
}

} // namespace tw
