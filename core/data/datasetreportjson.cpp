// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/datasetreport.h"

#include "core/base/json.h"

#include <QJsonArray>

namespace tw {

namespace {

QByteArray number(std::int64_t value)
{
    return QByteArray::number(qlonglong(value));
}

QByteArray nameJson(const std::string &name)
{
    return jsonCompact(pathToJson(fs::path(name)));
}

QByteArray truth(bool value)
{
    return value ? "true" : "false";
}

template <typename Items, typename Text> QByteArray listJson(const Items &items, const Text &text)
{
    QByteArray out;
    for (const auto &item : items)
        out += (out.isEmpty() ? "" : ",") + text(item);
    return '[' + out + ']';
}

QByteArray namesJson(const std::vector<std::string> &names)
{
    return listJson(names, nameJson);
}

QByteArray classesJson(const DatasetStatistics &statistics)
{
    return listJson(statistics.classes, [](const auto &entry) {
        return jsonObjectLine({{"name", nameJson(entry.first)}, {"count", number(entry.second)}});
    });
}

QByteArray spreadJson(const Spread &spread)
{
    return jsonObjectLine(
        {{"min", number(spread.least)}, {"median", number(spread.median)}, {"max", number(spread.largest)}});
}

QByteArray sizesJson(const DatasetStatistics &statistics)
{
    if (statistics.measured == 0)
        return "null";
    return jsonObjectLine({{"width", spreadJson(statistics.width)},
                           {"height", spreadJson(statistics.height)},
                           {"different", number(statistics.differentSizes)},
                           {"common", listJson(statistics.sizes, [](const DatasetStatistics::Size &size) {
                                return jsonObjectLine({{"width", number(size.width)},
                                                       {"height", number(size.height)},
                                                       {"images", number(size.images)}});
                            })}});
}

QByteArray tripleJson(const std::optional<std::array<double, 3>> &values)
{
    return values ? listJson(*values, [](double value) { return jsonNumber(value, 9); }) : "null";
}

QByteArray pictureJson(const DatasetReport &report, const ImageManifest &set, PictureRef picture)
{
    const int category = set.category(picture.index);
    QByteArray text = "{\"path\":" + nameJson(report.pathOf(picture))
                      + ",\"class\":" + (category < 0 ? "null" : nameJson(set.categories[std::size_t(category)]));
    if (report.parts().size() > 1)
        text += ",\"part\":" + jsonString(report.parts()[picture.set].name);
    return text + '}';
}

QByteArray groupJson(const DatasetReport &report, const std::vector<ManifestPtr> &sets, const CopyGroup &group)
{
    return jsonObjectLine({{"images", number(group.size)},
                           {"several_labels", truth(group.severalLabels)},
                           {"leak", truth(group.acrossSets)},
                           {"pictures", listJson(group.pictures, [&](PictureRef picture) {
                                return pictureJson(report, *sets[picture.set], picture);
                            })}});
}

QByteArray pairJson(const DatasetReport &report, const std::vector<ManifestPtr> &sets, const NearPair &pair)
{
    return jsonObjectLine({{"bits", number(pair.bits)},
                           {"several_labels", truth(pair.severalLabels)},
                           {"leak", truth(pair.acrossSets)},
                           {"first", pictureJson(report, *sets[pair.first.set], pair.first)},
                           {"second", pictureJson(report, *sets[pair.second.set], pair.second)}});
}

QByteArray partJson(const DatasetReport::Part &part)
{
    return jsonObjectLine({{"name", jsonString(part.name)},
                           {"root", jsonCompact(pathToJson(part.root))},
                           {"images", number(part.statistics.images)},
                           {"unlabelled", number(part.statistics.unlabelled)},
                           {"classes", classesJson(part.statistics)}});
}

QByteArray notesMembers(const DataReport &notes)
{
    return ",\"unreadable\":"
           + listJson(notes.unreadable,
                      [](const UnreadableImage &image) {
                          return jsonObjectLine({{"path", nameJson(image.path)},
                                                 {"reason", jsonString(QString::fromStdString(image.reason))}});
                      })
           + ",\"ignored\":" + namesJson(notes.ignoredFiles) + ",\"skipped_folders\":" + namesJson(notes.skippedFolders)
           + ",\"empty_classes\":" + namesJson(notes.emptyClasses) + ",\"warnings\":"
           + listJson(notes.warnings, [](const std::string &text) { return jsonString(QString::fromStdString(text)); });
}

} // namespace

QByteArray DatasetReport::jsonMembers(std::size_t part) const
{
    const DatasetStatistics &statistics = m_parts[part].statistics;
    const Duplicates &found = m_duplicates;
    QByteArray text =
        ",\"unlabelled\":" + number(statistics.unlabelled) + ",\"measured\":" + number(statistics.measured)
        + ",\"sizes\":" + sizesJson(statistics) + ",\"formats\":" + listJson(statistics.formats, [](const auto &entry) {
              return jsonObjectLine({{"format", jsonString(entry.first)}, {"images", number(entry.second)}});
          });
    text += ",\"mean_rgb\":" + tripleJson(statistics.mean) + ",\"std_rgb\":" + tripleJson(statistics.deviation);
    text += ",\"duplicates\":"
            + jsonObjectLine({{"groups", number(found.exactGroups)},
                              {"surplus", number(found.exactSurplus)},
                              {"several_labels", number(found.exactSeveralLabels)},
                              {"listed", listJson(found.groups, [&](const CopyGroup &group) {
                                   return groupJson(*this, m_sets, group);
                               })}});
    text +=
        ",\"near_duplicates\":"
        + jsonObjectLine(
            {{"pairs", number(found.nearPairs)},
             {"several_labels", number(found.nearSeveralLabels)},
             {"compared", number(found.compared)},
             {"left_out", number(found.leftOut)},
             {"cut_short", truth(found.cutShort)},
             {"listed", listJson(found.pairs, [&](const NearPair &pair) { return pairJson(*this, m_sets, pair); })}});
    if (m_parts.size() < 2)
        return text;
    return text + ",\"parts\":" + listJson(m_parts, partJson) + ",\"leakage\":"
           + jsonObjectLine({{"from", jsonString(m_parts[0].name)},
                             {"into", jsonString(m_parts[1].name)},
                             {"exact", number(found.exactLeaks)},
                             {"near", number(found.nearLeaks)},
                             {"images", number(m_parts[1].statistics.images)}});
}

QByteArray DatasetReport::toJson(const DataReport &notes, std::size_t part) const
{
    const DatasetStatistics &statistics = m_parts[part].statistics;
    QByteArray text = "{\"format\":\"trainwright-data-report\",\"version\":1,\"images\":" + number(statistics.images)
                      + ",\"classes\":" + classesJson(statistics);
    if (m_parts.size() > 1)
        text += ",\"part\":" + jsonString(m_parts[part].name);
    return text + jsonMembers(part) + notesMembers(notes) + "}\n";
}

} // namespace tw
