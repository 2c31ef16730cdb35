// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/memorylimit.h"

#include "core/train/processusage.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace tw {

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// The number that a file begins with; nothing for "max" or a missing file.
std::optional<std::int64_t> numberIn(const fs::path &file)
{
    std::ifstream in(file);
    std::int64_t value = 0;
    if (in >> value)
        return value;
    return std::nullopt;
}

std::int64_t machineMemory(const fs::path &root)
{
    std::ifstream in(root / "proc/meminfo");
    std::string name, unit;
    for (std::int64_t kilobytes = 0; in >> name >> kilobytes; std::getline(in, unit)) {
        if (name == "MemAvailable:")
            return kilobytes * 1024;
    }
    return unlimited;
}

/// Room in the groups from `folder` up to `top`: a limit anywhere above holds for the process too.
std::int64_t groupRoom(fs::path folder, const fs::path &top, const char *limitName, const char *usageName)
{
    std::int64_t room = unlimited;
    while (true) {
        const auto limit = numberIn(folder / limitName);
        // Version 1 says "no limit" with a number near the largest one.
        if (limit && *limit < unlimited / 2)
            room = std::min(room, std::max<std::int64_t>(0, *limit - numberIn(folder / usageName).value_or(0)));
        if (folder == top || folder.native().size() <= top.native().size())
            return room;
        folder = folder.parent_path();
    }
}

std::int64_t controlGroups(const fs::path &root)
{
    std::int64_t room = unlimited;
    std::ifstream in(root / "proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos)
            continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const fs::path below = fs::path(line.substr(second + 1)).relative_path();
        if (controllers.empty()) {
            const fs::path top = root / "sys/fs/cgroup";
            room = std::min(room, groupRoom((top / below).lexically_normal(), top, "memory.max", "memory.current"));
        } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
            const fs::path top = root / "sys/fs/cgroup/memory";
            room = std::min(room, groupRoom((top / below).lexically_normal(), top, "memory.limit_in_bytes",
                                            "memory.usage_in_bytes"));
        }
    }
    return room;
}

std::int64_t settingRoom()
{
    const char *text = std::getenv("TRAINWRIGHT_MEMORY_LIMIT_MB");
    const double megabytes = text ? std::strtod(text, nullptr) : 0;
    if (!(megabytes > 0))
        return unlimited;
    return std::int64_t(std::clamp((megabytes - residentMegabytes()) * 1e6, 0.0, 9e18));
}

} // namespace

std::int64_t availableMemoryBytes(const fs::path &root)
{
    return std::min({machineMemory(root), controlGroups(root), settingRoom()});
}

std::int64_t StepMemory::largestBatch(std::int64_t available) const
{
    const auto room = std::int64_t(0.9 * double(available)) - fixed;
    return std::max<std::int64_t>(0, room / std::max<std::int64_t>(1, perImage));
}

} // namespace tw
