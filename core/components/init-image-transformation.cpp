// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/portobjects.h"

namespace tw::components {

namespace {

using Kind = TransformOp::Kind;

Interpolation chosenInterpolation(const ParameterValues &values, const char *id)
{
    return interpolationOf(values.text(id).toStdString()).value_or(Interpolation::Bilinear);
}

/// The operation of a switch, with the values of its parameters.
TransformOp switchedOp(Kind kind, const ParameterValues &values)
{
    TransformOp op = defaultOp(kind);
    switch (kind) {
    case Kind::Resize:
        op.size = int(values.integer("size"));
        op.interpolation = chosenInterpolation(values, "resize_interpolation");
        break;
    case Kind::CenterCrop:
        op.size = int(values.integer("crop_size"));
        break;
    case Kind::Pad:
        op.size = int(values.integer("padding"));
        break;
    case Kind::ColorJitter:
        op.brightness = values.real("color_jitter_brightness");
        op.contrast = values.real("color_jitter_contrast");
        op.saturation = values.real("color_jitter_saturation");
        op.hue = values.real("color_jitter_hue");
        break;
    case Kind::RandomResizedCrop:
        op.size = int(values.integer("random_size"));
        std::tie(op.scaleLow, op.scaleHigh) = values.range("random_resized_scale");
        std::tie(op.ratioLow, op.ratioHigh) = values.range("random_resized_ratio");
        op.interpolation = chosenInterpolation(values, "random_resized_interpolation");
        break;
    case Kind::RandomCrop:
        op.size = int(values.integer("random_crop_size"));
        break;
    case Kind::RandomHorizontalFlip:
        op.p = values.real("random_horizontal_flip_p");
        break;
    case Kind::RandomVerticalFlip:
        op.p = values.real("random_vertical_flip_p");
        break;
    case Kind::RandomRotation:
        op.degrees = values.real("random_rotation_degrees");
        break;
    case Kind::RandomAffine:
        op.degrees = values.real("random_affine_degrees");
        op.translate = values.real("random_affine_translate");
        std::tie(op.scaleLow, op.scaleHigh) = values.range("random_affine_scale");
        op.shear = values.real("random_affine_shear");
        break;
    case Kind::RandomGrayscale:
        op.p = values.real("random_grayscale_p");
        break;
    case Kind::RandomPerspective:
        op.p = values.real("random_perspective_p");
        op.distortion = values.real("random_perspective_distortion");
        break;
    case Kind::RandAugment:
        op.numOps = int(values.integer("rand_augment_num_ops"));
        op.magnitude = int(values.integer("rand_augment_magnitude"));
        break;
    case Kind::RandomErasing:
        op.p = values.real("random_erasing_p");
        break;
    case Kind::Grayscale:
    case Kind::TrivialAugment:
        break;
    }
    return op;
}

/// The switched-on operations in the order of the declaration, which is that of their kinds.
TransformList transformList(const ParameterValues &values)
{
    static constexpr std::array Switches{"resize",
                                         "center_crop",
                                         "pad",
                                         "color_jitter",
                                         "grayscale",
                                         "random_resized_crop",
                                         "random_crop",
                                         "random_horizontal_flip",
                                         "random_vertical_flip",
                                         "random_rotation",
                                         "random_affine",
                                         "random_grayscale",
                                         "random_perspective",
                                         "trivial_augment",
                                         "rand_augment",
                                         "random_erasing"};
    TransformList list;
    for (std::size_t i = 0; i < Switches.size(); ++i)
        if (values.boolean(Switches[i]))
            list.push_back(switchedOp(Kind(i), values));
    return list;
}

QList<Error> checkNumbersUpTo(const ParameterValues &values, double largest, std::initializer_list<const char *> ids)
{
    QList<Error> faults;
    for (const char *id : ids) {
        const bool isRange = values.value(QLatin1String(id)).typeId() == QMetaType::QVariantList;
        const double value = isRange ? values.range(id).second : values.real(id);
        if (value > largest)
            faults.append(makeError(errors::LessThanOrEqualTo,
                                    QT_TRANSLATE_NOOP("Error", "Parameter '%1' is %2; it must be at most %3."),
                                    {QLatin1String(id), QString::number(value), QString::number(largest)},
                                    QT_TRANSLATE_NOOP("Error", "Give '%1' a value of at most %3."))
                              .atParameter(QLatin1String(id)));
    }
    return faults;
}

Error cropTooLarge(const char *id, qlonglong crop, qlonglong edge)
{
    return makeError(errors::LessThanOrEqualTo,
                     QT_TRANSLATE_NOOP("Error", "Parameter '%1' is %2, larger than the %3 pixels that the shorter edge "
                                                "of every picture has there."),
                     {QLatin1String(id), QString::number(crop), QString::number(edge)},
                     QT_TRANSLATE_NOOP("Error", "Make '%1' at most %3, or the size before it larger."))
        .atParameter(QLatin1String(id));
}

/// A crop that fits no picture, whatever its size: the shorter edge is known after a resize or crop.
QList<Error> checkCrops(const ParameterValues &values)
{
    QList<Error> faults;
    std::optional<qlonglong> edge;
    for (const TransformOp &op : transformList(values)) {
        const bool crops = op.kind == Kind::CenterCrop || op.kind == Kind::RandomCrop;
        if (crops && edge && op.size > *edge)
            faults.append(cropTooLarge(op.kind == Kind::CenterCrop ? "crop_size" : "random_crop_size", op.size, *edge));
        if (crops || op.kind == Kind::Resize || op.kind == Kind::RandomResizedCrop)
            edge = op.size;
        else if (op.kind == Kind::Pad && edge)
            *edge += 2 * op.size;
    }
    return faults;
}

QList<Error> validateValues(const ParameterValues &values)
{
    QList<Error> faults = checkIntegersUpTo(values, LargestTransformEdge,
                                            {"size", "crop_size", "padding", "random_size", "random_crop_size"});
    faults += checkIntegersUpTo(values, LargestAugmentCount, {"rand_augment_num_ops"});
    faults += checkNumbersUpTo(values, LargestTransformFactor,
                               {"color_jitter_brightness", "color_jitter_contrast", "color_jitter_saturation",
                                "random_resized_ratio", "random_affine_scale"});
    return faults.isEmpty() ? checkCrops(values) : faults;
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

QStringList whenOn()
{
    return {QStringLiteral("true")};
}

void addSwitch(ComponentType &type, const char *id, const char *label, bool isOn, const char *help)
{
    type.parameter(ParameterSpec::boolean(id, label, isOn).withHelp(help));
}

void addSize(ComponentType &type, const char *id, const char *label, qlonglong value, double least,
             const char *switchId, const char *help)
{
    type.parameter(ParameterSpec::integer(id, label, value)
                       .atLeast(least)
                       .withUnit(QT_TRANSLATE_NOOP("Parameter", "pixels"))
                       .visibleWhen(switchId, whenOn())
                       .withHelp(help));
}

void addInterpolation(ComponentType &type, const char *id, const char *label, const char *switchId)
{
    type.parameter(
        ParameterSpec::choice(id, label, "bilinear",
                              {{QStringLiteral("bilinear"), QT_TRANSLATE_NOOP("Parameter", "Bilinear")},
                               {QStringLiteral("bicubic"), QT_TRANSLATE_NOOP("Parameter", "Bicubic")}})
            .visibleWhen(switchId, whenOn())
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "How pixels are weighed when the size changes, antialiased as "
                                                     "Pillow does it: bicubic is sharper and takes longer. Choose what "
                                                     "the initial weights were trained with.")));
}

/// A number from 0 to `most`.
ParameterSpec upTo(const char *id, const char *label, double value, double most, const char *switchId, const char *help)
{
    return ParameterSpec::real(id, label, value).atLeast(0).atMost(most).visibleWhen(switchId, whenOn()).withHelp(help);
}

void addSpread(ComponentType &type, const char *id, const char *label, const char *help)
{
    type.parameter(ParameterSpec::real(id, label, 0.2).atLeast(0).visibleWhen("color_jitter", whenOn()).withHelp(help));
}

void addColorJitter(ComponentType &type)
{
    addSwitch(type, "color_jitter", QT_TRANSLATE_NOOP("Parameter", "Color jitter"), false,
              QT_TRANSLATE_NOOP("Parameter",
                                "Varies brightness, contrast, saturation and hue at random, in random order "
                                "(training only)."));
    addSpread(type, "color_jitter_brightness", QT_TRANSLATE_NOOP("Parameter", "Brightness spread"),
              QT_TRANSLATE_NOOP("Parameter",
                                "The factor is drawn from 1 − spread (not below 0) to 1 + spread; 0 leaves "
                                "the brightness."));
    addSpread(type, "color_jitter_contrast", QT_TRANSLATE_NOOP("Parameter", "Contrast spread"),
              QT_TRANSLATE_NOOP("Parameter",
                                "The factor is drawn from 1 − spread (not below 0) to 1 + spread; 0 leaves "
                                "the contrast."));
    addSpread(type, "color_jitter_saturation", QT_TRANSLATE_NOOP("Parameter", "Saturation spread"),
              QT_TRANSLATE_NOOP("Parameter",
                                "The factor is drawn from 1 − spread (not below 0) to 1 + spread; 0 leaves "
                                "the saturation."));
    type.parameter(upTo("color_jitter_hue", QT_TRANSLATE_NOOP("Parameter", "Hue spread"), 0.0, 0.5, "color_jitter",
                        QT_TRANSLATE_NOOP("Parameter", "Largest turn of the hue either way; 0.5 is half of the colour "
                                                       "circle.")));
}

void addFixedOperations(ComponentType &type)
{
    addSwitch(type, "resize", QT_TRANSLATE_NOOP("Parameter", "Resize"), true,
              QT_TRANSLATE_NOOP("Parameter", "Resizes every picture so that its shorter edge has the given size."));
    addSize(type, "size", QT_TRANSLATE_NOOP("Parameter", "Size"), 256, 1, "resize",
            QT_TRANSLATE_NOOP("Parameter", "Length of the shorter edge after resizing; the other "
                                           "edge follows the picture's shape."));
    addInterpolation(type, "resize_interpolation", QT_TRANSLATE_NOOP("Parameter", "Interpolation"), "resize");
    addSwitch(type, "center_crop", QT_TRANSLATE_NOOP("Parameter", "Center crop"), true,
              QT_TRANSLATE_NOOP("Parameter", "Cuts a square out of the middle of every picture."));
    addSize(type, "crop_size", QT_TRANSLATE_NOOP("Parameter", "Crop size"), 224, 1, "center_crop",
            QT_TRANSLATE_NOOP("Parameter", "Edge of the square cut out of the middle."));
    addSwitch(type, "pad", QT_TRANSLATE_NOOP("Parameter", "Pad"), false,
              QT_TRANSLATE_NOOP("Parameter", "Adds a black border on all four sides."));
    addSize(type, "padding", QT_TRANSLATE_NOOP("Parameter", "Padding"), 0, 0, "pad",
            QT_TRANSLATE_NOOP("Parameter", "Width of the border on each side."));
    addColorJitter(type);
    addSwitch(type, "grayscale", QT_TRANSLATE_NOOP("Parameter", "Grayscale"), false,
              QT_TRANSLATE_NOOP("Parameter", "Removes colour; the three channels become equal."));
}

void addCropsAndFlips(ComponentType &type)
{
    addSwitch(type, "random_resized_crop", QT_TRANSLATE_NOOP("Parameter", "Random resized crop"), false,
              QT_TRANSLATE_NOOP("Parameter",
                                "Cuts out a random part of the picture and resizes it to a square (training only)."));
    addSize(type, "random_size", QT_TRANSLATE_NOOP("Parameter", "Random size"), 224, 1, "random_resized_crop",
            QT_TRANSLATE_NOOP("Parameter", "Edge of the square that the random part is resized to."));
    type.parameter(
        ParameterSpec::range("random_resized_scale", QT_TRANSLATE_NOOP("Parameter", "Random resized scale"), 0.08, 1.0)
            .above(0)
            .atMost(1)
            .visibleWhen("random_resized_crop", whenOn())
            .withHelp(
                QT_TRANSLATE_NOOP("Parameter", "Smallest and largest share of the picture's area that is cut out.")));
    type.parameter(ParameterSpec::range("random_resized_ratio", QT_TRANSLATE_NOOP("Parameter", "Random resized ratio"),
                                        0.75, 1.3333)
                       .above(0)
                       .visibleWhen("random_resized_crop", whenOn())
                       .withHelp(QT_TRANSLATE_NOOP(
                           "Parameter", "Smallest and largest ratio of width to height of the part that is cut out.")));
    addInterpolation(type, "random_resized_interpolation",
                     QT_TRANSLATE_NOOP("Parameter", "Random resized interpolation"), "random_resized_crop");
    addSwitch(type, "random_crop", QT_TRANSLATE_NOOP("Parameter", "Random crop"), false,
              QT_TRANSLATE_NOOP("Parameter", "Cuts out a square at a random place (training only)."));
    addSize(type, "random_crop_size", QT_TRANSLATE_NOOP("Parameter", "Random crop size"), 224, 1, "random_crop",
            QT_TRANSLATE_NOOP("Parameter", "Edge of the square cut out at a random place."));
    addSwitch(type, "random_horizontal_flip", QT_TRANSLATE_NOOP("Parameter", "Random horizontal flip"), true,
              QT_TRANSLATE_NOOP("Parameter", "Mirrors pictures left to right at random (training only)."));
    type.parameter(upTo("random_horizontal_flip_p", QT_TRANSLATE_NOOP("Parameter", "Horizontal flip probability"), 0.5,
                        1, "random_horizontal_flip",
                        QT_TRANSLATE_NOOP("Parameter", "Share of the pictures that are mirrored left to right.")));
    addSwitch(type, "random_vertical_flip", QT_TRANSLATE_NOOP("Parameter", "Random vertical flip"), false,
              QT_TRANSLATE_NOOP("Parameter", "Mirrors pictures top to bottom at random (training only)."));
    type.parameter(upTo("random_vertical_flip_p", QT_TRANSLATE_NOOP("Parameter", "Vertical flip probability"), 0.5, 1,
                        "random_vertical_flip",
                        QT_TRANSLATE_NOOP("Parameter", "Share of the pictures that are mirrored top to bottom.")));
}

void addRotationAndAffine(ComponentType &type)
{
    const char *degrees = QT_TRANSLATE_NOOP("Parameter", "degrees");
    addSwitch(type, "random_rotation", QT_TRANSLATE_NOOP("Parameter", "Random rotation"), false,
              QT_TRANSLATE_NOOP("Parameter", "Turns pictures about their centre by a random angle; the corners that "
                                             "come free are black (training only)."));
    type.parameter(upTo("random_rotation_degrees", QT_TRANSLATE_NOOP("Parameter", "Rotation degrees"), 15, 180,
                        "random_rotation", QT_TRANSLATE_NOOP("Parameter", "Largest angle in either direction."))
                       .withUnit(degrees));
    addSwitch(type, "random_affine", QT_TRANSLATE_NOOP("Parameter", "Random affine"), false,
              QT_TRANSLATE_NOOP("Parameter", "Turns, shifts, scales and shears pictures at random about their centre "
                                             "(training only)."));
    type.parameter(upTo("random_affine_degrees", QT_TRANSLATE_NOOP("Parameter", "Affine degrees"), 10, 180,
                        "random_affine", QT_TRANSLATE_NOOP("Parameter", "Largest angle in either direction."))
                       .withUnit(degrees));
    type.parameter(upTo("random_affine_translate", QT_TRANSLATE_NOOP("Parameter", "Affine translation"), 0, 1,
                        "random_affine",
                        QT_TRANSLATE_NOOP("Parameter", "Largest shift either way, as a share of the width and of the "
                                                       "height.")));
    type.parameter(ParameterSpec::range("random_affine_scale", QT_TRANSLATE_NOOP("Parameter", "Affine scale"), 1, 1)
                       .above(0)
                       .visibleWhen("random_affine", whenOn())
                       .withHelp(QT_TRANSLATE_NOOP("Parameter", "Smallest and largest factor of enlargement.")));
    type.parameter(
        ParameterSpec::real("random_affine_shear", QT_TRANSLATE_NOOP("Parameter", "Affine shear"), 0.0)
            .atLeast(0)
            .below(90)
            .withUnit(degrees)
            .visibleWhen("random_affine", whenOn())
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Largest angle of shear along the width, either way.")));
}

void addGrayscaleAndPerspective(ComponentType &type)
{
    addSwitch(type, "random_grayscale", QT_TRANSLATE_NOOP("Parameter", "Random grayscale"), false,
              QT_TRANSLATE_NOOP("Parameter", "Removes the colour of some pictures (training only)."));
    type.parameter(upTo("random_grayscale_p", QT_TRANSLATE_NOOP("Parameter", "Grayscale probability"), 0.1, 1,
                        "random_grayscale",
                        QT_TRANSLATE_NOOP("Parameter", "Share of the pictures that lose their colour.")));
    addSwitch(type, "random_perspective", QT_TRANSLATE_NOOP("Parameter", "Random perspective"), false,
              QT_TRANSLATE_NOOP("Parameter", "Moves the four corners of some pictures inwards at random (training "
                                             "only)."));
    type.parameter(upTo("random_perspective_p", QT_TRANSLATE_NOOP("Parameter", "Perspective probability"), 0.5, 1,
                        "random_perspective",
                        QT_TRANSLATE_NOOP("Parameter", "Share of the pictures that are distorted.")));
    type.parameter(upTo("random_perspective_distortion", QT_TRANSLATE_NOOP("Parameter", "Perspective distortion"), 0.5,
                        1, "random_perspective",
                        QT_TRANSLATE_NOOP("Parameter", "How far corners move at most: 1 is to the middle of the "
                                                       "picture.")));
}

void addPoliciesAndErasing(ComponentType &type)
{
    addSwitch(type, "trivial_augment", QT_TRANSLATE_NOOP("Parameter", "TrivialAugment"), false,
              QT_TRANSLATE_NOOP("Parameter", "One operation of fourteen with a random strength on every picture: "
                                             "TrivialAugment Wide (training only)."));
    addSwitch(type, "rand_augment", QT_TRANSLATE_NOOP("Parameter", "RandAugment"), false,
              QT_TRANSLATE_NOOP("Parameter", "Some operations of fourteen with one strength on every picture (training "
                                             "only)."));
    type.parameter(
        ParameterSpec::integer("rand_augment_num_ops", QT_TRANSLATE_NOOP("Parameter", "RandAugment operations"), 2)
            .atLeast(1)
            .visibleWhen("rand_augment", whenOn())
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "How many operations each picture gets.")));
    type.parameter(
        ParameterSpec::integer("rand_augment_magnitude", QT_TRANSLATE_NOOP("Parameter", "RandAugment magnitude"), 9)
            .atLeast(0)
            .atMost(30)
            .visibleWhen("rand_augment", whenOn())
            .withHelp(QT_TRANSLATE_NOOP("Parameter", "Strength of every operation, 0 to 30.")));
    addSwitch(type, "random_erasing", QT_TRANSLATE_NOOP("Parameter", "Random erasing"), false,
              QT_TRANSLATE_NOOP("Parameter",
                                "Blanks a random rectangle of some pictures, after normalisation (training "
                                "only)."));
    type.parameter(upTo("random_erasing_p", QT_TRANSLATE_NOOP("Parameter", "Erasing probability"), 0.5, 1,
                        "random_erasing",
                        QT_TRANSLATE_NOOP("Parameter", "Share of the pictures that lose a rectangle.")));
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
    addCropsAndFlips(type);
    addRotationAndAffine(type);
    addGrayscaleAndPerspective(type);
    addPoliciesAndErasing(type);
    type.validate = validateValues;
    type.preflight = preflightTransforms;
    type.run = runTransforms;
    return type;
}

} // namespace tw::components
