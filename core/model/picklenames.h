// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/statedict.h"

#include <optional>
#include <string>

namespace tw {

/// What the name of a Python object ("module.name") means to PickleMachine. Nothing is ever looked up,
/// loaded or called: a name only decides which description of a value is put together.
enum class PickleName {
    Unknown,     ///< refused by name
    Dictionary,  ///< OrderedDict and its kind: a call makes a dictionary
    Tensor,      ///< a call makes a tensor of (storage, offset, sizes, strides, …)
    TypedTensor, ///< the same with the element type as seventh argument, over bytes
    Parameter,   ///< a call gives back the tensor that is its first argument
    AnyTensor,   ///< a call names one of the three kinds above and its arguments
    Data,        ///< a plain value that no network needs (a NumPy number, a Namespace): left out
    Constant     ///< storage classes, element types and built-in types; never called
};

PickleName pickleName(const std::string &name);
/// Of a storage class or an element type: "torch.FloatStorage", "torch.cuda.FloatTensor", "torch.float32".
/// Nothing for types that no network here has (complex, quantised).
std::optional<ElementType> pickleElementType(const std::string &name);
/// Bytes of an element of these, also of types that no network here has; 0: not known.
std::size_t storedElementBytes(const std::string &name);
/// Whether `name` is a class of storages or tensors, of whatever element type.
bool isStorageName(const std::string &name);

} // namespace tw
