// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schema/parameterspec.h"

#include "tests/support/testsupport.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <limits>

using namespace tw;

namespace {

QMap<QString, ParameterSpec> specs()
{
    const QList<ParameterChoice> modes{{"for_training", "For training"}, {"for_inference", "For inference"}};
    const auto devices = [] { return QList<ParameterChoice>{{"cuda:0", "NVIDIA H (cuda:0)"}}; };
    const QList<ParameterSpec> all{
        ParameterSpec::integer("epochs", "Epochs", 5).above(0),
        ParameterSpec::integer("padding", "Padding", 0).atLeast(0),
        ParameterSpec::integer("seed", "Seed", 1).isAutomatic("drawn"),
        ParameterSpec::integer("free", "Free", 1),
        ParameterSpec::real("rate", "Rate", 0.001).above(0),
        ParameterSpec::real("fraction", "Fraction", 0.9).above(0).below(1),
        ParameterSpec::real("momentum", "Momentum", 0.9).atLeast(0).below(1),
        ParameterSpec::real("hue", "Hue", 0.0).atMost(0.5),
        ParameterSpec::real("under", "Under", 0.0).below(2),
        ParameterSpec::boolean("flip", "Flip", true),
        ParameterSpec::choice("mode", "Mode", "", modes),
        ParameterSpec::choice("device", "Device", "auto", {{"auto", "Automatic"}}).withMachineChoices(devices),
        ParameterSpec::text("column", "Column", "label"),
        ParameterSpec::text("name", "Name", "").isRequired(),
        ParameterSpec::path("path", "Path").isRequired(),
        ParameterSpec::path("weights_file", "Weights file"),
        ParameterSpec::integers("sizes", "Sizes", {10}).atLeast(1),
        ParameterSpec::range("scale", "Scale", 0.08, 1).above(0).atMost(1)};
    QMap<QString, ParameterSpec> byId;
    for (const ParameterSpec &spec : all)
        byId.insert(spec.id, spec);
    return byId;
}

const QString accepted;

} // namespace

class TestParameterSpec : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void check_data()
    {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QVariant>("value");
        QTest::addColumn<QString>("errorName");
        QTest::addColumn<QVariant>("expected");
        const auto good = [](const char *row, const char *id, const QVariant &value, const QVariant &expected) {
            QTest::newRow(row) << QString(id) << value << accepted << expected;
        };
        const auto bad = [](const char *row, const char *id, const QVariant &value, const char *name) {
            QTest::newRow(row) << QString(id) << value << QString(name) << QVariant();
        };
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        constexpr double infinity = std::numeric_limits<double>::infinity();
        good("int", "epochs", 3, qlonglong(3));
        good("int from integral float", "epochs", 3.0, qlonglong(3));
        bad("int from fraction", "epochs", 3.5, errors::InvalidPipeline);
        bad("int from text", "epochs", "3", errors::InvalidPipeline);
        bad("int from bool", "epochs", true, errors::InvalidPipeline);
        bad("int beyond 64 bits", "free", 1e19, errors::InvalidPipeline);
        bad("int beyond 63 bits", "free", qulonglong(1) << 63, errors::InvalidPipeline);
        good("largest int", "free", std::numeric_limits<qlonglong>::max(), std::numeric_limits<qlonglong>::max());
        bad("int at exclusive minimum", "epochs", 0, errors::GreaterThan);
        bad("int below inclusive minimum", "padding", -1, errors::GreaterThanOrEqualTo);
        good("int at inclusive minimum", "padding", 0, qlonglong(0));
        bad("int empty", "epochs", QVariant(), errors::NullOrEmpty);
        good("int automatic", "seed", QVariant(), QVariant());
        good("float", "rate", 0.1, 0.1);
        good("float from int", "rate", 2, 2.0);
        bad("float zero", "rate", 0.0, errors::GreaterThan);
        bad("float nan", "rate", nan, errors::InvalidPipeline);
        bad("float infinite", "rate", infinity, errors::InvalidPipeline);
        bad("float text", "rate", "0.1", errors::InvalidPipeline);
        bad("low end of open range", "fraction", 0.0, errors::NotInRangeValue);
        bad("high end of open range", "fraction", 1.0, errors::NotInRangeValue);
        good("closed low end", "momentum", 0.0, 0.0);
        bad("open high end", "momentum", 1, errors::NotInRangeValue);
        bad("above maximum", "hue", 0.6, errors::LessThanOrEqualTo);
        good("at maximum", "hue", 0.5, 0.5);
        bad("at exclusive maximum", "under", 2.0, errors::NotInRangeValue);
        good("bool", "flip", false, false);
        bad("bool from number", "flip", 1, errors::InvalidPipeline);
        good("choice id", "mode", "for_training", "for_training");
        good("choice label", "mode", "for Inference", "for_inference");
        bad("choice unknown", "mode", "sideways", errors::InvalidPipeline);
        bad("choice empty", "mode", "", errors::NullOrEmpty);
        bad("choice absent", "mode", QVariant(), errors::NullOrEmpty);
        bad("choice from number", "mode", 1, errors::InvalidPipeline);
        good("open choice", "device", "cuda:7", "cuda:7");
        good("open choice by label", "device", "nvidia h (cuda:0)", "cuda:0");
        bad("open choice empty", "device", "", errors::NullOrEmpty);
        good("text", "column", "class", "class");
        good("text may be empty", "column", "", "");
        bad("required text", "name", "", errors::NullOrEmpty);
        bad("text from number", "column", 1, errors::InvalidPipeline);
        good("path bytes", "path", QByteArray("/a\xff"), QByteArray("/a\xff"));
        good("path text", "path", QStringLiteral("/ä"), QByteArray("/ä"));
        bad("path empty", "path", QByteArray(""), errors::NullOrEmpty);
        bad("path with a zero byte", "path", QByteArray("a\0b", 3), errors::InvalidPipeline);
        bad("path from number", "path", 5, errors::InvalidPipeline);
        good("optional path", "weights_file", QVariant(), QByteArray(""));
        good("list", "sizes", QVariantList{64, 32.0}, QVariantList{qlonglong(64), qlonglong(32)});
        bad("list element too small", "sizes", QVariantList{64, 0}, errors::GreaterThanOrEqualTo);
        bad("list element fraction", "sizes", QVariantList{1.5}, errors::InvalidPipeline);
        bad("list empty", "sizes", QVariantList(), errors::NullOrEmpty);
        bad("list from text", "sizes", "64", errors::InvalidPipeline);
        bad("list from number", "sizes", 64, errors::InvalidPipeline);
        good("range", "scale", QVariantList{0.5, 1}, QVariantList{0.5, 1.0});
        good("range of one point", "scale", QVariantList{0.5, 0.5}, QVariantList{0.5, 0.5});
        bad("range reversed", "scale", QVariantList{0.9, 0.5}, errors::LessThanOrEqualTo);
        bad("range low end", "scale", QVariantList{0, 1}, errors::NotInRangeValue);
        bad("range high end", "scale", QVariantList{0.5, 1.5}, errors::NotInRangeValue);
        bad("range of three", "scale", QVariantList{0.1, 0.2, 0.3}, errors::InvalidPipeline);
        bad("range nan", "scale", QVariantList{nan, 1}, errors::InvalidPipeline);
        bad("map", "scale", QVariantMap{{"a", 1}}, errors::InvalidPipeline);
    }
    void check()
    {
        QFETCH(QString, id);
        QFETCH(QVariant, value);
        QFETCH(QString, errorName);
        QFETCH(QVariant, expected);
        const auto checked = specs()[id].check(value);
        if (errorName.isEmpty()) {
            TW_VERIFY(checked);
            QCOMPARE(*checked, expected);
            QCOMPARE(checked->typeId(), expected.typeId());
            return;
        }
        QVERIFY(!checked.ok());
        QCOMPARE(checked.error().name, errorName);
        QCOMPARE(checked.error().parameter, id);
        QVERIFY(checked.error().sentence().contains(id));
    }

    void sentencesNameValueAndRange()
    {
        const Error below = specs()["fraction"].check(1.5).error();
        QCOMPARE(below.sentence(), QStringLiteral("Parameter 'fraction' is 1.5; it must be in (0, 1)."));
        const Error kind = specs()["mode"].check("sideways").error();
        QCOMPARE(kind.sentence(),
                 QStringLiteral("Parameter 'mode' is 'sideways'; it takes: one of for_training, for_inference."));
        QVERIFY(specs()["sizes"].check(QVariantList{64, 0}).error().sentence().contains("is 0; it must be ≥ 1"));
    }

    void rangeTexts_data()
    {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QString>("text");
        QTest::newRow("above") << "epochs"
                               << "integer > 0";
        QTest::newRow("at least") << "padding" << QString::fromUtf8("integer ≥ 0");
        QTest::newRow("open") << "fraction"
                              << "number in (0, 1)";
        QTest::newRow("half open") << "momentum"
                                   << "number in [0, 1)";
        QTest::newRow("at most") << "hue" << QString::fromUtf8("number ≤ 0.5");
        QTest::newRow("automatic") << "seed"
                                   << "integer, or empty (drawn)";
        QTest::newRow("bool") << "flip"
                              << "true or false";
        QTest::newRow("range") << "scale"
                               << "two numbers low,high in (0, 1]";
    }
    void rangeTexts()
    {
        QFETCH(QString, id);
        QTEST(specs()[id].rangeText(), "text");
    }

    void text_data()
    {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QVariant>("expected");
        QTest::newRow("int") << "epochs"
                             << "12" << QVariant(12LL);
        QTest::newRow("int with spaces") << "epochs"
                                         << " 12 " << QVariant(12LL);
        QTest::newRow("int as 1e3") << "epochs"
                                    << "1e3" << QVariant(1000LL);
        QTest::newRow("int automatic") << "seed"
                                       << "" << QVariant();
        QTest::newRow("float") << "rate"
                               << "1e-3" << QVariant(0.001);
        QTest::newRow("bool") << "flip"
                              << "False" << QVariant(false);
        QTest::newRow("list") << "sizes"
                              << "64, 32" << QVariant(QVariantList{64LL, 32LL});
        QTest::newRow("range comma") << "scale"
                                     << "0.08,1" << QVariant(QVariantList{0.08, 1.0});
        QTest::newRow("range dash") << "scale" << QString::fromUtf8("0.08–1") << QVariant(QVariantList{0.08, 1.0});
        QTest::newRow("range hyphen") << "scale"
                                      << "0.08-1" << QVariant(QVariantList{0.08, 1.0});
        QTest::newRow("range exponent") << "scale"
                                        << "1e-2-1e-1" << QVariant(QVariantList{0.01, 0.1});
        QTest::newRow("choice label") << "mode"
                                      << "For training" << QVariant("for_training");
        QTest::newRow("text keeps spaces") << "column"
                                           << " a " << QVariant(" a ");
        QTest::newRow("path") << "path" << QString::fromUtf8("/größe") << QVariant(QByteArray("/größe"));
    }
    void text()
    {
        QFETCH(QString, id);
        QFETCH(QString, text);
        QFETCH(QVariant, expected);
        const ParameterSpec spec = specs()[id];
        const auto value = spec.fromText(text);
        TW_VERIFY(value);
        QCOMPARE(*value, expected);
        QCOMPARE(value->typeId(), expected.typeId());
        const auto again = spec.fromText(spec.toText(*value));
        TW_VERIFY(again);
        QCOMPARE(*again, expected);
    }

    void refusedText_data()
    {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("hint");
        QTest::newRow("decimal comma") << "rate"
                                       << "0,5"
                                       << "decimal point";
        QTest::newRow("separators") << "rate"
                                    << "1,000.5"
                                    << "decimal point";
        QTest::newRow("not a number") << "rate"
                                      << "fast"
                                      << "1e-3";
        QTest::newRow("nan") << "rate"
                             << "nan"
                             << "";
        QTest::newRow("infinity") << "rate"
                                  << "inf"
                                  << "";
        QTest::newRow("hex") << "epochs"
                             << "0x10"
                             << "whole number";
        QTest::newRow("separators in int") << "epochs"
                                           << "1,000"
                                           << "whole number";
        QTest::newRow("fraction") << "epochs"
                                  << "1.5"
                                  << "";
        QTest::newRow("huge") << "epochs"
                              << "99999999999999999999"
                              << "";
        QTest::newRow("yes") << "flip"
                             << "yes"
                             << "true or false";
        QTest::newRow("list with a hole") << "sizes"
                                          << "64,,32"
                                          << "64,32";
        QTest::newRow("range of one") << "scale"
                                      << "0.5"
                                      << "0.08,1";
        QTest::newRow("range with commas") << "scale"
                                           << "0,08,1,0"
                                           << "0.08,1";
    }
    void refusedText()
    {
        QFETCH(QString, id);
        QFETCH(QString, text);
        QFETCH(QString, hint);
        const auto value = specs()[id].fromText(text);
        QVERIFY(!value.ok());
        QCOMPARE(value.error().name, QString(errors::InvalidPipeline));
        QVERIFY2(value.error().hintSentence().contains(hint), qPrintable(value.error().hintSentence()));
    }

    void jsonRoundTrip_data()
    {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QVariant>("value");
        QTest::newRow("int") << "free" << QVariant(-9007199254740993LL);
        QTest::newRow("automatic") << "seed" << QVariant();
        QTest::newRow("float") << "rate" << QVariant(0.1);
        QTest::newRow("whole float") << "rate" << QVariant(2.0);
        QTest::newRow("bool") << "flip" << QVariant(true);
        QTest::newRow("choice") << "mode" << QVariant("for_training");
        QTest::newRow("path") << "path" << QVariant(QByteArray("/a\xff%41"));
        QTest::newRow("list") << "sizes" << QVariant(QVariantList{3LL, 2LL});
        QTest::newRow("range") << "scale" << QVariant(QVariantList{0.25, 1.0});
    }
    void jsonRoundTrip()
    {
        QFETCH(QString, id);
        QFETCH(QVariant, value);
        const ParameterSpec spec = specs()[id];
        const auto read = spec.fromJson(spec.toJson(value));
        TW_VERIFY(read);
        QCOMPARE(*read, value);
        QCOMPARE(read->typeId(), value.typeId());
    }

    void wrongJson_data()
    {
        QTest::addColumn<QString>("id");
        QTest::addColumn<QJsonValue>("json");
        QTest::newRow("object for int") << "epochs" << QJsonValue(QJsonObject{{"a", 1}});
        QTest::newRow("NaN text") << "rate" << QJsonValue("NaN");
        QTest::newRow("object for path") << "path" << QJsonValue(QJsonObject{{"a", 1}});
        QTest::newRow("list for path") << "path" << QJsonValue(QJsonArray{1});
        QTest::newRow("nested list") << "sizes" << QJsonValue(QJsonArray{QJsonArray{1}});
        QTest::newRow("texts in range") << "scale" << QJsonValue(QJsonArray{"0.1", "0.2"});
        QTest::newRow("text for bool") << "flip" << QJsonValue("true");
    }
    void wrongJson()
    {
        QFETCH(QString, id);
        QFETCH(QJsonValue, json);
        const auto read = specs()[id].fromJson(json);
        QVERIFY(!read.ok());
        QCOMPARE(read.error().name, QString(errors::InvalidPipeline));
    }
};

QTEST_GUILESS_MAIN(TestParameterSpec)
#include "tst_parameterspec.moc"
