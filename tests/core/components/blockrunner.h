// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componentregistry.h"
#include "core/component/portobjects.h"
#include "tests/support/recordingcontext.h"

#include <QTemporaryDir>

#include <memory>

namespace tw::test {

/// Looks at and runs one block without inputs, each test function in a folder of its own.
class BlockRunner
{
protected:
    BlockRunner() { registerAllComponents(m_registry); }
    /// Before each test function.
    void begin();
    fs::path folder() const { return m_folder->path().toStdString(); }
    PreflightReply preflight(const char *component, const QVariantMap &stored) const;
    Result<RunReply> run(const char *component, const QVariantMap &stored);
    /// What the last run wrote.
    UntrainedModel untrained() const { return *UntrainedModel::read(m_outputs["untrained_model"]); }
    static QByteArray bytes(const fs::path &file);

    std::unique_ptr<RecordingContext> m_context;
    QMap<QString, fs::path> m_outputs;

private:
    ParameterValues values(const char *component, const QVariantMap &stored) const;

    ComponentRegistry m_registry;
    std::unique_ptr<QTemporaryDir> m_folder;
    int m_runs = 0;
};

} // namespace tw::test
