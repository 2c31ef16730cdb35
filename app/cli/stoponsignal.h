// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/runcontext.h"

namespace tw::cli {

/// While it lives the first SIGINT or SIGTERM sets the token's cancel, for commands that work on the
/// main thread and poll it; a second one ends the program at once. One object at a time.
class StopOnSignal
{
public:
    StopOnSignal();
    ~StopOnSignal();
    StopOnSignal(const StopOnSignal &) = delete;
    StopOnSignal &operator=(const StopOnSignal &) = delete;
    const StopToken &token() const { return m_token; }

private:
    StopToken m_token;
};

} // namespace tw::cli
