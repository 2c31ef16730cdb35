// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <type_traits>

namespace tw {

/// The exception in flight as an Error: ModuleOutOfMemoryError for an allocation that failed (host or
/// device), else LibraryError with its text.
Error errorFromException() noexcept;

/// The boundary between torch's exceptions and Result. `work` returns a Result.
template <typename Work> std::invoke_result_t<Work> guarded(const Work &work)
{
    try {
        return work();
    } catch (...) {
        return errorFromException();
    }
}

} // namespace tw
