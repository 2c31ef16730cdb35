// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pipeline/pipelineparameters.h"

#include "core/base/ids.h"
#include "core/base/nearest.h"

#include <algorithm>

namespace tw {

namespace {

const char *const bindHint = QT_TRANSLATE_NOOP("Error", "Bind it to a parameter of a node, or remove it.");

/// Empty where node, component or parameter are not known.
BoundParameter boundTo(const PortAddress &target, const Pipeline &pipeline, const ComponentRegistry &registry)
{
    const PipelineNode *node = pipeline.find(target.node);
    const ComponentType *type = node ? registry.find(node->component) : nullptr;
    const ParameterSpec *spec = type ? type->schema.find(target.port) : nullptr;
    if (spec == nullptr)
        return {target, nullptr, {}};
    return {target, spec, type->schema.effective(node->parameters).value(spec->id)};
}

class Checker
{
public:
    Checker(const Pipeline &pipeline, const ComponentRegistry &registry) : m_pipeline(pipeline), m_registry(registry) {}

    QList<Error> run()
    {
        QSet<QString> seen;
        for (const PipelineParameter &parameter : m_pipeline.parameters) {
            const bool isNew = !seen.contains(parameter.id);
            checkId(parameter.id, seen);
            if (parameter.targets.isEmpty())
                m_faults.append(makeError(errors::InvalidPipeline,
                                          QT_TRANSLATE_NOOP("Error", "Pipeline parameter '%1' sets nothing."),
                                          {parameter.id}, bindHint));
            QList<BoundParameter> bound;
            for (const PortAddress &target : parameter.targets) {
                checkTarget(parameter.id, target);
                if (isNew)
                    checkSetOnce(parameter.id, target);
                if (const BoundParameter one = boundTo(target, m_pipeline, m_registry); one.spec != nullptr)
                    bound.append(one);
            }
            checkAgreement(parameter.id, bound);
        }
        return m_faults;
    }

private:
    void checkId(const QString &id, QSet<QString> &seen)
    {
        if (!isNodeId(id))
            m_faults.append(makeError(
                errors::InvalidPipeline, QT_TRANSLATE_NOOP("Error", "'%1' is not an id of a pipeline parameter."), {id},
                QT_TRANSLATE_NOOP("Error", "An id starts with a letter a–z and goes on with up to 62 "
                                           "letters a–z, digits or '_'.")));
        if (seen.contains(id))
            m_faults.append(makeError(errors::DuplicateName,
                                      QT_TRANSLATE_NOOP("Error", "Two pipeline parameters are called '%1'."), {id},
                                      QT_TRANSLATE_NOOP("Error", "Rename one of them.")));
        seen.insert(id);
    }

    void checkTarget(const QString &id, const PortAddress &target)
    {
        const PipelineNode *node = m_pipeline.find(target.node);
        const ComponentType *type = node ? m_registry.find(node->component) : nullptr;
        if (node != nullptr && (type == nullptr || type->schema.find(target.port) != nullptr))
            return;
        QStringList known;
        if (node == nullptr)
            known = orderedNodeIds(m_pipeline);
        else
            for (const ParameterSpec &spec : type->schema.specs())
                known.append(spec.id);
        const QString nearest = nearestText(node == nullptr ? target.node : target.port, known);
        m_faults.append(
            makeError(errors::InvalidPipeline,
                      QT_TRANSLATE_NOOP("Error", "Pipeline parameter '%1' sets '%2', which does not exist."),
                      {id, target.toText(), nearest},
                      nearest.isEmpty() ? bindHint
                                        : QT_TRANSLATE_NOOP("Error", "Did you mean '%3'? Otherwise bind it to another "
                                                                     "parameter of a node, or remove it."))
                .atNode(node == nullptr ? QString() : target.node)
                .atParameter(node == nullptr ? QString() : target.port));
    }

    void checkSetOnce(const QString &id, const PortAddress &target)
    {
        const auto before = m_setBy.constFind(target);
        if (before == m_setBy.constEnd()) {
            m_setBy.insert(target, id);
            return;
        }
        m_faults.append(makeError(errors::DuplicateName,
                                  QT_TRANSLATE_NOOP("Error", "'%1' is set by pipeline parameter '%2' and by '%3'."),
                                  {target.toText(), *before, id},
                                  QT_TRANSLATE_NOOP("Error", "Take it out of one of them, so that one value counts."))
                            .atNode(target.node)
                            .atParameter(target.port));
    }

    /// Every target must be able to take one and the same value.
    void checkAgreement(const QString &id, const QList<BoundParameter> &bound)
    {
        for (qsizetype i = 1; i < bound.size(); ++i) {
            const BoundParameter &first = bound.first(), &other = bound[i];
            if (first.spec->kind == other.spec->kind && haveChoiceInCommon(*first.spec, *other.spec))
                continue;
            m_faults.append(
                makeError(errors::InvalidPipeline,
                          QT_TRANSLATE_NOOP("Error", "Pipeline parameter '%1' sets '%2' (%3) and '%4' (%5), which take "
                                                     "different values."),
                          {id, first.target.toText(), first.spec->rangeText(), other.target.toText(),
                           other.spec->rangeText()},
                          QT_TRANSLATE_NOOP("Error", "Bind parameters of one kind, or use two pipeline parameters."))
                    .atNode(other.target.node)
                    .atParameter(other.target.port));
            return;
        }
        checkCommonRange(id, bound);
    }

    static bool haveChoiceInCommon(const ParameterSpec &one, const ParameterSpec &other)
    {
        if (one.kind != ParameterKind::Choice || one.machineChoices || other.machineChoices)
            return true;
        return std::any_of(one.choices.begin(), one.choices.end(), [&](const ParameterChoice &choice) {
            return std::any_of(other.choices.begin(), other.choices.end(),
                               [&](const ParameterChoice &same) { return same.id == choice.id; });
        });
    }

    void checkCommonRange(const QString &id, const QList<BoundParameter> &bound)
    {
        std::optional<ParameterBound> low, high;
        for (const BoundParameter &one : bound) {
            if (one.spec->minimum && (!low || one.spec->minimum->value > low->value))
                low = one.spec->minimum;
            if (one.spec->maximum && (!high || one.spec->maximum->value < high->value))
                high = one.spec->maximum;
        }
        if (!low || !high || low->value < high->value
            || (low->value == high->value && !low->exclusive && !high->exclusive))
            return;
        m_faults.append(
            makeError(
                errors::NotInRangeValue,
                QT_TRANSLATE_NOOP("Error", "No value of pipeline parameter '%1' is in the range of all it sets: %2."),
                {id, PipelineParameterFacts{id, {}, bound, false}.rangeText()},
                QT_TRANSLATE_NOOP("Error", "Use two pipeline parameters."))
                .atNode(bound.last().target.node)
                .atParameter(bound.last().target.port));
    }

    const Pipeline &m_pipeline;
    const ComponentRegistry &m_registry;
    QMap<PortAddress, QString> m_setBy;
    QList<Error> m_faults;
};

} // namespace

QString PipelineParameterFacts::rangeText() const
{
    QStringList ranges;
    for (const BoundParameter &one : bound)
        if (const QString range = one.spec->rangeText(); !ranges.contains(range))
            ranges.append(range);
    return ranges.join(QStringLiteral(" and "));
}

QStringList orderedNodeIds(const Pipeline &pipeline)
{
    QStringList ids;
    for (const PipelineNode &node : pipeline.nodes)
        ids.append(node.id);
    return ids;
}

QList<PipelineParameterFacts> describePipelineParameters(const Pipeline &pipeline, const ComponentRegistry &registry)
{
    QList<PipelineParameterFacts> all;
    for (const PipelineParameter &parameter : pipeline.parameters) {
        PipelineParameterFacts facts{parameter.id, parameter.label, {}, false};
        for (const PortAddress &target : parameter.targets)
            if (const BoundParameter one = boundTo(target, pipeline, registry); one.spec != nullptr)
                facts.bound.append(one);
        if (facts.label.isEmpty() && !facts.bound.isEmpty())
            facts.label = facts.bound.first().spec->label;
        for (const BoundParameter &one : facts.bound)
            facts.differs = facts.differs || one.value != facts.bound.first().value;
        all.append(facts);
    }
    return all;
}

QList<Error> checkPipelineParameters(const Pipeline &pipeline, const ComponentRegistry &registry)
{
    return Checker(pipeline, registry).run();
}

} // namespace tw
