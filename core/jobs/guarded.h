// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <QtGlobal>

#include <exception>
#include <new>

namespace tw {

inline constexpr char libraryHint[] = QT_TRANSLATE_NOOP(
    "Error", "Run it again; if it fails again, report it with the log of the node and environment.json of the job.");

/// The one boundary where exceptions of components end.
template <typename T, typename Body> Result<T> guarded(Body &&body)
{
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return makeError(errors::ModuleOutOfMemory, QT_TRANSLATE_NOOP("Error", "The memory was not enough."), {},
                         QT_TRANSLATE_NOOP("Error", "Choose a smaller batch, or close other programs."));
    } catch (const std::exception &exception) {
        return makeError(errors::Library, QT_TRANSLATE_NOOP("Error", "A library failed: %1"),
                         {QString::fromUtf8(exception.what())}, libraryHint);
    } catch (...) {
        return makeError(errors::Library, QT_TRANSLATE_NOOP("Error", "A library failed without saying why."), {},
                         libraryHint);
    }
}

} // namespace tw
