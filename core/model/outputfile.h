// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <cstddef>
#include <cstdint>

namespace tw {

/// Where writers of large files put their bytes, one after the other. Errors: FailedToWriteOutputsError.
class ByteSink
{
public:
    virtual ~ByteSink() = default;
    virtual Result<void> write(const void *data, std::size_t bytes) = 0;
    /// Bytes written so far.
    virtual std::uint64_t position() const = 0;
};

/// A large file written piece by piece beside its destination and renamed into place by commit();
/// removed when not committed. Every failure is FailedToWriteOutputsError.
class OutputFile final : public ByteSink
{
public:
    explicit OutputFile(fs::path destination);
    ~OutputFile() override;
    OutputFile(const OutputFile &) = delete;
    OutputFile &operator=(const OutputFile &) = delete;
    Result<void> open();
    Result<void> write(const void *data, std::size_t bytes) override;
    std::uint64_t position() const override { return m_position; }
    /// fsync, rename.
    Result<void> commit();

private:
    fs::path m_destination;
    fs::path m_temporary;
    int m_fd = -1;
    std::uint64_t m_position = 0;
};

} // namespace tw
