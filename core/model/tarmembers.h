// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace tw {

/// Regular files of a tar (ustar, pax) by name, as pieces of `tar`. It ends at the first header that is not
/// sound; a member that is cut short is not in it.
std::map<std::string, std::span<const std::byte>> tarMembers(std::span<const std::byte> tar);

} // namespace tw
