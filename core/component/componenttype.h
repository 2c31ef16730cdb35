// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/datatype.h"
#include "core/component/runcontext.h"
#include "core/schema/parameterschema.h"

#include <QMap>
#include <QStringList>

#include <any>
#include <functional>
#include <optional>

namespace tw {

struct PortSpec
{
    QString id;
    QString label; ///< English source string
    DataType type = DataType::AnyDirectory;
    bool optional = false; ///< inputs only
};

/// What arrives at an input: the folder outputs/<port>/ of the producing node, and, within one
/// run, the object it was written from (so that a manifest is not parsed again). `object` may be
/// empty at any time; the folder is the truth.
struct PortValue
{
    fs::path folder;
    std::any object;
};

/// What preflight knows of a port before anything has run. Everything is optional.
struct PortFacts
{
    std::optional<QStringList> categories; ///< class names in class-id order
    std::optional<QList<qint64>> counts;   ///< images per category
    std::optional<qint64> images;
    std::optional<bool> labelled;
    std::optional<fs::path> path; ///< AnyDirectory: the chosen file or folder
    QVariantMap extra;            ///< component-specific (architecture, parameters, …)
};

struct PreflightRequest
{
    const ParameterValues &values;   ///< effective
    QMap<QString, PortFacts> inputs; ///< connected inputs
    const StopToken *stop = nullptr;
    /// Only for showing, after an edit: what was seen some seconds ago will do. False before a run.
    bool mayBeRecent = false;
    fs::path cacheFolder{}; ///< <workspace>/cache; empty where there is no workspace
};

struct PreflightReply
{
    QList<Error> errors; ///< nodeId is filled in by the caller
    QStringList warnings;
    QMap<QString, PortFacts> outputs;
    /// One line for the canvas ("60,000 images · 10 classes"); English.
    QString summary;
    /// To show under the fields of parameters (`parameter` is set): text and arguments, no faults.
    QList<Error> notes{};
};

struct RunRequest
{
    const ParameterValues &values;   ///< effective; drawn seeds are filled in
    QMap<QString, PortValue> inputs; ///< connected inputs
    /// Output port → folder to write into; exists and is empty. The engine renames it into
    /// outputs/<port>/ only when run() returned without error.
    QMap<QString, fs::path> outputFolders;
    RunContext &context;
};

struct RunReply
{
    QMap<QString, std::any> objects; ///< output port → in-memory twin (PortValue::object)
};

/// Declaration of a component: everything the canvas, the panel, checks, files, the command line
/// and the reference page know about it.
class ComponentType
{
public:
    QString id;
    int version = 1;
    QString displayName; ///< English source string, QT_TRANSLATE_NOOP("Component", …)
    QString category;    ///< English source string
    QString description; ///< English source string
    QList<PortSpec> inputs;
    QList<PortSpec> outputs;
    ParameterSchema schema;

    /// Pure checks over several parameters; runs in validate(). Optional.
    std::function<QList<Error>(const ParameterValues &)> validate;
    /// Looks at the machine (paths, labels, devices, memory). Worker thread. Optional.
    std::function<PreflightReply(const PreflightRequest &)> preflight;
    /// Does the work. Job thread.
    std::function<Result<RunReply>(const RunRequest &)> run;
    /// Brings stored values of an older version to this one. Optional.
    std::function<ParameterValues(int fromVersion, const ParameterValues &)> migrate;

    // Chained calls for declarations.
    ComponentType &named(const char *name, const char *categoryName, const char *text);
    ComponentType &input(const char *portId, const char *label, DataType type, bool optional = false);
    ComponentType &output(const char *portId, const char *label, DataType type);
    ComponentType &parameter(const ParameterSpec &spec);

    const PortSpec *findInput(const QString &portId) const;
    const PortSpec *findOutput(const QString &portId) const;
};

} // namespace tw
