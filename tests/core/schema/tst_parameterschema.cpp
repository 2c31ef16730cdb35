// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schema/parameterschema.h"

#include <QTest>

using namespace tw;

namespace {
ParameterSchema schema()
{
    return {ParameterSpec::choice("optimizer", "Optimizer", "sgd", {{"sgd", "SGD"}, {"adam", "Adam"}}),
            ParameterSpec::boolean("nesterov", "Nesterov", true).visibleWhen("optimizer", {"sgd"}),
            ParameterSpec::real("momentum", "Momentum", 0.9).atLeast(0).below(1).visibleWhen("nesterov", {"true"}),
            ParameterSpec::integers("sizes", "Sizes", {10, 5}),
            ParameterSpec::range("scale", "Scale", 0.5, 1),
            ParameterSpec::integer("seed", "Seed", std::nullopt).isAutomatic("drawn"),
            ParameterSpec::path("weights_file", "File").isRequired().visibleWhen("optimizer", {"adam"}),
            ParameterSpec::path("path", "Path").isRequired()};
}

QStringList names(const QList<Error> &faults)
{
    QStringList found;
    for (const Error &fault : faults)
        found.append(fault.parameter + u':' + fault.name);
    return found;
}
} // namespace

class TestParameterSchema : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void gettersReadDefaults()
    {
        const ParameterValues values = schema().defaults();
        QCOMPARE(values.text("optimizer"), QStringLiteral("sgd"));
        QCOMPARE(values.boolean("nesterov"), true);
        QCOMPARE(values.real("momentum"), 0.9);
        QCOMPARE(values.integers("sizes"), QList<qlonglong>({10, 5}));
        QCOMPARE(values.range("scale"), std::pair(0.5, 1.0));
        QVERIFY(!values.isSet("seed"));
        QVERIFY(!values.isSet("path"));
        QVERIFY(values.path("path").empty());
        QVERIFY(!values.isSet("nothing"));
    }

    void storedValuesWinOverDefaults()
    {
        ParameterValues stored;
        stored.set("seed", 7LL);
        stored.set("path", QByteArray("/a"));
        const ParameterValues values = schema().effective(stored);
        QCOMPARE(values.integer("seed"), 7);
        QCOMPARE(values.path("path"), fs::path("/a"));
        QCOMPARE(values.real("momentum"), 0.9);
    }

    void allFaultsAtOnce()
    {
        ParameterValues stored;
        stored.set("momentum", 1.0);
        stored.set("momentm", 0.5);
        stored.set("optimizer", QStringLiteral("lion"));
        QCOMPARE(names(schema().check(stored)),
                 QStringList({"momentm:InvalidPipelineError", "optimizer:InvalidPipelineError",
                              "momentum:NotInRangeValueError", "path:NullOrEmptyError"}));
        QVERIFY(schema().check(stored).first().hintSentence().contains("Did you mean 'momentum'"));
    }

    void requiredValuesAreAskedForOnlyWhenShown()
    {
        ParameterValues stored;
        stored.set("path", QByteArray("/a"));
        QCOMPARE(names(schema().check(stored)), QStringList());
        stored.set("optimizer", QStringLiteral("adam"));
        QCOMPARE(names(schema().check(stored)), QStringList{"weights_file:NullOrEmptyError"});
    }

    void visibilityFollowsChains()
    {
        ParameterValues values = schema().defaults();
        QVERIFY(schema().isVisible("momentum", values));
        values.set("optimizer", QStringLiteral("adam"));
        QVERIFY(!schema().isVisible("nesterov", values));
        QVERIFY(!schema().isVisible("momentum", values));
        QVERIFY(schema().isVisible("weights_file", values));
        QVERIFY(!schema().isVisible("nothing", values));
        const ParameterSchema loop{ParameterSpec::boolean("a", "A", true).visibleWhen("a", {"true"})};
        QVERIFY(!loop.isVisible("a", loop.defaults()));
    }

    void noParametersAtAll()
    {
        ParameterValues stored;
        stored.set("x", 1LL);
        const QList<Error> faults = ParameterSchema().check(stored);
        QCOMPARE(faults.size(), 1);
        QVERIFY(faults.first().hintSentence().contains("no parameters"));
        QVERIFY(ParameterSchema().check({}).isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestParameterSchema)
#include "tst_parameterschema.moc"
