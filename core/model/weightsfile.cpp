// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/weightsfile.h"

#include "core/model/mappedfile.h"

#include <QString>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tw {

namespace {

Error notWeights(const fs::path &file, const char *text, const char *hint)
{
    return makeError(errors::InvalidModelDirectory, text, {displayPath(file)}, hint);
}

bool isWebPage(std::string_view head)
{
    std::string start(head.substr(0, 256));
    std::transform(start.begin(), start.end(), start.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::size_t first = start.find_first_not_of(" \t\r\n");
    const std::string_view text =
        first == std::string::npos ? std::string_view() : std::string_view(start).substr(first);
    return text.starts_with("<!doctype") || text.starts_with("<html") || text.starts_with("<?xml");
}

/// Protocol byte of a pickle that does not lie in a zip: the format before PyTorch 1.6, or any pickle.
bool isBarePickle(std::string_view head)
{
    return head.size() > 2 && head[0] == '\x80' && head[1] >= 1 && head[1] <= 5;
}

constexpr std::string_view legacyMagic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";

Result<StateDict> readSafetensorsOrExplain(const fs::path &file, std::string_view head, WeightsReport *report)
{
    if (head.empty())
        return notWeights(file, QT_TRANSLATE_NOOP("Error", "%1 is empty."),
                          QT_TRANSLATE_NOOP("Error", "Copy or download the file again."));
    if (head.starts_with("version https://git-lfs"))
        return notWeights(file, QT_TRANSLATE_NOOP("Error", "%1 is a Git LFS pointer, not the weights themselves."),
                          QT_TRANSLATE_NOOP("Error", "Run “git lfs pull” where the file comes from."));
    if (isWebPage(head))
        return notWeights(file, QT_TRANSLATE_NOOP("Error", "%1 is a web page, not a weights file."),
                          QT_TRANSLATE_NOOP("Error", "Download the file itself, not the page about it."));
    if (isBarePickle(head)) {
        const bool legacy = head.substr(2).starts_with(legacyMagic);
        return notWeights(
            file,
            legacy ? QT_TRANSLATE_NOOP("Error", "%1 has the format that PyTorch wrote before version 1.6.")
                   : QT_TRANSLATE_NOOP("Error", "%1 is a pickle without the zip that torch.save puts around it."),
            QT_TRANSLATE_NOOP("Error",
                              "Load it in Python and save it again: torch.save(state_dict, \"weights.pth\")."));
    }
    return readSafetensors(file, report);
}

} // namespace

Result<StateDict> readWeights(const fs::path &file, WeightsReport *report)
{
    std::string head;
    {
        TW_ASSIGN(mapping, MappedFile::open(file));
        const auto bytes = mapping->bytes().first(std::min<std::size_t>(mapping->bytes().size(), 512));
        head.assign(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    }
    const bool zip = head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06");
    if (zip)
        return readPth(file, report);
    return readSafetensorsOrExplain(file, head, report);
}

} // namespace tw
