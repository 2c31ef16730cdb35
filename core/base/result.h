// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>
#include <QString>
#include <QStringList>

#include <optional>
#include <utility>
#include <variant>

namespace tw {

/// Fixed error names; they are part of files, logs and the command line and are never translated.
namespace errors {
inline constexpr char InvalidDataset[] = "InvalidDatasetError";
inline constexpr char NotLabeledDataset[] = "NotLabeledDatasetError";
inline constexpr char InvalidModelDirectory[] = "InvalidModelDirectoryError";
inline constexpr char InvalidTransformationDirectory[] = "InvalidTransformationDirectoryError";
inline constexpr char NotScoredDataset[] = "NotScoredDatasetError";
inline constexpr char NotInRangeValue[] = "NotInRangeValueError";
inline constexpr char GreaterThan[] = "GreaterThanError";
inline constexpr char GreaterThanOrEqualTo[] = "GreaterThanOrEqualToError";
inline constexpr char LessThanOrEqualTo[] = "LessThanOrEqualToError";
inline constexpr char NullOrEmpty[] = "NullOrEmptyError";
inline constexpr char DuplicateName[] = "DuplicateNameError";
inline constexpr char ModuleOutOfMemory[] = "ModuleOutOfMemoryError";
inline constexpr char FailedToWriteOutputs[] = "FailedToWriteOutputsError";
inline constexpr char TimeoutOccurred[] = "TimeoutOccurredError";
inline constexpr char InvalidResourceLayout[] = "InvalidResourceLayoutError";
inline constexpr char DeviceUnavailable[] = "DeviceUnavailableError";
inline constexpr char CheckpointMismatch[] = "CheckpointMismatchError";
inline constexpr char Canceled[] = "CanceledError";
inline constexpr char InvalidImage[] = "InvalidImageError";
inline constexpr char InvalidPipeline[] = "InvalidPipelineError";
inline constexpr char InvalidWorkspace[] = "InvalidWorkspaceError";
inline constexpr char Library[] = "LibraryError";
} // namespace errors

/// A failure a person can act on. `text` and `hint` are English source strings marked with
/// QT_TRANSLATE_NOOP("Error", …) and contain %1 … %9; only the window translates them.
struct Error
{
    QString name;
    QString text;
    QStringList args;
    QString hint;
    QString nodeId;
    QString parameter;

    /// English sentence with the arguments filled in; arguments are never expanded again.
    QString sentence() const;
    /// English hint with the arguments filled in; empty when there is none.
    QString hintSentence() const;
    /// "NAME: sentence", as the command line and logs print it.
    QString toString() const;
    /// {name, message, hint, node, parameter}; keys without a value are left out.
    QJsonObject toJson() const;
    Error &&atNode(const QString &id) &&;
    Error &&atParameter(const QString &id) &&;
    bool operator==(const Error &) const = default;
};

/// Replaces %1 … %9 in `source` by `args` in one pass (an argument holding "%1" stays as it is).
QString fillArguments(const QString &source, const QStringList &args);

Error makeError(const char *name, const char *text, const QStringList &args = {}, const char *hint = "");

/// A value or an Error. [[nodiscard]]: a failure is never dropped silently.
template <typename T> class [[nodiscard]] Result
{
public:
    Result(T value) : m_data(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_data(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return m_data.index() == 0; }
    explicit operator bool() const { return ok(); }
    const T &value() const & { return std::get<0>(m_data); }
    T &value() & { return std::get<0>(m_data); }
    T &&value() && { return std::get<0>(std::move(m_data)); }
    const T &operator*() const & { return value(); }
    T &operator*() & { return value(); }
    T &&operator*() && { return std::move(*this).value(); }
    const T *operator->() const { return &value(); }
    T *operator->() { return &value(); }
    const Error &error() const { return std::get<1>(m_data); }

private:
    std::variant<T, Error> m_data;
};

template <> class [[nodiscard]] Result<void>
{
public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)) {}

    bool ok() const { return !m_error.has_value(); }
    explicit operator bool() const { return ok(); }
    const Error &error() const { return *m_error; }

private:
    std::optional<Error> m_error;
};

} // namespace tw

/// Returns the error of `expression` (a Result) to the caller, if it has one.
#define TW_TRY(expression)                                                                                             \
    do {                                                                                                               \
        if (auto tw_result_ = (expression); !tw_result_.ok())                                                          \
            return tw_result_.error();                                                                                 \
    } while (false)
/// Declares `name` with the value of `expression`, or returns its error to the caller.
#define TW_ASSIGN(name, expression)                                                                                    \
    auto name##_result_ = (expression);                                                                                \
    if (!name##_result_.ok())                                                                                          \
        return name##_result_.error();                                                                                 \
    auto &name = *name##_result_
