// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/inputfile.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace tw::fuzz {

void require(bool holds, const char *what)
{
    if (holds)
        return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

static void writeWhole(int fd, const std::uint8_t *data, std::size_t size)
{
    for (std::size_t done = 0; done < size;) {
        const ssize_t wrote = ::pwrite(fd, data + done, size - done, static_cast<off_t>(done));
        require(wrote > 0, "the input can be written");
        done += static_cast<std::size_t>(wrote);
    }
}

InputFile::InputFile() : m_fd(::memfd_create("input", MFD_CLOEXEC))
{
    require(m_fd >= 0, "there is a file in memory");
    m_path = "/proc/self/fd/" + std::to_string(m_fd);
}

InputFile::~InputFile()
{
    ::close(m_fd);
}

const fs::path &InputFile::hold(const std::uint8_t *data, std::size_t size)
{
    require(::ftruncate(m_fd, 0) == 0, "the file can be emptied");
    writeWhole(m_fd, data, size);
    return m_path;
}

InputFolder::InputFolder(const char *fileName)
{
    std::string name = (fs::temp_directory_path() / "trainwright-fuzz-XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr, "there is a temporary folder");
    m_folder = name;
    m_file = m_folder / fileName;
}

InputFolder::~InputFolder()
{
    std::error_code ignored;
    fs::remove_all(m_folder, ignored);
}

const fs::path &InputFolder::hold(const std::uint8_t *data, std::size_t size)
{
    fs::remove(m_file); // a file that is cut and written again is flushed to disk by some file systems
    std::ofstream(m_file, std::ios::binary)
        .write(reinterpret_cast<const char *>(data), static_cast<std::streamsize>(size));
    return m_folder;
}

void requireSound(const Error &error, std::initializer_list<const char *> names)
{
    const bool known =
        std::any_of(names.begin(), names.end(), [&](const char *name) { return error.name == QLatin1String(name); });
    require(known, qPrintable(QStringLiteral("the error's name is known: ") + error.toString()));
    require(!error.sentence().isEmpty(), "the error has a sentence");
}

void requireSound(const StateDict &weights)
{
    unsigned sum = 0;
    for (const TensorBlob &blob : weights) {
        require(!blob.name.empty(), "a tensor has a name");
        require(blob.bytes == static_cast<std::size_t>(blob.elements()) * elementBytes(blob.type),
                "a tensor's bytes are its shape's");
        for (std::size_t i = 0; i < blob.bytes; ++i)
            sum += static_cast<unsigned>(blob.data[i]);
    }
    static volatile unsigned kept;
    kept = sum;
}

} // namespace tw::fuzz
