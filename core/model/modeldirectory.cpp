// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/modeldirectory.h"

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/model/modeljson.h"
#include "core/model/weightsfile.h"

#include "scorescript.h"

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

Result<void> copyMetrics(const fs::path &from, const fs::path &folder)
{
    if (from.empty())
        return {};
    std::error_code failure;
    fs::copy_file(from, folder / "metrics.jsonl", fs::copy_options::overwrite_existing, failure);
    if (failure)
        return writeError(folder / "metrics.jsonl", failure.value());
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

} // namespace

Result<void> writeModelDirectory(const fs::path &folder, const ModelInfo &info, const StateDict &weights,
                                 const ModelDirectoryExtras &extras)
{
    TW_TRY(writePth(folder / "weights.pth", weights));
    TW_TRY(writeSafetensors(folder / "weights.safetensors", weights));
    WeightsHashes hashes;
    TW_ASSIGN(pth, sha256OfFile(folder / "weights.pth", errors::FailedToWriteOutputs));
    TW_ASSIGN(safetensors, sha256OfFile(folder / "weights.safetensors", errors::FailedToWriteOutputs));
    hashes.pth = pth;
    hashes.safetensors = safetensors;
    TW_TRY(writeFileAtomically(folder / "labels.txt", labelsText(info.classes)));
    TW_TRY(writeScoreScript(folder));
    TW_TRY(copyMetrics(extras.metricsFile, folder));
    if (!extras.pipeline.isEmpty())
        TW_TRY(writeFileAtomically(folder / "pipeline.json", extras.pipeline));
    return writeFileAtomically(folder / "model.json", modelJson(info, hashes));
}

Result<StateDict> readModelWeights(const fs::path &folder)
{
    TW_ASSIGN(hashes, readWeightsHashes(folder));
    const bool mapped = fs::exists(folder / "weights.safetensors");
    const fs::path file = folder / (mapped ? "weights.safetensors" : "weights.pth");
    if (!fs::exists(file))
        return makeError(errors::InvalidModelDirectory,
                         QT_TRANSLATE_NOOP("Error", "%1 holds neither weights.safetensors nor weights.pth."),
                         {displayPath(folder)}, QT_TRANSLATE_NOOP("Error", "Copy the whole model directory again."));
    const QByteArray &expected = mapped ? hashes.safetensors : hashes.pth;
    if (!expected.isEmpty()) {
        TW_ASSIGN(found, sha256OfFile(file, errors::InvalidModelDirectory));
        if (found != expected)
            return hashDiffers(file);
    }
    return readWeights(file);
}

} // namespace tw
