// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/storagesource.h"

namespace tw {

/// Empty when every element lies inside the storage and sizes fit 64 bits, else what is wrong, going on
/// from "tensor 'x' ".
const char *viewFault(const TensorView &view);
/// Bytes of the view's elements side by side; viewFault() must be empty.
std::uint64_t viewBytes(const TensorView &view);
/// Whether the elements lie in the storage as a row-major tensor of that shape does.
bool isContiguous(const TensorView &view);
/// Elements into `to`, row-major, by strides; `storage`: the whole storage's bytes.
void copyView(const TensorView &view, const std::byte *storage, std::byte *to);
/// Turns the bytes of every element of `size` bytes round.
void swapElements(std::span<std::byte> bytes, std::size_t size);

} // namespace tw
