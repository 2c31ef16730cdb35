// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/datatext.h"

#include "core/component/portobjects.h"

#include <algorithm>

namespace tw::cli {

namespace {

constexpr std::size_t listedClasses = 100, listedNames = 20;
constexpr qsizetype labelWidth = 18, countWidth = 12, longestName = 40;

QString nameOf(const std::string &name)
{
    QString text = QString::fromStdString(name);
    for (QChar &c : text)
        if (c.category() == QChar::Other_Control)
            c = u' ';
    return text;
}

QByteArray row(const char *label, const QString &value)
{
    return QByteArray(label).leftJustified(labelWidth) + value.toUtf8() + '\n';
}

QByteArray indented(const QString &text)
{
    return "  " + text.toUtf8() + '\n';
}

QString counted(std::int64_t count, const char *one, const char *many)
{
    return groupedNumber(count) + u' ' + QLatin1String(count == 1 ? one : many);
}

QByteArray more(std::size_t all, std::size_t shown)
{
    return all > shown ? indented(QStringLiteral("and %1 more").arg(groupedNumber(qint64(all - shown)))) : QByteArray();
}

QString share(std::int64_t count, std::int64_t all)
{
    return all > 0 ? QString::number(100.0 * double(count) / double(all), 'f', 1) + QStringLiteral(" %") : QString();
}

QByteArray classTable(const DatasetReport &report)
{
    const auto &parts = report.parts();
    const auto &classes = parts[0].statistics.classes;
    qsizetype width = 5;
    const std::size_t shown = std::min(classes.size(), listedClasses);
    for (std::size_t i = 0; i < shown; ++i)
        width = std::clamp<qsizetype>(nameOf(classes[i].first).size(), width, longestName);
    const auto line = [&](const QString &name, const QStringList &cells) {
        QString text = QStringLiteral("  ") + name.leftJustified(width);
        for (const QString &cell : cells)
            text += cell.rightJustified(countWidth);
        return text.toUtf8() + '\n';
    };
    QByteArray text = line(QStringLiteral("Class"),
                           parts.size() > 1 ? QStringList{parts[0].name, parts[1].name}
                                            : QStringList{QStringLiteral("Images"), QStringLiteral("Share")});
    for (std::size_t i = 0; i < shown; ++i) {
        QStringList cells{groupedNumber(classes[i].second)};
        if (parts.size() > 1) {
            const auto &others = parts[1].statistics.classes;
            const auto other = std::find_if(others.begin(), others.end(),
                                            [&](const auto &entry) { return entry.first == classes[i].first; });
            cells.append(other == others.end() ? QStringLiteral("-") : groupedNumber(other->second));
        } else {
            cells.append(share(classes[i].second, parts[0].statistics.images));
        }
        text += line(nameOf(classes[i].first), cells);
    }
    return text + more(classes.size(), shown);
}

QString spreadText(const Spread &spread)
{
    return spread.least == spread.largest
               ? QString::number(spread.least)
               : QStringLiteral("%1 to %2, median %3").arg(spread.least).arg(spread.largest).arg(spread.median);
}

QString triple(const std::array<double, 3> &values)
{
    QStringList text;
    for (const double value : values)
        text.append(QString::number(value, 'f', 4));
    return text.join(QStringLiteral("  "));
}

QByteArray factsText(const DatasetStatistics &statistics)
{
    if (statistics.measured == 0)
        return {};
    QByteArray text = row("Width", spreadText(statistics.width)) + row("Height", spreadText(statistics.height));
    QStringList sizes, formats;
    for (std::size_t i = 0; i < std::min<std::size_t>(statistics.sizes.size(), 3); ++i)
        sizes.append(QStringLiteral("%1 × %2 (%3)")
                         .arg(statistics.sizes[i].width)
                         .arg(statistics.sizes[i].height)
                         .arg(groupedNumber(statistics.sizes[i].images)));
    if (statistics.differentSizes > 3)
        sizes.append(QStringLiteral("and %1 more").arg(groupedNumber(statistics.differentSizes - 3)));
    for (const auto &[format, images] : statistics.formats)
        formats.append(QStringLiteral("%1 (%2)").arg(format, groupedNumber(images)));
    text += row("Sizes", sizes.join(QStringLiteral(", "))) + row("Formats", formats.join(QStringLiteral(", ")));
    if (statistics.mean)
        text += row("Mean R G B", triple(*statistics.mean)) + row("Std R G B", triple(*statistics.deviation));
    return text;
}

QByteArray partText(const DatasetReport::Part &part)
{
    const DatasetStatistics &statistics = part.statistics;
    QString head = counted(statistics.images, "image", "images");
    head += statistics.classes.empty()
                ? QStringLiteral(", no labels")
                : QStringLiteral(", ") + counted(qint64(statistics.classes.size()), "class", "classes");
    const QString name =
        part.name.isEmpty() ? displayPath(part.root) : part.name + QStringLiteral(": ") + displayPath(part.root);
    return name.toUtf8() + '\n' + head.toUtf8() + "\n\n";
}

template <typename Items, typename Text> QByteArray list(const char *label, const Items &items, const Text &text)
{
    if (items.empty())
        return {};
    QByteArray out = row(label, groupedNumber(qint64(items.size())));
    for (std::size_t i = 0; i < std::min(items.size(), listedNames); ++i)
        out += indented(text(items[i]));
    return out + more(items.size(), listedNames);
}

QByteArray notesText(const DataReport &notes)
{
    return list("Unreadable", notes.unreadable,
                [](const UnreadableImage &image) {
                    return nameOf(image.path) + QStringLiteral(": ") + nameOf(image.reason);
                })
           + list("Ignored files", notes.ignoredFiles, nameOf) + list("Skipped folders", notes.skippedFolders, nameOf)
           + list("Empty classes", notes.emptyClasses, nameOf) + list("Warnings", notes.warnings, nameOf);
}

class PictureNames
{
public:
    explicit PictureNames(const DatasetReport &report) : m_report(report) {}
    QString operator()(PictureRef picture) const
    {
        const auto &part = m_report.parts()[picture.set];
        return nameOf(m_report.pathOf(picture))
               + (part.name.isEmpty() ? QString() : QStringLiteral(" [%1]").arg(part.name));
    }
    QByteArray line(const QStringList &pictures, const QString &between, bool severalLabels) const
    {
        return indented(pictures.join(between) + (severalLabels ? QStringLiteral("  (two labels)") : QString()));
    }

private:
    const DatasetReport &m_report;
};

const QString withLabels = QStringLiteral(", %1 with several labels");

QByteArray exactCopiesText(const Duplicates &found, const PictureNames &name)
{
    if (found.exactGroups == 0)
        return row("Exact copies", QStringLiteral("none"));
    QByteArray text = row("Exact copies", counted(found.exactSurplus, "picture", "pictures")
                                              + withLabels.arg(counted(found.exactSeveralLabels, "group", "groups")));
    for (std::size_t i = 0; i < std::min(found.groups.size(), listedNames); ++i) {
        const CopyGroup &group = found.groups[i];
        QStringList pictures;
        for (const PictureRef &picture : group.pictures)
            pictures.append(name(picture));
        if (group.size > std::int64_t(group.pictures.size()))
            pictures.append(QStringLiteral("…"));
        text += name.line(pictures, QStringLiteral("  =  "), group.severalLabels);
    }
    return text + more(std::size_t(found.exactGroups), listedNames);
}

QByteArray duplicatesText(const DatasetReport &report)
{
    const Duplicates &found = report.duplicates();
    const PictureNames name(report);
    QByteArray text = exactCopiesText(found, name);
    if (found.compared == 0)
        return text;
    if (found.nearPairs == 0)
        return text + row("Near copies", QStringLiteral("none"));
    text += row("Near copies", counted(found.nearPairs, "pair", "pairs") + withLabels.arg(found.nearSeveralLabels));
    for (std::size_t i = 0; i < std::min(found.pairs.size(), listedNames); ++i) {
        const NearPair &pair = found.pairs[i];
        text += name.line({name(pair.first), name(pair.second)}, QStringLiteral("  ~  "), pair.severalLabels);
    }
    text += more(std::size_t(found.nearPairs), listedNames);
    if (found.cutShort)
        text += indented(QStringLiteral("Very many pictures are alike: not all of them were compared."));
    return text;
}

} // namespace

QByteArray datasetText(const DatasetReport &report, const std::vector<DataReport> &notes)
{
    QByteArray text;
    for (const DatasetReport::Part &part : report.parts())
        text += partText(part);
    if (!report.parts()[0].statistics.classes.empty())
        text += classTable(report) + '\n';
    for (std::size_t i = 0; i < report.parts().size(); ++i) {
        const DatasetReport::Part &part = report.parts()[i];
        if (!part.name.isEmpty())
            text += part.name.toUtf8() + '\n';
        text += factsText(part.statistics) + notesText(notes[i]) + (part.name.isEmpty() ? "" : "\n");
    }
    text += duplicatesText(report);
    if (report.parts().size() < 2)
        return text;
    const QStringList leaks = report.leakSentences(QStringLiteral("training set"), QStringLiteral("validation set"));
    for (const QString &leak : leaks)
        text += "Leakage: " + leak.toUtf8() + '\n';
    return leaks.isEmpty() ? text + row("Leakage", QStringLiteral("none found")) : text;
}

} // namespace tw::cli
