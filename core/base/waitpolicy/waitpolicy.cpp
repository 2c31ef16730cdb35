// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdlib>

namespace {

// Threads that spin beside a busy neighbour slow training down many times over.
__attribute__((constructor)) void choosePassiveWaiting()
{
    ::setenv("OMP_WAIT_POLICY", "passive", 0);
}

} // namespace

extern "C" void trainwrightWaitPolicy() {}
