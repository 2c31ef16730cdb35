// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/weightsfile.h"

#include "core/model/mappedfile.h"
#include "core/model/pthformats.h"

#include <QString>

#include <algorithm>
#include <array>
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

/// Protocol byte of a pickle that lies in none of torch.save's containers.
bool isBarePickle(std::string_view head)
{
    return head.size() > 2 && head[0] == '\x80' && head[1] >= 1 && head[1] <= 5;
}

struct Signature
{
    std::string_view bytes;
    const char *what;
};

/// Files that people choose by mistake, told by their first bytes.
const char *otherKind(std::string_view head)
{
    constexpr std::array signatures{Signature{"\x89HDF\r\n", "an HDF5 file (Keras)"},
                                    Signature{"\x93NUMPY", "a NumPy array"},
                                    Signature{"\x89PNG", "a picture"},
                                    Signature{"\xff\xd8\xff", "a picture"},
                                    Signature{"\x1f\x8b", "a gzip archive"},
                                    Signature{"BZh", "a bzip2 archive"},
                                    Signature{"%PDF", "a PDF document"},
                                    Signature{"GGUF", "a GGUF file"},
                                    Signature{"\x7f"
                                              "ELF",
                                              "a program or library"},
                                    Signature{"SQLite format 3", "an SQLite database"}};
    for (const Signature &signature : signatures) {
        if (head.starts_with(signature.bytes))
            return signature.what;
    }
    const auto isText = [](unsigned char c) { return c >= 0x20 ? c != 0x7f : c == '\t' || c == '\n' || c == '\r'; };
    return std::all_of(head.begin(), head.end(), isText) ? "a text file" : nullptr;
}

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
    if (isBarePickle(head))
        return notWeights(
            file, QT_TRANSLATE_NOOP("Error", "%1 is a pickle that torch.save did not write."),
            QT_TRANSLATE_NOOP("Error",
                              "Load it in Python and save it again: torch.save(state_dict, \"weights.pth\")."));
    if (const char *kind = otherKind(head))
        return makeError(
            errors::InvalidModelDirectory, QT_TRANSLATE_NOOP("Error", "%1 looks like %2, not like weights."),
            {displayPath(file), QString::fromLatin1(kind)},
            QT_TRANSLATE_NOOP("Error", "Choose a model directory, a .pth or .pt file that "
                                       "torch.save(model.state_dict(), …) wrote, or a .safetensors file."));
    return readSafetensors(file, report);
}

} // namespace

Result<StateDict> readWeights(const fs::path &file, WeightsReport *report)
{
    const unsigned before = MappedFile::lost();
    std::string head;
    {
        TW_ASSIGN(mapping, MappedFile::open(file));
        const auto bytes = mapping->bytes().first(std::min<std::size_t>(mapping->bytes().size(), 512));
        head.assign(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    }
    Result<StateDict> weights =
        pthFormat(head) == PthFormat::None ? readSafetensorsOrExplain(file, head, report) : readPth(file, report);
    TW_TRY(MappedFile::checkNothingLost(before, displayPath(file)));
    return weights;
}

} // namespace tw
