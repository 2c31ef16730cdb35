// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/metricstab.h"

#include "core/metrics/metricstore.h"

namespace tw {

struct MetricsTab::Private
{
    MetricStore store;
};

MetricsTab::MetricsTab(QWidget *parent) : QWidget(parent), d(std::make_unique<Private>()) {}
MetricsTab::~MetricsTab() = default;
void MetricsTab::setJob(Workspace *, const QString &) { d->store.clear(); }
void MetricsTab::setNode(const QString &) {}
void MetricsTab::applyTheme(bool) {}

void MetricsTab::addPoints(const QList<MetricPoint> &points)
{
    for (const MetricPoint &point : points)
        d->store.add(point);
}

qint64 MetricsTab::pointCount() const
{
    qint64 count = 0;
    for (const SeriesKey &key : d->store.keys())
        count += qint64(d->store.find(key)->size());
    return count;
}

} // namespace tw
