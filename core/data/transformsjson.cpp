// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.h"
#include "core/data/augmentpolicies.h"
#include "core/data/transforms.h"

#include <QCoreApplication>
#include <QJsonObject>

#include <cmath>

namespace tw {

namespace {

using Kind = TransformOp::Kind;

/// One argument of an operation: a whole number, a number, or a range of two numbers, from `lowest`
/// to `highest`; `open` leaves the lower end out, `openAbove` the upper one. Or an interpolation,
/// which is bilinear where it is not given.
struct Argument
{
    const char *key;
    double lowest, highest;
    int TransformOp::*whole = nullptr;
    double TransformOp::*number = nullptr;
    double TransformOp::*rangeEnd = nullptr;
    bool open = false, openAbove = false;
    Interpolation TransformOp::*interpolation = nullptr;
};

struct OpSchema
{
    Kind kind;
    const char *id;
    std::vector<Argument> arguments;
};

Argument whole(const char *key, int TransformOp::*field, int lowest, int highest)
{
    return {.key = key, .lowest = double(lowest), .highest = double(highest), .whole = field};
}

Argument number(const char *key, double TransformOp::*field, double lowest, double highest)
{
    return {.key = key, .lowest = lowest, .highest = highest, .number = field};
}

Argument range(const char *key, double TransformOp::*low, double TransformOp::*high, double highest)
{
    return {.key = key, .lowest = 0, .highest = highest, .number = low, .rangeEnd = high, .open = true};
}

Argument interpolation()
{
    return {.key = "interpolation", .lowest = 0, .highest = 0, .interpolation = &TransformOp::interpolation};
}

const std::vector<OpSchema> &schemas()
{
    using Op = TransformOp;
    const Argument size = whole("size", &Op::size, 1, LargestTransformEdge);
    const Argument chance = number("p", &Op::p, 0, 1);
    const Argument degrees = number("degrees", &Op::degrees, 0, 180);
    const Argument areas = range("scale", &Op::scaleLow, &Op::scaleHigh, 1);
    const Argument ratios = range("ratio", &Op::ratioLow, &Op::ratioHigh, LargestTransformFactor);
    const Argument scales = range("scale", &Op::scaleLow, &Op::scaleHigh, LargestTransformFactor);
    Argument shear = number("shear", &Op::shear, 0, 90);
    shear.openAbove = true;
    static const std::vector<OpSchema> made{
        {Kind::Resize, "resize", {size, interpolation()}},
        {Kind::CenterCrop, "center_crop", {size}},
        {Kind::Pad, "pad", {whole("padding", &Op::size, 0, LargestTransformEdge)}},
        {Kind::ColorJitter,
         "color_jitter",
         {number("brightness", &Op::brightness, 0, LargestTransformFactor),
          number("contrast", &Op::contrast, 0, LargestTransformFactor),
          number("saturation", &Op::saturation, 0, LargestTransformFactor), number("hue", &Op::hue, 0, 0.5)}},
        {Kind::Grayscale, "grayscale", {}},
        {Kind::RandomResizedCrop, "random_resized_crop", {size, areas, ratios, interpolation()}},
        {Kind::RandomCrop, "random_crop", {size}},
        {Kind::RandomHorizontalFlip, "random_horizontal_flip", {chance}},
        {Kind::RandomVerticalFlip, "random_vertical_flip", {chance}},
        {Kind::RandomRotation, "random_rotation", {degrees}},
        {Kind::RandomAffine, "random_affine", {degrees, number("translate", &Op::translate, 0, 1), scales, shear}},
        {Kind::RandomGrayscale, "random_grayscale", {chance}},
        {Kind::RandomPerspective, "random_perspective", {chance, number("distortion", &Op::distortion, 0, 1)}},
        {Kind::TrivialAugment, "trivial_augment", {}},
        {Kind::RandAugment,
         "rand_augment",
         {whole("num_ops", &Op::numOps, 1, LargestAugmentCount),
          whole("magnitude", &Op::magnitude, 0, MagnitudeBins - 1)}},
        {Kind::RandomErasing, "random_erasing", {chance, areas, ratios}}};
    return made;
}

QString rangeText(const Argument &argument)
{
    if (argument.interpolation)
        return QStringLiteral("\"bilinear\" or \"bicubic\"");
    const QString lowest = QString::number(argument.lowest), highest = QString::number(argument.highest);
    if (argument.rangeEnd)
        return QStringLiteral("[low, high] with %1 < low ≤ high ≤ %2").arg(lowest, highest);
    const QString below = argument.openAbove ? QStringLiteral("below ") : QString();
    return (argument.whole ? QStringLiteral("a whole number from %1 to %2") : QStringLiteral("a number from %1 to %2"))
        .arg(lowest, below + highest);
}

Error fault(const char *text, qsizetype place, const QStringList &args, const char *hint)
{
    return makeError(errors::InvalidTransformationDirectory, text, QStringList{QString::number(place + 1)} + args,
                     hint);
}

Error badArgument(qsizetype place, const QString &op, const Argument &argument, const QJsonValue &value)
{
    constexpr char Hint[] =
        QT_TRANSLATE_NOOP("Error", "Write the transformation again with Init Image Transformation.");
    const QString key = QLatin1String(argument.key);
    if (value.isUndefined())
        return fault(QT_TRANSLATE_NOOP("Error", "Operation %1 (\"%2\") of the transformation has no \"%3\"; it must be "
                                                "%4."),
                     place, {op, key, rangeText(argument)}, Hint);
    return fault(
        QT_TRANSLATE_NOOP("Error", "Operation %1 (\"%2\") of the transformation: \"%3\" is %5; it must be %4."), place,
        {op, key, rangeText(argument), QString::fromUtf8(jsonCompact(value))}, Hint);
}

bool isWithin(const Argument &argument, const QJsonValue &value)
{
    if (!value.isDouble())
        return false;
    const double number = value.toDouble();
    if (argument.whole && number != std::floor(number))
        return false;
    return (argument.open ? number > argument.lowest : number >= argument.lowest)
           && (argument.openAbove ? number < argument.highest : number <= argument.highest);
}

bool readInterpolation(const QJsonValue &value, Interpolation &out)
{
    const auto known = value.isUndefined() ? Interpolation::Bilinear : interpolationOf(value.toString().toStdString());
    out = known.value_or(Interpolation::Bilinear);
    return known.has_value();
}

bool readArgument(const Argument &argument, const QJsonValue &value, TransformOp &op)
{
    if (argument.interpolation)
        return readInterpolation(value, op.*argument.interpolation);
    if (!argument.rangeEnd) {
        if (!isWithin(argument, value))
            return false;
        if (argument.whole)
            op.*argument.whole = value.toInt();
        else
            op.*argument.number = value.toDouble();
        return true;
    }
    const QJsonArray ends = value.toArray();
    if (ends.size() != 2 || !isWithin(argument, ends[0]) || !isWithin(argument, ends[1])
        || ends[0].toDouble() > ends[1].toDouble())
        return false;
    op.*argument.number = ends[0].toDouble();
    op.*argument.rangeEnd = ends[1].toDouble();
    return true;
}

QJsonValue argumentToJson(const Argument &argument, const TransformOp &op)
{
    if (argument.interpolation)
        return QLatin1String(interpolationId(op.*argument.interpolation));
    if (argument.whole)
        return op.*argument.whole;
    if (argument.rangeEnd)
        return QJsonArray{op.*argument.number, op.*argument.rangeEnd};
    return op.*argument.number;
}

Result<TransformOp> readOp(const QJsonValue &value, qsizetype place)
{
    const QJsonObject json = value.toObject();
    const QString id = json.value(QStringLiteral("op")).toString();
    for (const OpSchema &schema : schemas()) {
        if (id != QLatin1String(schema.id))
            continue;
        TransformOp op;
        op.kind = schema.kind;
        for (const Argument &argument : schema.arguments) {
            const QJsonValue given = json.value(QLatin1String(argument.key));
            if (!readArgument(argument, given, op))
                return badArgument(place, id, argument, given);
        }
        return op;
    }
    return fault(QT_TRANSLATE_NOOP("Error", "Operation %1 of the transformation, \"%2\", is not known."), place, {id},
                 QT_TRANSLATE_NOOP("Error", "The transformation may come from a newer version of the program."));
}

} // namespace

QJsonArray transformsToJson(const TransformList &list)
{
    QJsonArray out;
    for (const TransformOp &op : list) {
        const OpSchema &schema = schemas()[std::size_t(op.kind)];
        QJsonObject json{{QStringLiteral("op"), QLatin1String(schema.id)}};
        for (const Argument &argument : schema.arguments)
            if (!argument.interpolation || op.interpolation != Interpolation::Bilinear)
                json.insert(QLatin1String(argument.key), argumentToJson(argument, op));
        out.append(json);
    }
    return out;
}

Result<TransformList> transformsFromJson(const QJsonArray &json)
{
    TransformList list;
    for (qsizetype i = 0; i < json.size(); ++i) {
        TW_ASSIGN(op, readOp(json[i], i));
        if (op.kind == Kind::RandomErasing && i + 1 < json.size())
            return fault(QT_TRANSLATE_NOOP("Error", "Operation %1 of the transformation, \"%2\", must be the last."), i,
                         {QStringLiteral("random_erasing")},
                         QT_TRANSLATE_NOOP("Error", "It acts after normalisation; move it to the end of the list."));
        list.push_back(op);
    }
    return list;
}

} // namespace tw
