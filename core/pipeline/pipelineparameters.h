// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/component/componentregistry.h"
#include "core/pipeline/pipeline.h"

namespace tw {

/// A parameter of a node that a pipeline parameter sets.
struct BoundParameter
{
    PortAddress target;
    const ParameterSpec *spec = nullptr;
    QVariant value; ///< effective
};

/// What can be said of a pipeline parameter whose targets all exist.
struct PipelineParameterFacts
{
    QString id, label;           ///< the label of the first target where it has none of its own
    QList<BoundParameter> bound; ///< in the order of the targets; absent ones are left out
    /// The targets have different values now; setting the parameter makes them equal.
    bool differs = false;
    /// "integer ≥ 1": of every target, joined by "and" where they differ.
    QString rangeText() const;
};

/// In the order of the file, for messages.
QStringList orderedNodeIds(const Pipeline &pipeline);

QList<PipelineParameterFacts> describePipelineParameters(const Pipeline &pipeline, const ComponentRegistry &registry);

/// Pure, part of validate(). InvalidPipelineError: form of the id, sets nothing, sets what does not
/// exist, targets of different kinds or without a choice in common; DuplicateNameError: two of one id,
/// a node's parameter set twice; NotInRangeValueError: no number is in the range of every target.
/// On the node and parameter of the offending target.
QList<Error> checkPipelineParameters(const Pipeline &pipeline, const ComponentRegistry &registry);

} // namespace tw
