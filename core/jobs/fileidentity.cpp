// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/fileidentity.h"

#include "core/base/hash.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace tw {

namespace {

class Walk
{
public:
    explicit Walk(const StopToken *stop) : m_stop(stop) {}

    bool take(const std::string &path, const std::string &shown)
    {
        struct stat status = {};
        if (::stat(path.c_str(), &status) != 0)
            return false;
        if (!S_ISDIR(status.st_mode)) {
            addLine(shown, status);
            return true;
        }
        m_folders.push_back({path, shown});
        m_seen.insert({status.st_dev, status.st_ino});
        while (!m_folders.empty())
            if (!listNext())
                return false;
        return true;
    }

    QByteArray hash()
    {
        std::sort(m_lines.begin(), m_lines.end());
        QByteArray all;
        for (const std::string &line : m_lines)
            all.append(line.data(), qsizetype(line.size()));
        return blake2b(all);
    }

private:
    struct Folder
    {
        std::string path, shown;
    };

    bool listNext()
    {
        const Folder folder = std::move(m_folders.back());
        m_folders.pop_back();
        DIR *const listing = ::opendir(folder.path.c_str());
        if (listing == nullptr)
            return false;
        bool goesOn = true;
        while (const dirent *entry = goesOn ? ::readdir(listing) : nullptr) {
            goesOn = m_stop == nullptr || !m_stop->cancel.load(std::memory_order_relaxed);
            const std::string_view name = entry->d_name;
            if (name != "." && name != "..")
                addEntry(folder, ::dirfd(listing), entry->d_name);
        }
        ::closedir(listing);
        return goesOn;
    }

    /// A link that leads nowhere is left out: nothing can be read through it either.
    void addEntry(const Folder &folder, int descriptor, const char *name)
    {
        struct stat status = {};
        if (::fstatat(descriptor, name, &status, 0) != 0)
            return;
        const std::string shown = folder.shown.empty() ? name : folder.shown + '/' + name;
        if (!S_ISDIR(status.st_mode))
            addLine(shown, status);
        else if (m_seen.insert({status.st_dev, status.st_ino}).second)
            m_folders.push_back({folder.path + '/' + name, shown});
    }

    void addLine(const std::string &shown, const struct stat &status)
    {
        std::string line = shown;
        line += '\0';
        for (const long long number :
             {static_cast<long long>(status.st_size), static_cast<long long>(status.st_ino),
              static_cast<long long>(status.st_mtim.tv_sec), static_cast<long long>(status.st_mtim.tv_nsec),
              static_cast<long long>(status.st_ctim.tv_sec), static_cast<long long>(status.st_ctim.tv_nsec)})
            line += ' ' + std::to_string(number);
        m_lines.push_back(line + '\n');
    }

    const StopToken *m_stop;
    std::vector<Folder> m_folders;
    std::set<std::pair<dev_t, ino_t>> m_seen;
    std::vector<std::string> m_lines;
};

} // namespace

QByteArray fileIdentity(const fs::path &path, const StopToken *stop)
{
    Walk walk(stop);
    return walk.take(path.native(), {}) ? walk.hash() : QByteArray();
}

} // namespace tw
