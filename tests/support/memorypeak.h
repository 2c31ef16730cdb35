// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstring>
#include <fstream>
#include <string>

namespace tw::test {

/// How much more memory this process held at its peak than when this began.
class MemoryPeak
{
public:
    MemoryPeak()
    {
        std::ofstream("/proc/self/clear_refs") << "5"; // the peak begins anew, where that is allowed
        m_before = residentMib();
    }
    double mib() const { return double(kib("VmHWM:")) / 1024 - m_before; }
    static double residentMib() { return double(kib("VmRSS:")) / 1024; }

private:
    static long long kib(const char *field)
    {
        std::ifstream status("/proc/self/status");
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with(field))
                return std::stoll(line.substr(std::strlen(field)));
        }
        return 0;
    }
    double m_before = 0;
};

} // namespace tw::test
