// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/folderrules.h"
#include "core/data/sourcescans.h"

#include <QCoreApplication>

#include <algorithm>
#include <set>

namespace tw {

namespace {

std::string_view lastPart(std::string_view path)
{
    return path.substr(path.rfind('/') + 1);
}

bool isInSkippedFolder(std::string_view path)
{
    for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
        if (isSkippedFolder(path.substr(0, slash)))
            return true;
        path.remove_prefix(slash + 1);
    }
    return false;
}

/// What lies directly in a folder of the archive; hidden and tool entries do not count.
struct Contents
{
    std::set<std::string, std::less<>> folders;
    bool hasFiles = false;
    bool hasPictures = false;
    bool exists = false;
};

Contents contentsOf(const ArchiveIndex &index, const std::string &prefix)
{
    Contents contents;
    contents.exists = prefix.empty();
    const auto take = [&](std::string_view path, bool isFile) {
        if (!path.starts_with(prefix))
            return;
        contents.exists = true;
        path.remove_prefix(prefix.size());
        const std::size_t slash = path.find('/');
        const std::string_view first = path.substr(0, slash);
        if (slash != std::string_view::npos || !isFile) {
            if (!first.empty() && !isSkippedFolder(first) && !contents.folders.contains(first))
                contents.folders.emplace(first);
        } else if (!first.starts_with('.')) {
            contents.hasFiles = true;
            contents.hasPictures = contents.hasPictures || isPictureName(first);
        }
    };
    for (const ArchiveMember &member : index.files)
        take(member.path, true);
    for (const std::string &folder : index.folders)
        take(folder + '/', false);
    return contents;
}

/// Down through folders that hold one folder and nothing else. Where that ends in a folder of
/// pictures, one step back: the single class keeps its name.
std::string descend(const ArchiveIndex &index, std::string prefix)
{
    std::string above = prefix;
    for (;;) {
        const Contents contents = contentsOf(index, prefix);
        if (contents.hasFiles || contents.folders.size() != 1)
            return contents.hasPictures && contents.folders.empty() ? above : prefix;
        above = prefix;
        prefix += *contents.folders.begin() + '/';
    }
}

Result<std::string> chosenFolder(const fs::path &file, const ArchiveIndex &index, const std::string &subfolder)
{
    if (subfolder.empty())
        return descend(index, {});
    const std::optional<std::string> inside = memberPath(subfolder);
    const std::string root = descend(index, {});
    if (inside)
        for (const std::string &prefix : {std::string(), root}) {
            const std::string folder = inside->empty() ? prefix : prefix + *inside + '/';
            if (contentsOf(index, folder).exists)
                return descend(index, folder);
        }
    return missingSubfolder(file, subfolder);
}

QString problemText(const ArchiveMember &member)
{
    switch (member.problem) {
    case MemberProblem::Encrypted:
        return QStringLiteral("it is encrypted");
    case MemberProblem::Method:
        return QStringLiteral("it is compressed by method %1, which is not read").arg(member.method);
    case MemberProblem::Sparse:
        return QStringLiteral("it is stored as a sparse file, which is not read");
    case MemberProblem::Claim:
        return QStringLiteral("it claims %1 bytes, of %2 in the archive").arg(member.bytes).arg(member.packedBytes);
    case MemberProblem::None:
        break;
    }
    return {};
}

Result<void> takeFiles(const fs::path &file, const ArchiveIndex &index, const std::string &prefix, PictureTree &tree,
                       DataReport &report)
{
    std::set<std::string> skipped;
    const ArchiveMember *before = nullptr;
    for (const ArchiveMember &member : index.files) {
        const std::string_view path = member.path;
        if (!path.starts_with(prefix))
            continue;
        if (const std::string_view below = path.substr(prefix.size()); isInSkippedFolder(below)) {
            skipped.emplace(path.substr(0, prefix.size() + below.find('/')));
            continue;
        }
        if (!isPictureName(lastPart(path))) {
            report.ignoredFiles.push_back(member.path);
            continue;
        }
        if (const QString problem = problemText(member); !problem.isEmpty())
            return memberError(file, path, problem);
        if (before && before->path == member.path)
            return memberError(file, path, QStringLiteral("it is there twice"));
        before = &member;
        tree.pictures.push_back({member.path, member.bytes, index.mtimeNs});
    }
    report.skippedFolders.assign(skipped.begin(), skipped.end());
    for (const std::string &name : index.ignored)
        if (name.starts_with(prefix)) {
            report.ignoredFiles.push_back(name);
            report.warnings.push_back("\"" + name + "\" is a link out of the archive or no file, and was left out.");
        }
    return {};
}

} // namespace

Error missingSubfolder(const fs::path &data, const std::string &subfolder)
{
    return makeError(errors::InvalidDataset, QT_TRANSLATE_NOOP("Error", "There is no folder '%2' in \"%1\"."),
                     {displayPath(data), displayPath(fs::path(subfolder))},
                     QT_TRANSLATE_NOOP("Error", "Give a path inside the data set, such as train."))
        .atParameter(QStringLiteral("subfolder"));
}

Result<ScanResult> scanArchive(const fs::path &file, ArchiveKind kind, const ScanOptions &options,
                               const StopToken *stop, const std::function<void(std::int64_t)> &progress)
{
    std::error_code unknown;
    const fs::path absolute = fs::absolute(file, unknown).lexically_normal();
    TW_ASSIGN(index, archiveIndex(absolute, kind, stop));
    TW_ASSIGN(prefix, chosenFolder(file, *index, options.subfolder));
    ScanResult scan;
    scan.manifest.storage = kind == ArchiveKind::Zip ? ImageManifest::Storage::Zip : ImageManifest::Storage::Tar;
    scan.manifest.root = absolute;
    PictureTree tree;
    tree.rootBytes = prefix.size();
    TW_TRY(takeFiles(file, *index, prefix, tree, scan.report));
    const Contents contents = contentsOf(*index, prefix);
    tree.folders.assign(contents.folders.begin(), contents.folders.end());
    TW_TRY(classifyTree(std::move(tree), prefix.empty() ? file : file / prefix, options, scan));
    if (progress)
        progress(std::int64_t(scan.manifest.size()));
    return scan;
}

} // namespace tw
