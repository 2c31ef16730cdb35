// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/scoringsupport.h"

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/data/datasetscan.h"
#include "core/data/idxfile.h"

#include <algorithm>
#include <array>

#include <unistd.h>

namespace tw::cli {

namespace {

constexpr qint64 progressIntervalMs = 100;

bool isDataset(const fs::path &path)
{
    static constexpr std::array endings{".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2"};
    std::error_code unknown;
    if (fs::is_directory(path, unknown) || isIdxImagesName(path.filename().native()))
        return true;
    std::string name = path.filename().native();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return std::any_of(endings.begin(), endings.end(), [&](std::string_view end) { return name.ends_with(end); });
}

PictureSource filesSource(std::vector<fs::path> files)
{
    ImageManifest manifest;
    manifest.root = "/";
    for (const fs::path &file : files) {
        std::error_code unknown;
        const std::string place = fs::absolute(file, unknown).native();
        manifest.add(std::string_view(place).substr(std::min<std::size_t>(1, place.size())), -1, 0, 0);
    }
    return {std::make_shared<const ImageManifest>(std::move(manifest)), {}, std::move(files)};
}

} // namespace

fs::path PictureSource::shownPath(std::size_t sample) const
{
    return files.empty() ? shown / std::string(manifest->path(sample)) : files[sample];
}

std::string_view PictureSource::category(std::size_t sample) const
{
    const int id = manifest->category(sample);
    return id < 0 ? std::string_view() : manifest->categories[std::size_t(id)];
}

Result<std::vector<PictureSource>> picturesOf(const QList<QByteArray> &words, const StopToken &stop)
{
    std::vector<PictureSource> sources;
    std::vector<fs::path> files;
    const auto closeFiles = [&] {
        if (!files.empty())
            sources.push_back(filesSource(std::exchange(files, {})));
    };
    for (const QByteArray &word : words) {
        const fs::path path = pathFromBytes(word);
        if (!isDataset(path)) {
            files.push_back(path);
            continue;
        }
        closeFiles();
        TW_ASSIGN(scan, scanDataset(path, ScanOptions{true, {}}, &stop));
        sources.push_back({std::make_shared<const ImageManifest>(std::move(scan.manifest)), path, {}});
    }
    closeFiles();
    return sources;
}

ProgressLine::ProgressLine(std::int64_t total, const char *verb)
    : m_total(total), m_verb(verb), m_isOn(isTerminal(STDERR_FILENO))
{
}

void ProgressLine::show(std::int64_t done, double imagesPerSecond)
{
    if (!m_isOn || (m_last.isValid() && m_last.elapsed() < progressIntervalMs))
        return;
    m_last.start();
    m_isShown = true;
    writeError("\r\033[K"
               + QStringLiteral("%1 %2 of %3 · %4 images/s")
                     .arg(QLatin1String(m_verb))
                     .arg(done)
                     .arg(m_total)
                     .arg(imagesPerSecond, 0, 'f', 0)
                     .toUtf8());
}

void ProgressLine::clear()
{
    if (std::exchange(m_isShown, false))
        writeError("\r\033[K");
}

int failWith(const Error &error)
{
    if (error.name == QLatin1String(errors::Canceled))
        return exitCanceled;
    printError(error);
    return exitFailed;
}

} // namespace tw::cli
