// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/componentregistry.h"

#include <QTest>

using namespace tw;

class TestComponentRegistry : public QObject
{
    Q_OBJECT
    static ComponentType component(const char *id, const char *category)
    {
        ComponentType type;
        type.id = QString::fromLatin1(id);
        type.named("Name", category, "Text")
            .input("in", "In", DataType::ImageDirectory)
            .input("more", "More", DataType::DataTable, true)
            .output("out", "Out", DataType::ModelDirectory)
            .parameter(ParameterSpec::integer("epochs", "Epochs", 5));
        return type;
    }

private Q_SLOTS:
    void chainedCallsDeclare()
    {
        const ComponentType type = component("a", "Models");
        QCOMPARE(type.displayName, QStringLiteral("Name"));
        QCOMPARE(type.findInput("in")->type, DataType::ImageDirectory);
        QVERIFY(!type.findInput("in")->optional);
        QVERIFY(type.findInput("more")->optional);
        QVERIFY(type.findInput("out") == nullptr);
        QCOMPARE(type.findOutput("out")->type, DataType::ModelDirectory);
        QVERIFY(type.schema.find("epochs") != nullptr);
    }

    void paletteOrderIsCategoryThenDeclaration()
    {
        ComponentRegistry registry;
        registry.add(component("z-custom", "Zoo"));
        registry.add(component("b-custom", "Barn"));
        registry.add(component("train", "Model Training"));
        registry.add(component("resnet", "Models"));
        registry.add(component("densenet", "Models"));
        registry.add(component("dataset", "Data Input"));
        QStringList ids;
        for (const ComponentType *type : registry.all())
            ids.append(type->id);
        QCOMPARE(ids, QStringList({"dataset", "resnet", "densenet", "train", "b-custom", "z-custom"}));
        QCOMPARE(registry.find("resnet")->id, QStringLiteral("resnet"));
        QVERIFY(registry.find("ResNet") == nullptr);
    }

    void typeNames()
    {
        QCOMPARE(dataTypeName(DataType::AnyDirectory), QStringLiteral("AnyDirectory"));
        QCOMPARE(dataTypeName(DataType::EvaluationResult), QStringLiteral("EvaluationResult"));
    }
};

QTEST_GUILESS_MAIN(TestComponentRegistry)
#include "tst_componentregistry.moc"
