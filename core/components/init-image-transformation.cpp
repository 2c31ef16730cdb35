// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/portobjects.h"

namespace tw::components {

namespace {

/// The switched-on operations in the order of the declaration.
TransformList transformList(const ParameterValues &values)
{
    using Kind = TransformOp::Kind;
    TransformList list;
    const auto sized = [&](const char *onId, Kind kind, const char *sizeId) {
        if (!values.boolean(onId))
            return;
        TransformOp op;
        op.kind = kind;
        op.size = int(values.integer(sizeId));
        list.push_back(op);
    };
    const auto flip = [&](const char *onId, Kind kind, const char *chanceId) {
        if (!values.boolean(onId))
            return;
        TransformOp op;
        op.kind = kind;
        op.p = values.real(chanceId);
        list.push_back(op);
    };
    sized("resize", Kind::Resize, "size");
    sized("center_crop", Kind::CenterCrop, "crop_size");
    sized("pad", Kind::Pad, "padding");
    if (values.boolean("grayscale"))
        list.push_back({.kind = Kind::Grayscale});
    if (values.boolean("random_resized_crop")) {
        TransformOp op;
        op.kind = Kind::RandomResizedCrop;
        op.size = int(values.integer("random_size"));
        std::tie(op.scaleLow, op.scaleHigh) = values.range("random_resized_scale");
        std::tie(op.ratioLow, op.ratioHigh) = values.range("random_resized_ratio");
        list.push_back(op);
    }
    sized("random_crop", Kind::RandomCrop, "random_crop_size");
    flip("random_horizontal_flip", Kind::RandomHorizontalFlip, "random_horizontal_flip_p");
    flip("random_vertical_flip", Kind::RandomVerticalFlip, "random_vertical_flip_p");
    return list;
}

constexpr qlonglong largestEdge = 65535;

QList<Error> validateValues(const ParameterValues &values)
{
    QList<Error> faults =
        checkIntegersUpTo(values, largestEdge, {"size", "crop_size", "padding", "random_size", "random_crop_size"});
    const qlonglong crop = values.integer("crop_size"), size = values.integer("size");
    if (values.boolean("center_crop") && values.boolean("resize") && crop > size)
        faults.append(makeError(errors::LessThanOrEqualTo,
                                QT_TRANSLATE_NOOP("Error", "The crop size %1 is larger than the size %2 that "
                                                           "pictures are resized to."),
                                {QString::number(crop), QString::number(size)},
                                QT_TRANSLATE_NOOP("Error", "Make the crop size at most the resize size."))
                          .atParameter(QStringLiteral("crop_size")));
    return faults;
}

PreflightReply preflightTransforms(const PreflightRequest &request)
{
    PreflightReply reply;
    const TransformList list = transformList(request.values);
    PortFacts facts;
    facts.extra.insert(QStringLiteral("transforms"), transformsToJson(list).toVariantList());
    reply.outputs.insert(QStringLiteral("transformation"), facts);
    reply.summary = list.size() == 1 ? QStringLiteral("1 operation") : QStringLiteral("%1 operations").arg(list.size());
    if (const auto size = fixedOutputSize(list))
        reply.summary += QStringLiteral(" · %1 × %2 pixels").arg(size->first).arg(size->second);
    return reply;
}

Result<RunReply> runTransforms(const RunRequest &request)
{
    const QString port = QStringLiteral("transformation");
    const TransformList list = transformList(request.values);
    TW_TRY(writeTransforms(request.outputFolders.value(port), list));
    request.context.result(QStringLiteral("operations"), qint64(list.size()));
    return RunReply{{{port, list}}};
}

void addSwitch(ComponentType &type, const char *id, const char *label, bool on, const char *help)
{
    type.parameter(ParameterSpec::boolean(id, label, on).withHelp(help));
}

void addSize(ComponentType &type, const char *id, const char *label, qlonglong value, double least,
             const char *switchId, const char *help)
{
    type.parameter(ParameterSpec::integer(id, label, value)
                       .atLeast(least)
                       .withUnit(QT_TRANSLATE_NOOP("Parameter", "pixels"))
                       .visibleWhen(switchId, {QStringLiteral("true")})
                       .withHelp(help));
}

void addChance(ComponentType &type, const char *id, const char *label, const char *switchId, const char *help)
{
    type.parameter(ParameterSpec::real(id, label, 0.5)
                       .atLeast(0)
                       .atMost(1)
                       .visibleWhen(switchId, {QStringLiteral("true")})
                       .withHelp(help));
}

void addFixedOperations(ComponentType &type)
{
    addSwitch(type, "resize", QT_TRANSLATE_NOOP("Parameter", "Resize"), true,
              QT_TRANSLATE_NOOP("Parameter", "Resizes every picture so that its shorter edge has the given size."));
    addSize(type, "size", QT_TRANSLATE_NOOP("Parameter", "Size"), 256, 1, "resize",
            QT_TRANSLATE_NOOP("Parameter", "Length of the shorter edge after resizing; the other "
                                           "edge follows the picture's shape."));
    addSwitch(type, "center_crop", QT_TRANSLATE_NOOP("Parameter", "Center crop"), true,
              QT_TRANSLATE_NOOP("Parameter", "Cuts a square out of the middle of every picture."));
    addSize(type, "crop_size", QT_TRANSLATE_NOOP("Parameter", "Crop size"), 224, 1, "center_crop",
            QT_TRANSLATE_NOOP("Parameter", "Edge of the square cut out of the middle."));
    addSwitch(type, "pad", QT_TRANSLATE_NOOP("Parameter", "Pad"), false,
              QT_TRANSLATE_NOOP("Parameter", "Adds a black border on all four sides."));
    addSize(type, "padding", QT_TRANSLATE_NOOP("Parameter", "Padding"), 0, 0, "pad",
            QT_TRANSLATE_NOOP("Parameter", "Width of the border on each side."));
    addSwitch(type, "grayscale", QT_TRANSLATE_NOOP("Parameter", "Grayscale"), false,
              QT_TRANSLATE_NOOP("Parameter", "Removes colour; the three channels become equal."));
}

void addRandomOperations(ComponentType &type)
{
    const QStringList on{QStringLiteral("true")};
    addSwitch(type, "random_resized_crop", QT_TRANSLATE_NOOP("Parameter", "Random resized crop"), false,
              QT_TRANSLATE_NOOP("Parameter",
                                "Cuts out a random part of the picture and resizes it to a square (training only)."));
    addSize(type, "random_size", QT_TRANSLATE_NOOP("Parameter", "Random size"), 224, 1, "random_resized_crop",
            QT_TRANSLATE_NOOP("Parameter", "Edge of the square that the random part is resized to."));
    type.parameter(
        ParameterSpec::range("random_resized_scale", QT_TRANSLATE_NOOP("Parameter", "Random resized scale"), 0.08, 1.0)
            .above(0)
            .atMost(1)
            .visibleWhen("random_resized_crop", on)
            .withHelp(
                QT_TRANSLATE_NOOP("Parameter", "Smallest and largest share of the picture's area that is cut out.")));
    type.parameter(ParameterSpec::range("random_resized_ratio", QT_TRANSLATE_NOOP("Parameter", "Random resized ratio"),
                                        0.75, 1.3333)
                       .above(0)
                       .visibleWhen("random_resized_crop", on)
                       .withHelp(QT_TRANSLATE_NOOP(
                           "Parameter", "Smallest and largest ratio of width to height of the part that is cut out.")));
    addSwitch(type, "random_crop", QT_TRANSLATE_NOOP("Parameter", "Random crop"), false,
              QT_TRANSLATE_NOOP("Parameter", "Cuts out a square at a random place (training only)."));
    addSize(type, "random_crop_size", QT_TRANSLATE_NOOP("Parameter", "Random crop size"), 224, 1, "random_crop",
            QT_TRANSLATE_NOOP("Parameter", "Edge of the square cut out at a random place."));
    addSwitch(type, "random_horizontal_flip", QT_TRANSLATE_NOOP("Parameter", "Random horizontal flip"), true,
              QT_TRANSLATE_NOOP("Parameter", "Mirrors pictures left to right at random (training only)."));
    addChance(type, "random_horizontal_flip_p", QT_TRANSLATE_NOOP("Parameter", "Horizontal flip probability"),
              "random_horizontal_flip",
              QT_TRANSLATE_NOOP("Parameter", "Share of the pictures that are mirrored left to right."));
    addSwitch(type, "random_vertical_flip", QT_TRANSLATE_NOOP("Parameter", "Random vertical flip"), false,
              QT_TRANSLATE_NOOP("Parameter", "Mirrors pictures top to bottom at random (training only)."));
    addChance(type, "random_vertical_flip_p", QT_TRANSLATE_NOOP("Parameter", "Vertical flip probability"),
              "random_vertical_flip",
              QT_TRANSLATE_NOOP("Parameter", "Share of the pictures that are mirrored top to bottom."));
}

} // namespace

ComponentType init_image_transformation()
{
    ComponentType type;
    type.id = QStringLiteral("init-image-transformation");
    type.named(
        QT_TRANSLATE_NOOP("Component", "Init Image Transformation"), QT_TRANSLATE_NOOP("Component", "Computer Vision"),
        QT_TRANSLATE_NOOP("Component", "Chooses the operations that prepare and vary the pictures, in this order."));
    type.output("transformation", QT_TRANSLATE_NOOP("Component", "Transformation"), DataType::TransformationDirectory);
    addFixedOperations(type);
    addRandomOperations(type);
    type.validate = validateValues;
    type.preflight = preflightTransforms;
    type.run = runTransforms;
    return type;
}

} // namespace tw::components
