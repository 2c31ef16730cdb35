// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/metrics/metricscsv.h"

#include <QIODevice>

namespace tw {

bool writeMetricsCsv(QIODevice &device, const MetricStore &store, const QList<SeriesKey> &keys, CsvFormulas formulas)
{
    QByteArray text =
        csvRow({QStringLiteral("node"), QStringLiteral("series"), QStringLiteral("rank"), QStringLiteral("step"),
                QStringLiteral("epoch"), QStringLiteral("seconds"), QStringLiteral("value")});
    for (const SeriesKey &key : keys) {
        const MetricSeries *series = store.find(key);
        for (size_t i = 0; series && i < series->size(); ++i) {
            text += csvRow({key.node, key.series, QString::number(key.rank), QString::number(series->steps[i]),
                            csvNumber(series->epochs[i]), csvNumber(series->seconds[i]), csvNumber(series->values[i])},
                           formulas);
            if (text.size() > (1 << 16) && device.write(std::exchange(text, {})) < 0)
                return false;
        }
    }
    return device.write(text) == text.size();
}

} // namespace tw
