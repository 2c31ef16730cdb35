// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/ids.h"
#include "core/component/componentregistry.h"
#include "core/pipeline/validator.h"
#include "tests/support/testsupport.h"

#include <QRegularExpression>
#include <QTest>

using namespace tw;

/// What every registered component must keep to.
class ComponentContract : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { registerAllComponents(m_registry); }
    void everyExpectedComponentIsThere();
    void declaration_data() { components(); }
    void declaration();
    void ports_data() { components(); }
    void ports();
    void parameters_data() { components(); }
    void parameters();
    void defaultsPassTheirOwnCheck_data() { components(); }
    void defaultsPassTheirOwnCheck();
    void valuesRoundTrip_data() { components(); }
    void valuesRoundTrip();
    void visibility_data() { components(); }
    void visibility();
    void crossChecks_data();
    void crossChecks();
    void everyBoundIsKept_data() { components(); }
    void everyBoundIsKept();

private:
    void components() const;
    const ComponentType *current() const;
    static bool isSnake(const QString &id)
    {
        static const QRegularExpression form(QStringLiteral("^[a-z0-9][a-z0-9_]{0,62}$"));
        return form.match(id).hasMatch();
    }

    ComponentRegistry m_registry;
};

void ComponentContract::components() const
{
    QTest::addColumn<QString>("id");
    for (const ComponentType *type : m_registry.all())
        QTest::newRow(qPrintable(type->id)) << type->id;
}

const ComponentType *ComponentContract::current() const
{
    QFETCH(QString, id);
    return m_registry.find(id);
}

void ComponentContract::everyExpectedComponentIsThere()
{
    for (const char *id :
         {"image-dataset", "convert-to-image-directory", "split-image-directory", "init-image-transformation",
          "apply-image-transformation", "resnet", "densenet", "efficientnet", "mobilenet", "load-model",
          "basic-network", "train-pytorch-model", "score-image-model", "evaluate-model"})
        QVERIFY2(m_registry.find(QLatin1String(id)), id);
    QCOMPARE(m_registry.find(QStringLiteral("run-script")), nullptr);
}

void ComponentContract::declaration()
{
    const ComponentType *type = current();
    QVERIFY(isComponentId(type->id));
    QVERIFY(type->version >= 1);
    QVERIFY(!type->displayName.isEmpty());
    QVERIFY(!type->category.isEmpty());
    QVERIFY2(type->description.endsWith(u'.'), qPrintable(type->description));
    QVERIFY(type->run);
    QVERIFY2(!type->outputs.isEmpty(), "a node without an output is of no use");
}

void ComponentContract::ports()
{
    const ComponentType *type = current();
    for (const QList<PortSpec> *side : {&type->inputs, &type->outputs}) {
        QSet<QString> seen;
        for (const PortSpec &port : *side) {
            QVERIFY2(isSnake(port.id), qPrintable(port.id));
            QVERIFY2(!seen.contains(port.id), qPrintable(port.id));
            QVERIFY2(!port.label.isEmpty(), qPrintable(port.id));
            seen.insert(port.id);
        }
    }
    for (const PortSpec &port : type->inputs)
        QCOMPARE(type->findInput(port.id)->type, port.type);
    for (const PortSpec &port : type->outputs)
        QVERIFY2(!port.optional, qPrintable(port.id));
    QCOMPARE(type->findOutput(QStringLiteral("no_such_port")), nullptr);
}

void ComponentContract::parameters()
{
    QSet<QString> seen;
    for (const ParameterSpec &spec : current()->schema.specs()) {
        QVERIFY2(isSnake(spec.id), qPrintable(spec.id));
        QVERIFY2(!seen.contains(spec.id), qPrintable(spec.id));
        seen.insert(spec.id);
        QVERIFY2(!spec.label.isEmpty(), qPrintable(spec.id));
        QVERIFY2(spec.help.endsWith(u'.') && spec.help.size() > 10, qPrintable(spec.id));
        QVERIFY2(!spec.rangeText().isEmpty(), qPrintable(spec.id));
        QCOMPARE(spec.kind == ParameterKind::Choice, !spec.choices.isEmpty());
        QSet<QString> ids;
        for (const ParameterChoice &choice : spec.choices) {
            QVERIFY2(isSnake(choice.id) && !choice.label.isEmpty(), qPrintable(spec.id));
            ids.insert(choice.id);
        }
        QCOMPARE(ids.size(), spec.choices.size());
    }
}

void ComponentContract::defaultsPassTheirOwnCheck()
{
    const ComponentType *type = current();
    const ParameterValues defaults = type->schema.defaults();
    for (const ParameterSpec &spec : type->schema.specs()) {
        const auto checked = spec.check(defaults.value(spec.id));
        if (spec.required) {
            QVERIFY2(!checked.ok(), qPrintable(spec.id));
            QCOMPARE(checked.error().name, QLatin1String(errors::NullOrEmpty));
            QCOMPARE(checked.error().parameter, spec.id);
            continue;
        }
        TW_VERIFY(checked);
        QCOMPARE(*checked, defaults.value(spec.id));
    }
    for (const Error &fault : type->schema.check(ParameterValues()))
        QVERIFY2(type->schema.find(fault.parameter)->required, qPrintable(fault.toString()));
    const auto required = [](const ParameterSpec &spec) { return spec.required; };
    const auto &specs = type->schema.specs();
    if (type->validate && std::none_of(specs.begin(), specs.end(), required)) {
        const QList<Error> faults = type->validate(defaults);
        QVERIFY2(faults.isEmpty(), faults.isEmpty() ? "" : qPrintable(faults.first().toString()));
    }
}

void ComponentContract::valuesRoundTrip()
{
    for (const ParameterSpec &spec : current()->schema.specs()) {
        QVariantList values{spec.defaultValue};
        for (const ParameterChoice &choice : spec.choices)
            values.append(choice.id);
        if (spec.kind == ParameterKind::Path)
            values.append(QByteArray("/data/caf\xe9/pictures"));
        if (spec.kind == ParameterKind::Bool)
            values.append(!spec.defaultValue.toBool());
        for (const QVariant &value : values) {
            if (!value.isValid() && !spec.automatic)
                continue;
            const auto fromJson = spec.fromJson(spec.toJson(value));
            TW_VERIFY(fromJson);
            QCOMPARE(*fromJson, value);
            if (spec.kind == ParameterKind::Path && value.isValid())
                continue; // bytes that are not UTF-8 have no text form
            const auto fromText = spec.fromText(spec.toText(value));
            TW_VERIFY(fromText);
            QCOMPARE(*fromText, value);
        }
    }
}

void ComponentContract::visibility()
{
    const ParameterSchema &schema = current()->schema;
    for (const ParameterSpec &spec : schema.specs()) {
        if (spec.visibleWhenId.isEmpty())
            continue;
        const ParameterSpec *other = schema.find(spec.visibleWhenId);
        QVERIFY2(other, qPrintable(spec.id + QStringLiteral(" depends on ") + spec.visibleWhenId));
        QVERIFY2(!spec.visibleWhenValues.isEmpty(), qPrintable(spec.id));
        ParameterValues values = schema.defaults();
        for (const QString &text : spec.visibleWhenValues) {
            const auto value = other->fromText(text);
            TW_VERIFY(value);
            values.set(other->id, *value);
            QVERIFY2(schema.isVisible(spec.id, values), qPrintable(spec.id));
        }
    }
}

void ComponentContract::crossChecks_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<QVariantMap>("values");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("parameter");
    QTest::addColumn<QString>("offender");
    QTest::newRow("two processes") << "train-pytorch-model" << QVariantMap{{"process_count_per_node", 2LL}}
                                   << "InvalidResourceLayoutError"
                                   << "process_count_per_node"
                                   << "2";
    QTest::newRow("three nodes") << "train-pytorch-model" << QVariantMap{{"node_count", 3LL}}
                                 << "InvalidResourceLayoutError"
                                 << "node_count"
                                 << "3";
    QTest::newRow("long warm-up") << "train-pytorch-model" << QVariantMap{{"epochs", 2LL}, {"warmup_epochs", 7LL}}
                                  << "LessThanOrEqualToError"
                                  << "warmup_epochs"
                                  << "7";
    QTest::newRow("crop above size") << "init-image-transformation"
                                     << QVariantMap{{"size", 100LL}, {"crop_size", 101LL}} << "LessThanOrEqualToError"
                                     << "crop_size"
                                     << "101";
    QTest::newRow("weights without a file") << "resnet" << QVariantMap{{"weights", "file"}} << "NullOrEmptyError"
                                            << "weights_file"
                                            << "file";
    QTest::newRow("subfolder outside") << "image-dataset"
                                       << QVariantMap{{"path", QByteArray("/tmp")}, {"subfolder", "../secret"}}
                                       << "InvalidDatasetError"
                                       << "subfolder"
                                       << "../secret";
    QTest::newRow("class name twice") << "convert-to-image-directory" << QVariantMap{{"class_names", "a, b,a"}}
                                      << "DuplicateNameError"
                                      << "class_names"
                                      << "'a'";
    QTest::newRow("class name empty") << "convert-to-image-directory" << QVariantMap{{"class_names", "a,,b"}}
                                      << "NullOrEmptyError"
                                      << "class_names"
                                      << "a,,b";
    QTest::newRow("too many threads") << "train-pytorch-model" << QVariantMap{{"num_workers", 1025LL}}
                                      << "LessThanOrEqualToError"
                                      << "num_workers"
                                      << "1025";
    QTest::newRow("scoring batch") << "score-image-model" << QVariantMap{{"batch_size", 4294967296LL}}
                                   << "LessThanOrEqualToError"
                                   << "batch_size"
                                   << "4294967296";
    QTest::newRow("huge border") << "init-image-transformation" << QVariantMap{{"padding", 65536LL}}
                                 << "LessThanOrEqualToError"
                                 << "padding"
                                 << "65536";
}

void ComponentContract::crossChecks()
{
    QFETCH(QString, id);
    QFETCH(QVariantMap, values);
    QFETCH(QString, name);
    QFETCH(QString, parameter);
    QFETCH(QString, offender);
    const ComponentType *type = m_registry.find(id);
    ParameterValues stored;
    for (auto it = values.begin(); it != values.end(); ++it)
        stored.set(it.key(), it.value());
    const QList<Error> faults = type->validate(type->schema.effective(stored));
    QCOMPARE(faults.size(), 1);
    QCOMPARE(faults.first().name, name);
    QCOMPARE(faults.first().parameter, parameter);
    QVERIFY2(faults.first().sentence().contains(offender), qPrintable(faults.first().sentence()));
    QVERIFY(!faults.first().hint.isEmpty());
}

namespace {

/// Values that the parameter refuses, with the name of the refusal.
QList<std::pair<QVariant, const char *>> refusedBy(const ParameterSpec &spec)
{
    const bool closed = spec.minimum && spec.maximum;
    const auto beyond = [&](const ParameterBound &bound, int way) {
        const double value = bound.exclusive ? bound.value : bound.value + way;
        const QVariant number = spec.kind == ParameterKind::Float || spec.kind == ParameterKind::FloatRange
                                    ? QVariant(value)
                                    : QVariant(qlonglong(value));
        if (spec.kind == ParameterKind::FloatRange)
            return QVariant(QVariantList{number, number});
        return spec.kind == ParameterKind::IntList ? QVariant(QVariantList{number}) : number;
    };
    QList<std::pair<QVariant, const char *>> refused{{QVariantMap{{"no", "value"}}, errors::InvalidPipeline}};
    if (spec.minimum)
        refused.append({beyond(*spec.minimum, -1), closed                    ? errors::NotInRangeValue
                                                   : spec.minimum->exclusive ? errors::GreaterThan
                                                                             : errors::GreaterThanOrEqualTo});
    if (spec.maximum)
        refused.append({beyond(*spec.maximum, 1), closed ? errors::NotInRangeValue : errors::LessThanOrEqualTo});
    if (spec.kind == ParameterKind::Choice && !spec.machineChoices)
        refused.append({QStringLiteral("none_of_them"), errors::InvalidPipeline});
    if (!spec.automatic && spec.kind != ParameterKind::Text && (spec.kind != ParameterKind::Path || spec.required))
        refused.append({QVariant(), errors::NullOrEmpty});
    return refused;
}

QString shown(QVariant value)
{
    if (value.typeId() == QMetaType::QVariantList)
        value = value.toList().first();
    return value.typeId() == QMetaType::QVariantMap ? QStringLiteral("{…}") : value.toString();
}

} // namespace

/// Every parameter of the component, each with all that its declaration refuses.
void ComponentContract::everyBoundIsKept()
{
    const ComponentType *type = current();
    const ParameterSchema &schema = type->schema;
    for (const ParameterSpec &spec : schema.specs())
        for (const auto &[value, name] : refusedBy(spec)) {
            Pipeline pipeline;
            pipeline.nodes.resize(1);
            pipeline.nodes[0].id = QStringLiteral("node");
            pipeline.nodes[0].component = type->id;
            ParameterValues &values = pipeline.nodes[0].parameters;
            if (!spec.visibleWhenId.isEmpty())
                values.set(spec.visibleWhenId,
                           *schema.find(spec.visibleWhenId)->fromText(spec.visibleWhenValues.first()));
            values.set(spec.id, value);
            QList<Error> faults = validate(pipeline, m_registry);
            faults.removeIf([&](const Error &fault) { return fault.parameter != spec.id; });
            const QString what = spec.id + u' ' + shown(value);
            QVERIFY2(faults.size() == 1, qPrintable(what));
            QVERIFY2(faults[0].name == QLatin1String(name), qPrintable(what + u' ' + faults[0].toString()));
            QCOMPARE(faults[0].nodeId, QStringLiteral("node"));
            QVERIFY2(faults[0].sentence().contains(spec.id) && faults[0].sentence().contains(shown(value)),
                     qPrintable(faults[0].sentence()));
            QVERIFY2(faults[0].hintSentence().endsWith(u'.') && !faults[0].hintSentence().contains(u'%'),
                     qPrintable(faults[0].hintSentence()));
        }
}

QTEST_GUILESS_MAIN(ComponentContract)
#include "tst_componentcontract.moc"
