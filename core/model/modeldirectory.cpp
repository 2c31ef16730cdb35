// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/modeldirectory.h"

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/model/mappedfile.h"
#include "core/model/modeljson.h"
#include "core/model/weightsfile.h"

#include "scorescript.h"

#include <array>

namespace tw {

namespace {

/// One class a line: a backslash and line breaks of a name are written \\, \n and \r.
QByteArray labelsText(const std::vector<std::string> &classes)
{
    QByteArray out;
    for (const std::string &name : classes) {
        QByteArray line = QByteArray::fromStdString(name);
        line.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
        out += line + '\n';
    }
    return out;
}

Result<void> writeScoreScript(const fs::path &folder)
{
    TW_TRY(writeFileAtomically(folder / "score.py", QByteArray(scoreScript, sizeof scoreScript - 1)));
    std::error_code ignored; // only a convenience: "python3 score.py" works without it
    fs::permissions(folder / "score.py", fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                    fs::perm_options::add, ignored);
    return {};
}

constexpr std::array fileNames{"model.json", "weights.pth", "weights.safetensors", "labels.txt",
                               "score.py",   "parity.json", "metrics.jsonl",       "pipeline.json"};

Result<void> copyFile(const fs::path &from, const fs::path &to)
{
    std::error_code failure;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, failure);
    if (failure)
        return writeError(to, failure.value());
    return {};
}

Error hashDiffers(const fs::path &file)
{
    return makeError(
        errors::InvalidModelDirectory,
        QT_TRANSLATE_NOOP("Error", "%1 is not the file that model.json was written for: its SHA-256 differs."),
        {displayPath(file)},
        QT_TRANSLATE_NOOP("Error", "The file was changed or damaged; copy the whole model directory again."));
}

/// A sentence where the file is not there or not the one of that hash; empty: none is stated.
Result<void> addDifference(const fs::path &folder, const char *name, const QByteArray &expected, QStringList &warnings)
{
    if (expected.isEmpty())
        return {};
    std::error_code unknown;
    if (!fs::exists(folder / name, unknown)) {
        warnings += QStringLiteral("model.json states a %1, which is not there.").arg(QLatin1String(name));
        return {};
    }
    TW_ASSIGN(found, sha256OfFile(folder / name, errors::InvalidModelDirectory));
    if (found != expected)
        warnings += QStringLiteral("%1 is not the file that model.json was written for: its SHA-256 is %2, "
                                   "stated is %3.")
                        .arg(QLatin1String(name), QString::fromLatin1(found), QString::fromLatin1(expected));
    return {};
}

} // namespace

Result<void> writeModelDirectory(const fs::path &folder, const ModelInfo &info, const StateDict &weights,
                                 const ModelDirectoryExtras &extras)
{
    const unsigned before = MappedFile::lost(); // the weights may lie in a file that somebody else writes
    const Result<void> written = writePth(folder / "weights.pth", weights);
    TW_TRY(MappedFile::checkNothingLost(before, QStringLiteral("The file of the weights")));
    TW_TRY(written);
    TW_TRY(writeSafetensors(folder / "weights.safetensors", weights));
    WeightsHashes hashes;
    TW_ASSIGN(pth, sha256OfFile(folder / "weights.pth", errors::FailedToWriteOutputs));
    TW_ASSIGN(safetensors, sha256OfFile(folder / "weights.safetensors", errors::FailedToWriteOutputs));
    hashes.pth = pth;
    hashes.safetensors = safetensors;
    TW_TRY(writeFileAtomically(folder / "labels.txt", labelsText(info.classes)));
    TW_TRY(writeScoreScript(folder));
    if (!extras.metricsFile.empty())
        TW_TRY(copyFile(extras.metricsFile, folder / "metrics.jsonl"));
    if (!extras.pipeline.isEmpty())
        TW_TRY(writeFileAtomically(folder / "pipeline.json", extras.pipeline));
    return writeFileAtomically(folder / "model.json", modelJson(info, hashes));
}

bool isModelDirectory(const fs::path &folder)
{
    std::error_code unknown;
    return fs::is_regular_file(folder / "model.json", unknown);
}

Result<fs::path> modelWeightsFile(const fs::path &folder)
{
    std::error_code unknown;
    for (const char *name : {"weights.safetensors", "weights.pth"}) {
        if (fs::exists(folder / name, unknown))
            return folder / name;
    }
    return makeError(errors::InvalidModelDirectory,
                     QT_TRANSLATE_NOOP("Error", "%1 holds neither weights.safetensors nor weights.pth."),
                     {displayPath(folder)}, QT_TRANSLATE_NOOP("Error", "Copy the whole model directory again."));
}

Result<StateDict> readModelWeights(const fs::path &folder, QStringList *others)
{
    TW_ASSIGN(hashes, readWeightsHashes(folder));
    TW_ASSIGN(file, modelWeightsFile(folder));
    const bool isPth = file.extension() == ".pth";
    const QByteArray &expected = isPth ? hashes.pth : hashes.safetensors;
    if (!expected.isEmpty()) {
        TW_ASSIGN(found, sha256OfFile(file, errors::InvalidModelDirectory));
        if (found != expected)
            return hashDiffers(file);
    }
    if (others)
        TW_TRY(addDifference(folder, isPth ? "weights.safetensors" : "weights.pth",
                             isPth ? hashes.safetensors : hashes.pth, *others));
    return readWeights(file);
}

Result<QStringList> checkModelHashes(const fs::path &folder)
{
    TW_ASSIGN(hashes, readWeightsHashes(folder));
    QStringList warnings;
    TW_TRY(addDifference(folder, "weights.pth", hashes.pth, warnings));
    TW_TRY(addDifference(folder, "weights.safetensors", hashes.safetensors, warnings));
    return warnings;
}

Result<void> copyModelDirectory(const fs::path &from, const fs::path &to)
{
    std::error_code unknown;
    for (const char *name : fileNames) {
        if (fs::is_regular_file(from / name, unknown))
            TW_TRY(copyFile(from / name, to / name));
    }
    return {};
}

} // namespace tw
