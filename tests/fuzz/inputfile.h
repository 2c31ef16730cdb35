// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"
#include "core/model/statedict.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tw::fuzz {

/// A file in memory with a path, made anew for each input.
class InputFile
{
public:
    InputFile();
    ~InputFile();
    InputFile(const InputFile &) = delete;
    InputFile &operator=(const InputFile &) = delete;
    const fs::path &hold(const std::uint8_t *data, std::size_t size);

private:
    int m_fd;
    fs::path m_path;
};

/// A folder that holds one file; it goes with the process.
class InputFolder
{
public:
    explicit InputFolder(const char *fileName);
    ~InputFolder();
    const fs::path &hold(const std::uint8_t *data, std::size_t size);

private:
    fs::path m_folder, m_file;
};

/// Ends the process, which the fuzzer reports as a finding.
void require(bool holds, const char *what);
/// A refusal has one of these names, a sentence without holes and a hint.
void requireSound(const Error &error, std::initializer_list<const char *> names);
/// Every tensor has as many bytes as its shape says, all of which can be read.
void requireSound(const StateDict &weights);

} // namespace tw::fuzz
