// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/component/componentregistry.h"
#include "core/component/portobjects.h"
#include "tests/support/recordingcontext.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

using namespace tw;

namespace {

const QStringList Switches{"resize",
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

QVariantMap withSwitches(const QStringList &on, QVariantMap values = {})
{
    for (const QString &id : Switches)
        values.insert(id, on.contains(id));
    return values;
}

} // namespace

/// Every parameter of Init Image Transformation: what it does, when it shows, what it refuses.
class TestInitImageTransformation : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void declaresTheTable();
    void operations_data();
    void operations();
    void shownWithTheSwitch();
    void everythingInOrder();
    void refusals_data();
    void refusals();
    void goldenFile();
    void goldenFileOfBicubic();
    void badFiles_data();
    void badFiles();
    void preflightSaysSize();

private:
    ParameterValues stored(const QVariantMap &map) const;
    Result<TransformList> run(const QVariantMap &map);
    QList<Error> faults(const QVariantMap &map) const;
    fs::path folder() const { return m_folder.path().toStdString(); }

    ComponentRegistry m_registry;
    const ComponentType *m_type = nullptr;
    QTemporaryDir m_folder;
};

void TestInitImageTransformation::initTestCase()
{
    registerAllComponents(m_registry);
    m_type = m_registry.find(QStringLiteral("init-image-transformation"));
    QVERIFY(m_type);
}

ParameterValues TestInitImageTransformation::stored(const QVariantMap &map) const
{
    ParameterValues values;
    for (auto it = map.begin(); it != map.end(); ++it)
        values.set(it.key(), it.value());
    return values;
}

Result<TransformList> TestInitImageTransformation::run(const QVariantMap &map)
{
    const ParameterValues effective = m_type->schema.effective(stored(map));
    test::RecordingContext context(folder() / "job");
    const fs::path out = folder() / "out";
    fs::create_directories(out);
    TW_TRY(m_type->run({effective, {}, {{QStringLiteral("transformation"), out}}, context}));
    return readTransforms(out);
}

QList<Error> TestInitImageTransformation::faults(const QVariantMap &map) const
{
    QList<Error> found = m_type->schema.check(stored(map));
    return found.isEmpty() ? m_type->validate(m_type->schema.effective(stored(map))) : found;
}

void TestInitImageTransformation::declaresTheTable()
{
    QStringList switches;
    for (const ParameterSpec &spec : m_type->schema.specs()) {
        QVERIFY2(!spec.help.isEmpty() && !spec.label.isEmpty(), qPrintable(spec.id));
        if (spec.kind != ParameterKind::Bool)
            continue;
        switches.append(spec.id);
        const bool on = spec.id == "resize" || spec.id == "center_crop" || spec.id == "random_horizontal_flip";
        QCOMPARE(spec.defaultValue.toBool(), on);
    }
    QCOMPARE(switches, Switches);
    TW_VERIFY(run({}));
    QCOMPARE(jsonCompact(transformsToJson(*run({}))),
             QByteArray(R"([{"op":"resize","size":256},{"op":"center_crop","size":224},)"
                        R"({"op":"random_horizontal_flip","p":0.5}])"));
}

void TestInitImageTransformation::operations_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<QVariantMap>("values");
    QTest::addColumn<QByteArray>("json");
    const auto row = [](const char *id, const QVariantMap &values, const char *json) {
        QTest::newRow(qPrintable(QLatin1String(id) + u' ' + values.keys().join(u' ')))
            << id << values << QByteArray(json);
    };
    const auto range = [](double low, double high) { return QVariantList{low, high}; };
    row("resize", {}, R"({"op":"resize","size":256})");
    row("resize", {{"size", 99LL}}, R"({"op":"resize","size":99})");
    row("resize", {{"resize_interpolation", "bicubic"}}, R"({"interpolation":"bicubic","op":"resize","size":256})");
    row("center_crop", {}, R"({"op":"center_crop","size":224})");
    row("center_crop", {{"crop_size", 7LL}}, R"({"op":"center_crop","size":7})");
    row("pad", {}, R"({"op":"pad","padding":0})");
    row("pad", {{"padding", 3LL}}, R"({"op":"pad","padding":3})");
    row("color_jitter", {}, R"({"brightness":0.2,"contrast":0.2,"hue":0,"op":"color_jitter","saturation":0.2})");
    row("color_jitter", {{"color_jitter_brightness", 0.5}},
        R"({"brightness":0.5,"contrast":0.2,"hue":0,"op":"color_jitter","saturation":0.2})");
    row("color_jitter", {{"color_jitter_contrast", 1.5}},
        R"({"brightness":0.2,"contrast":1.5,"hue":0,"op":"color_jitter","saturation":0.2})");
    row("color_jitter", {{"color_jitter_saturation", 0.0}},
        R"({"brightness":0.2,"contrast":0.2,"hue":0,"op":"color_jitter","saturation":0})");
    row("color_jitter", {{"color_jitter_hue", 0.5}},
        R"({"brightness":0.2,"contrast":0.2,"hue":0.5,"op":"color_jitter","saturation":0.2})");
    row("grayscale", {}, R"({"op":"grayscale"})");
    row("random_resized_crop", {}, R"({"op":"random_resized_crop","ratio":[0.75,1.3333],"scale":[0.08,1],"size":224})");
    row("random_resized_crop", {{"random_size", 64LL}},
        R"({"op":"random_resized_crop","ratio":[0.75,1.3333],"scale":[0.08,1],"size":64})");
    row("random_resized_crop", {{"random_resized_scale", range(0.5, 0.6)}},
        R"({"op":"random_resized_crop","ratio":[0.75,1.3333],"scale":[0.5,0.6],"size":224})");
    row("random_resized_crop", {{"random_resized_ratio", range(1, 2)}},
        R"({"op":"random_resized_crop","ratio":[1,2],"scale":[0.08,1],"size":224})");
    row("random_resized_crop", {{"random_resized_interpolation", "bicubic"}},
        R"({"interpolation":"bicubic","op":"random_resized_crop","ratio":[0.75,1.3333],"scale":[0.08,1],"size":224})");
    row("random_crop", {}, R"({"op":"random_crop","size":224})");
    row("random_crop", {{"random_crop_size", 28LL}}, R"({"op":"random_crop","size":28})");
    row("random_horizontal_flip", {{"random_horizontal_flip_p", 0.25}}, R"({"op":"random_horizontal_flip","p":0.25})");
    row("random_vertical_flip", {}, R"({"op":"random_vertical_flip","p":0.5})");
    row("random_vertical_flip", {{"random_vertical_flip_p", 1.0}}, R"({"op":"random_vertical_flip","p":1})");
    row("random_rotation", {}, R"({"degrees":15,"op":"random_rotation"})");
    row("random_rotation", {{"random_rotation_degrees", 180.0}}, R"({"degrees":180,"op":"random_rotation"})");
    row("random_affine", {}, R"({"degrees":10,"op":"random_affine","scale":[1,1],"shear":0,"translate":0})");
    row("random_affine", {{"random_affine_degrees", 0.0}},
        R"({"degrees":0,"op":"random_affine","scale":[1,1],"shear":0,"translate":0})");
    row("random_affine", {{"random_affine_translate", 0.125}},
        R"({"degrees":10,"op":"random_affine","scale":[1,1],"shear":0,"translate":0.125})");
    row("random_affine", {{"random_affine_scale", range(0.5, 1.5)}},
        R"({"degrees":10,"op":"random_affine","scale":[0.5,1.5],"shear":0,"translate":0})");
    row("random_affine", {{"random_affine_shear", 20.0}},
        R"({"degrees":10,"op":"random_affine","scale":[1,1],"shear":20,"translate":0})");
    row("random_grayscale", {}, R"({"op":"random_grayscale","p":0.1})");
    row("random_grayscale", {{"random_grayscale_p", 0.75}}, R"({"op":"random_grayscale","p":0.75})");
    row("random_perspective", {}, R"({"distortion":0.5,"op":"random_perspective","p":0.5})");
    row("random_perspective", {{"random_perspective_p", 1.0}}, R"({"distortion":0.5,"op":"random_perspective","p":1})");
    row("random_perspective", {{"random_perspective_distortion", 1.0}},
        R"({"distortion":1,"op":"random_perspective","p":0.5})");
    row("trivial_augment", {}, R"({"op":"trivial_augment"})");
    row("rand_augment", {}, R"({"magnitude":9,"num_ops":2,"op":"rand_augment"})");
    row("rand_augment", {{"rand_augment_num_ops", 3LL}}, R"({"magnitude":9,"num_ops":3,"op":"rand_augment"})");
    row("rand_augment", {{"rand_augment_magnitude", 30LL}}, R"({"magnitude":30,"num_ops":2,"op":"rand_augment"})");
    row("random_erasing", {}, R"({"op":"random_erasing","p":0.5,"ratio":[0.3,3.3],"scale":[0.02,0.33]})");
    row("random_erasing", {{"random_erasing_p", 0.0}},
        R"({"op":"random_erasing","p":0,"ratio":[0.3,3.3],"scale":[0.02,0.33]})");
}

void TestInitImageTransformation::operations()
{
    QFETCH(const QString, id);
    QFETCH(const QVariantMap, values);
    QFETCH(const QByteArray, json);
    const QVariantMap given = withSwitches({id}, values);
    QVERIFY(faults(given).isEmpty());
    const auto list = run(given);
    TW_VERIFY(list);
    QCOMPARE(jsonCompact(transformsToJson(*list)), '[' + json + ']');
    // Off, its parameters are nothing.
    TW_VERIFY(run(withSwitches({}, values)));
    QVERIFY(run(withSwitches({}, values))->empty());
}

void TestInitImageTransformation::shownWithTheSwitch()
{
    for (const ParameterSpec &spec : m_type->schema.specs()) {
        if (spec.kind == ParameterKind::Bool) {
            QVERIFY(m_type->schema.isVisible(spec.id, m_type->schema.effective(stored(withSwitches({})))));
            continue;
        }
        QVERIFY2(Switches.contains(spec.visibleWhenId), qPrintable(spec.id));
        for (const bool on : {true, false}) {
            const QStringList which = on ? QStringList{spec.visibleWhenId} : QStringList{};
            QCOMPARE(m_type->schema.isVisible(spec.id, m_type->schema.effective(stored(withSwitches(which)))), on);
        }
    }
}

void TestInitImageTransformation::everythingInOrder()
{
    const auto list = run(withSwitches(Switches));
    TW_VERIFY(list);
    QStringList ids;
    for (const QJsonValue &value : transformsToJson(*list))
        ids.append(value.toObject().value(QStringLiteral("op")).toString());
    QCOMPARE(ids, Switches);
    QStringList kept;
    for (const QJsonValue &value : transformsToJson(forInference(*list)))
        kept.append(value.toObject().value(QStringLiteral("op")).toString());
    QCOMPARE(kept, (QStringList{"resize", "center_crop", "pad", "grayscale"}));
    QVERIFY(fixedOutputSize(*list) == std::pair(224, 224));
    QVERIFY(fitsEveryImage(*list));
    for (const auto &[width, height] : {std::pair(500, 375), std::pair(1, 9)}) {
        const auto size = outputSize(*list, width, height, "x");
        TW_VERIFY(size);
        QVERIFY(*size == std::pair(224, 224));
    }
}

void TestInitImageTransformation::refusals_data()
{
    QTest::addColumn<QVariantMap>("values");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("parameter");
    QTest::addColumn<QString>("offender");
    const auto row = [](const QVariantMap &values, const char *name, const char *parameter, const char *offender) {
        QTest::newRow(qPrintable(QLatin1String(parameter) + u' ' + QLatin1String(offender)))
            << values << name << parameter << offender;
    };
    const auto one = [&](const char *parameter, const QVariant &value, const char *name, const char *offender) {
        row({{parameter, value}}, name, parameter, offender);
    };
    for (const char *id : {"size", "crop_size", "random_size", "random_crop_size", "rand_augment_num_ops"})
        one(id, 0LL, "GreaterThanOrEqualToError", "0");
    one("padding", -1LL, "GreaterThanOrEqualToError", "-1");
    for (const char *id : {"size", "padding", "random_size", "random_crop_size"})
        one(id, 65536LL, "LessThanOrEqualToError", "65536");
    for (const char *id : {"color_jitter_brightness", "color_jitter_contrast", "color_jitter_saturation"}) {
        one(id, -0.1, "GreaterThanOrEqualToError", "-0.1");
        one(id, 1001.0, "LessThanOrEqualToError", "1001");
    }
    one("color_jitter_hue", 0.51, "NotInRangeValueError", "0.51");
    one("random_resized_scale", QVariantList{0.0, 1.0}, "NotInRangeValueError", "0");
    one("random_resized_scale", QVariantList{0.5, 1.5}, "NotInRangeValueError", "1.5");
    one("random_resized_scale", QVariantList{0.9, 0.1}, "LessThanOrEqualToError", "0.9");
    one("random_resized_ratio", QVariantList{0.0, 1.0}, "GreaterThanError", "0");
    one("random_resized_ratio", QVariantList{2.0, 1.0}, "LessThanOrEqualToError", "2");
    one("random_resized_ratio", QVariantList{1.0, 1001.0}, "LessThanOrEqualToError", "1001");
    for (const char *id :
         {"random_horizontal_flip_p", "random_vertical_flip_p", "random_grayscale_p", "random_perspective_p",
          "random_perspective_distortion", "random_erasing_p", "random_affine_translate"}) {
        one(id, 1.5, "NotInRangeValueError", "1.5");
        one(id, -0.5, "NotInRangeValueError", "-0.5");
    }
    for (const char *id : {"random_rotation_degrees", "random_affine_degrees"}) {
        one(id, 181.0, "NotInRangeValueError", "181");
        one(id, -1.0, "NotInRangeValueError", "-1");
    }
    one("random_affine_scale", QVariantList{0.0, 1.0}, "GreaterThanError", "0");
    one("random_affine_scale", QVariantList{1.5, 1.0}, "LessThanOrEqualToError", "1.5");
    one("random_affine_scale", QVariantList{1.0, 2000.0}, "LessThanOrEqualToError", "2000");
    one("random_affine_shear", 90.0, "NotInRangeValueError", "90");
    one("rand_augment_num_ops", 101LL, "LessThanOrEqualToError", "101");
    one("rand_augment_magnitude", 31LL, "NotInRangeValueError", "31");
    for (const char *id : {"resize_interpolation", "random_resized_interpolation"})
        one(id, "nearest", "InvalidPipelineError", "nearest");
    // Crops that fit no picture.
    row({{"crop_size", 257LL}}, "LessThanOrEqualToError", "crop_size", "257");
    row({{"random_crop", true}, {"random_crop_size", 225LL}}, "LessThanOrEqualToError", "random_crop_size", "224");
    row({{"pad", true}, {"padding", 4LL}, {"random_crop", true}, {"random_crop_size", 233LL}}, "LessThanOrEqualToError",
        "random_crop_size", "232");
    row({{"random_resized_crop", true}, {"random_size", 64LL}, {"random_crop", true}, {"random_crop_size", 65LL}},
        "LessThanOrEqualToError", "random_crop_size", "64");
}

void TestInitImageTransformation::refusals()
{
    QFETCH(const QVariantMap, values);
    QFETCH(const QString, name);
    QFETCH(const QString, parameter);
    QFETCH(const QString, offender);
    const QList<Error> found = faults(values);
    QCOMPARE(found.size(), 1);
    QCOMPARE(found[0].name, name);
    QCOMPARE(found[0].parameter, parameter);
    QVERIFY2(found[0].sentence().contains(offender), qPrintable(found[0].sentence()));
    QVERIFY(!found[0].hint.isEmpty());
}

void TestInitImageTransformation::goldenFile()
{
    const fs::path golden = test::sourceFolder() / "tests" / "data" / "golden.transforms.json";
    const auto expected = readFile(golden, errors::Library);
    TW_VERIFY(expected);
    TW_VERIFY(run(withSwitches(Switches)));
    const auto written = readFile(folder() / "out" / "transforms.json", errors::Library);
    TW_VERIFY(written);
    QCOMPARE(*written, *expected);
    const fs::path copy = folder() / "golden";
    fs::create_directories(copy);
    fs::copy_file(golden, copy / "transforms.json");
    const auto list = readTransforms(copy);
    TW_VERIFY(list);
    QVERIFY(*list == *run(withSwitches(Switches)));
}

/// Files from before there was a choice say nothing of interpolation, as the golden one: they are bilinear.
void TestInitImageTransformation::goldenFileOfBicubic()
{
    const fs::path golden = test::sourceFolder() / "tests" / "data" / "bicubic.transforms.json";
    const auto expected = readFile(golden, errors::Library);
    TW_VERIFY(expected);
    const QVariantMap values =
        withSwitches({"resize", "center_crop", "random_resized_crop"},
                     {{"resize_interpolation", "bicubic"}, {"random_resized_interpolation", "bicubic"}});
    const auto list = run(values);
    TW_VERIFY(list);
    const auto written = readFile(folder() / "out" / "transforms.json", errors::Library);
    TW_VERIFY(written);
    QCOMPARE(*written, *expected);
    QVERIFY(list->front().interpolation == Interpolation::Bicubic);
}

void TestInitImageTransformation::badFiles_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("part");
    const auto list = [](const char *json) {
        return R"({"format":"trainwright-transforms","version":1,"transforms":)" + QByteArray(json) + '}';
    };
    QTest::newRow("newer") << QByteArray(R"({"format":"trainwright-transforms","version":99,"transforms":[]})") << "99";
    QTest::newRow("other format") << QByteArray(R"({"format":"x","version":1,"transforms":[]})")
                                  << "trainwright-transforms";
    QTest::newRow("no list") << QByteArray(R"({"format":"trainwright-transforms","version":1})") << "transforms.json";
    QTest::newRow("no JSON") << QByteArray("{") << "transforms.json";
    QTest::newRow("unknown operation") << list(R"([{"op":"grayscale"},{"op":"swirl"}])") << "swirl";
    QTest::newRow("interpolation") << list(R"([{"op":"resize","size":8,"interpolation":"lanczos"}])") << "lanczos";
    QTest::newRow("value") << list(R"([{"op":"random_rotation","degrees":270}])") << "270";
}

void TestInitImageTransformation::badFiles()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, part);
    const fs::path bad = folder() / QTest::currentDataTag();
    fs::create_directories(bad);
    TW_VERIFY(writeFileAtomically(bad / "transforms.json", text));
    const auto list = readTransforms(bad);
    QVERIFY(!list.ok());
    QCOMPARE(list.error().name, QLatin1String(errors::InvalidTransformationDirectory));
    QVERIFY2(list.error().sentence().contains(part), qPrintable(list.error().sentence()));
    QVERIFY(!list.error().hint.isEmpty());
}

void TestInitImageTransformation::preflightSaysSize()
{
    const ParameterValues values = m_type->schema.effective(stored({{"random_erasing", true}}));
    const PreflightReply reply = m_type->preflight({values, {}, nullptr, false});
    QVERIFY(reply.errors.isEmpty());
    QCOMPARE(reply.summary, QStringLiteral("4 operations · 224 × 224 pixels"));
}

QTEST_GUILESS_MAIN(TestInitImageTransformation)
#include "tst_initimagetransformation.moc"
