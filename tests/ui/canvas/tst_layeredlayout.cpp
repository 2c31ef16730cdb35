// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/uitest.h"
#include "ui/canvas/layeredlayout.h"

#include <QRectF>

using namespace tw;
using namespace tw::test;

class TestLayeredLayout : public QObject
{
    Q_OBJECT

private:
    static QMap<QString, QSizeF> sizesOf(const Pipeline &pipeline)
    {
        QMap<QString, QSizeF> sizes;
        for (int i = 0; i < pipeline.nodes.size(); ++i)
            sizes.insert(pipeline.nodes[i].id, QSizeF(224, 90 + 23 * (i % 4)));
        return sizes;
    }

    static void checkNoOverlap(const QMap<QString, QPointF> &places, const QMap<QString, QSizeF> &sizes)
    {
        for (auto a = places.cbegin(); a != places.cend(); ++a) {
            for (auto b = std::next(a); b != places.cend(); ++b)
                QVERIFY2(!QRectF(*a, sizes[a.key()]).intersects(QRectF(*b, sizes[b.key()])),
                         qPrintable(a.key() + u' ' + b.key()));
        }
    }

private Q_SLOTS:
    void wiresRunLeftToRight()
    {
        const Pipeline pipeline = uiPipeline();
        const auto sizes = sizesOf(pipeline);
        const auto places = layeredLayout(pipeline, sizes, 16);
        QCOMPARE(places.size(), pipeline.nodes.size());
        for (const PipelineConnection &wire : pipeline.connections)
            QVERIFY(places[wire.from.node].x() + sizes[wire.from.node].width() < places[wire.to.node].x());
        checkNoOverlap(places, sizes);
        for (const QPointF &place : places) {
            QCOMPARE(std::fmod(place.x(), 16), 0.0);
            QCOMPARE(std::fmod(place.y(), 16), 0.0);
        }
        // A source that feeds only the last node stands beside it, not in the first column.
        QCOMPARE(places[QStringLiteral("model1")].x(), places[QStringLiteral("filter1")].x());
    }

    void ringsAndLooseNodesGetPlaces()
    {
        Pipeline pipeline;
        for (const char *id : {"a", "b", "c", "loose"})
            pipeline.nodes.append(uiNode(id, "test-filter"));
        const QString out = QStringLiteral("images");
        const auto at = [&](const char *id) { return PortAddress{QLatin1String(id), out}; };
        pipeline.connections = {{at("a"), at("b")}, {at("b"), at("c")}, {at("c"), at("a")}};
        const auto sizes = sizesOf(pipeline);
        const auto places = layeredLayout(pipeline, sizes, 16);
        QCOMPARE(places.size(), 4);
        checkNoOverlap(places, sizes);
    }

    void nothingGivesNothing() { QVERIFY(layeredLayout({}, {}, 16).isEmpty()); }
};

QTEST_APPLESS_MAIN(TestLayeredLayout)
#include "tst_layeredlayout.moc"
