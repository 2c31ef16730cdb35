// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <QList>
#include <QString>
#include <QVariant>

#include <functional>
#include <optional>

namespace tw {

enum class ParameterKind { Int, Float, Bool, Choice, Text, Path, IntList, FloatRange };

struct ParameterChoice
{
    QString id;
    QString label; ///< English source string, QT_TRANSLATE_NOOP("Parameter", …)
};

/// One bound of a range; `exclusive` means the bound itself is refused.
struct ParameterBound
{
    double value = 0;
    bool exclusive = false;
};

/// Describes a parameter once; panel, file, command line, checks and reference page read it.
///
/// Values are QVariants: Int qlonglong, Float double, Bool bool, Choice and Text QString,
/// Path QByteArray (bytes of the path), IntList QVariantList of qlonglong, FloatRange QVariantList
/// of two doubles (low, high). An invalid QVariant is *automatic* (null in a file, empty text on
/// the command line) and is allowed only where `automatic` is set.
struct ParameterSpec
{
    QString id;
    ParameterKind kind = ParameterKind::Text;
    QString label; ///< English source string
    QString help;  ///< English source string
    QString unit;
    QVariant defaultValue;
    std::optional<ParameterBound> minimum;
    std::optional<ParameterBound> maximum;
    QList<ParameterChoice> choices;
    /// Choices only this machine knows (devices). With it the list is open: any text is accepted
    /// here and checked in preflight.
    std::function<QList<ParameterChoice>()> machineChoices;
    bool required = false;  ///< no default; empty is NullOrEmptyError
    bool automatic = false; ///< may be left empty
    QString automaticLabel; ///< what empty means, shown in the editor ("auto")
    bool advanced = false;
    bool affectsResult = true; ///< part of the node key
    bool directory = false;    ///< Path: choose a folder rather than a file
    /// Shown only while parameter `visibleWhenId` has one of these values (text form).
    QString visibleWhenId;
    QStringList visibleWhenValues;

    // Chained calls for declarations.
    ParameterSpec &withHelp(const char *text);
    ParameterSpec &withUnit(const char *text);
    ParameterSpec &atLeast(double value);
    ParameterSpec &above(double value);
    ParameterSpec &atMost(double value);
    ParameterSpec &below(double value);
    ParameterSpec &isRequired();
    ParameterSpec &isAutomatic(const char *labelText);
    ParameterSpec &isAdvanced();
    ParameterSpec &keepsResult();
    ParameterSpec &isDirectory();
    ParameterSpec &visibleWhen(const char *parameter, const QStringList &values);
    ParameterSpec &withMachineChoices(std::function<QList<ParameterChoice>()> provider);

    static ParameterSpec integer(const char *id, const char *label, std::optional<qlonglong> value);
    static ParameterSpec real(const char *id, const char *label, std::optional<double> value);
    static ParameterSpec boolean(const char *id, const char *label, bool value);
    /// `value` empty: required, no default.
    static ParameterSpec choice(const char *id, const char *label, const char *value,
                                const QList<ParameterChoice> &choices);
    static ParameterSpec text(const char *id, const char *label, const char *value);
    static ParameterSpec path(const char *id, const char *label);
    static ParameterSpec integers(const char *id, const char *label, const QList<qlonglong> &value);
    static ParameterSpec range(const char *id, const char *label, double low, double high);

    /// "integer ≥ 1", "number in (0, 1)": for messages, `describe` and the panel.
    QString rangeText() const;
    /// Checks kind and range and normalises (an Int 3.0 becomes 3, an English label its id).
    /// Errors, with the value in the sentence and `parameter` set: NotInRangeValueError (two
    /// bounds), GreaterThanError, GreaterThanOrEqualToError, LessThanOrEqualToError (one bound),
    /// NullOrEmptyError (empty), InvalidPipelineError (wrong kind, unknown choice).
    Result<QVariant> check(const QVariant &value) const;
    Result<QVariant> fromJson(const QJsonValue &json) const;
    QJsonValue toJson(const QVariant &value) const;
    /// Command-line text: C-locale numbers, true/false, lists as 1,2,3, ranges as low,high or low–high.
    Result<QVariant> fromText(const QString &text) const;
    QString toText(const QVariant &value) const;
};

} // namespace tw
