// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/components/blockrunner.h"

#include <QFile>

namespace tw::test {

void BlockRunner::begin()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_context = std::make_unique<RecordingContext>(folder() / "job");
}

QByteArray BlockRunner::bytes(const fs::path &file)
{
    QFile in(QString::fromStdString(file.string()));
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray("unreadable");
}

ParameterValues BlockRunner::values(const char *component, const QVariantMap &stored) const
{
    ParameterValues given;
    for (auto it = stored.begin(); it != stored.end(); ++it)
        given.set(it.key(), it.value());
    return m_registry.find(QLatin1String(component))->schema.effective(given);
}

PreflightReply BlockRunner::preflight(const char *component, const QVariantMap &stored) const
{
    const ParameterValues effective = values(component, stored);
    return m_registry.find(QLatin1String(component))->preflight({effective, {}, nullptr, false});
}

Result<RunReply> BlockRunner::run(const char *component, const QVariantMap &stored)
{
    const ComponentType *type = m_registry.find(QLatin1String(component));
    m_outputs.clear();
    for (const PortSpec &port : type->outputs) {
        m_outputs[port.id] = folder() / ("out" + std::to_string(++m_runs));
        fs::create_directories(m_outputs[port.id]);
    }
    const ParameterValues effective = values(component, stored);
    return type->run({effective, {}, m_outputs, *m_context});
}

} // namespace tw::test
