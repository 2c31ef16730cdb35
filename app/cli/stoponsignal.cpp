// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/stoponsignal.h"

#include <csignal>

namespace tw::cli {

static std::atomic<StopToken *> watched{nullptr};
static_assert(std::atomic<bool>::is_always_lock_free, "set inside a signal handler");

static void onSignal(int)
{
    if (StopToken *token = watched.load())
        token->cancel.store(true);
}

StopOnSignal::StopOnSignal()
{
    watched.store(&m_token);
    struct sigaction action = {};
    action.sa_handler = onSignal;
    action.sa_flags = SA_RESTART | int(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

StopOnSignal::~StopOnSignal()
{
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    watched.store(nullptr);
}

} // namespace tw::cli
