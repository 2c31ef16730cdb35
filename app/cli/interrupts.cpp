// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/interrupts.h"

#include <QSocketNotifier>

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

namespace tw::cli {

static int pipeEnds[2] = {-1, -1};

static void onSignal(int number)
{
    const int keptErrno = errno;
    const char byte = number == SIGTERM ? 'T' : number == SIGHUP ? 'H' : 'I';
    [[maybe_unused]] const auto written = ::write(pipeEnds[1], &byte, 1);
    errno = keptErrno;
}

Interrupts::Interrupts(QObject *parent) : QObject(parent)
{
    if (::pipe2(pipeEnds, O_CLOEXEC | O_NONBLOCK) != 0)
        return;
    m_notifier = new QSocketNotifier(pipeEnds[0], QSocketNotifier::Read, this);
    connect(m_notifier, &QSocketNotifier::activated, this, &Interrupts::readPipe);
    struct sigaction action = {};
    action.sa_handler = onSignal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    struct sigaction before = {};
    if (::sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
        ::sigaction(SIGHUP, &action, nullptr);
}

Interrupts::~Interrupts()
{
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    struct sigaction hangUp = {};
    if (::sigaction(SIGHUP, nullptr, &hangUp) == 0 && hangUp.sa_handler == onSignal)
        std::signal(SIGHUP, SIG_DFL);
    delete m_notifier;
    for (int &end : pipeEnds) {
        if (end >= 0)
            ::close(end);
        end = -1;
    }
}

void Interrupts::readPipe()
{
    char byte = 0;
    while (::read(pipeEnds[0], &byte, 1) == 1) {
        if (byte == 'T')
            Q_EMIT terminated();
        else if (byte == 'H')
            Q_EMIT hungUp();
        else
            Q_EMIT interrupted();
    }
}

} // namespace tw::cli
