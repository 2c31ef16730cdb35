// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/transforms.h"

#include <QCoreApplication>
#include <QJsonObject>

#include <array>
#include <cmath>

namespace tw {

namespace {

using Kind = TransformOp::Kind;

struct OpName
{
    Kind kind;
    const char *id;
    const char *sizeKey; // nullptr: no size
    int smallestSize;
};
constexpr std::array<OpName, 8> OpNames{{{Kind::Resize, "resize", "size", 1},
                                         {Kind::CenterCrop, "center_crop", "size", 1},
                                         {Kind::Pad, "pad", "padding", 0},
                                         {Kind::Grayscale, "grayscale", nullptr, 0},
                                         {Kind::RandomResizedCrop, "random_resized_crop", "size", 1},
                                         {Kind::RandomCrop, "random_crop", "size", 1},
                                         {Kind::RandomHorizontalFlip, "random_horizontal_flip", nullptr, 0},
                                         {Kind::RandomVerticalFlip, "random_vertical_flip", nullptr, 0}}};
constexpr int LargestSize = 65'535;

bool hasProbability(Kind kind)
{
    return kind == Kind::RandomHorizontalFlip || kind == Kind::RandomVerticalFlip;
}

Error badArgument(qsizetype place, const QString &op, const QString &key, const QString &range)
{
    return makeError(errors::InvalidTransformationDirectory,
                     QT_TRANSLATE_NOOP("Error", "Operation %1 (\"%2\") of the transformation: \"%3\" must be %4."),
                     {QString::number(place + 1), op, key, range},
                     QT_TRANSLATE_NOOP("Error", "Write the transformation again with Init Image Transformation."));
}

Result<void> readRange(const QJsonObject &json, qsizetype place, const QString &op, const char *key, double lowest,
                       double highest, double &low, double &high)
{
    const QJsonArray values = json.value(QLatin1String(key)).toArray();
    const double first = values.size() == 2 ? values[0].toDouble(-1) : -1;
    const double second = values.size() == 2 ? values[1].toDouble(-1) : -1;
    if (!(first > lowest) || !(second >= first) || !(second <= highest))
        return badArgument(place, op, QLatin1String(key),
                           QStringLiteral("[low, high] with %1 < low ≤ high ≤ %2").arg(lowest).arg(highest));
    low = first;
    high = second;
    return {};
}

const OpName *findOp(const QString &id)
{
    for (const OpName &candidate : OpNames)
        if (id == QLatin1String(candidate.id))
            return &candidate;
    return nullptr;
}

Result<TransformOp> readOp(const QJsonValue &value, qsizetype place)
{
    const QJsonObject json = value.toObject();
    const QString id = json.value(QStringLiteral("op")).toString();
    const OpName *name = findOp(id);
    if (!name)
        return makeError(
            errors::InvalidTransformationDirectory,
            QT_TRANSLATE_NOOP("Error", "Operation %1 of the transformation, \"%2\", is not known."),
            {QString::number(place + 1), id},
            QT_TRANSLATE_NOOP("Error", "The transformation may come from a newer version of the program."));
    TransformOp op;
    op.kind = name->kind;
    if (name->sizeKey) {
        const double size = json.value(QLatin1String(name->sizeKey)).toDouble(-1);
        if (!(size >= name->smallestSize) || size > LargestSize || size != std::floor(size))
            return badArgument(place, id, QLatin1String(name->sizeKey),
                               QStringLiteral("a whole number from %1 to %2").arg(name->smallestSize).arg(LargestSize));
        op.size = int(size);
    }
    if (hasProbability(op.kind)) {
        op.p = json.value(QStringLiteral("p")).toDouble(-1);
        if (!(op.p >= 0 && op.p <= 1))
            return badArgument(place, id, QStringLiteral("p"), QStringLiteral("a number from 0 to 1"));
    }
    if (op.kind == Kind::RandomResizedCrop) {
        TW_TRY(readRange(json, place, id, "scale", 0, 1, op.scaleLow, op.scaleHigh));
        TW_TRY(readRange(json, place, id, "ratio", 0, 1000, op.ratioLow, op.ratioHigh));
    }
    return op;
}

} // namespace

QJsonArray transformsToJson(const TransformList &list)
{
    QJsonArray out;
    for (const TransformOp &op : list) {
        QJsonObject json;
        for (const OpName &name : OpNames) {
            if (name.kind != op.kind)
                continue;
            json.insert(QStringLiteral("op"), QLatin1String(name.id));
            if (name.sizeKey)
                json.insert(QLatin1String(name.sizeKey), op.size);
        }
        if (hasProbability(op.kind))
            json.insert(QStringLiteral("p"), op.p);
        if (op.kind == Kind::RandomResizedCrop) {
            json.insert(QStringLiteral("scale"), QJsonArray{op.scaleLow, op.scaleHigh});
            json.insert(QStringLiteral("ratio"), QJsonArray{op.ratioLow, op.ratioHigh});
        }
        out.append(json);
    }
    return out;
}

Result<TransformList> transformsFromJson(const QJsonArray &json)
{
    TransformList list;
    for (qsizetype i = 0; i < json.size(); ++i) {
        TW_ASSIGN(op, readOp(json[i], i));
        list.push_back(op);
    }
    return list;
}

} // namespace tw
