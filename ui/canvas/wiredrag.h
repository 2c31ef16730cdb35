// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/pipeline/pipeline.h"

#include <QPointF>

#include <optional>

class QGraphicsPathItem;

namespace tw {

class PipelineScene;
class PortItem;

/// A wire in the hand. Started on a free port it makes a new connection; started on a connected
/// input it takes that connection's end along. Destroying it leaves the pipeline as it was.
class WireDrag
{
public:
    WireDrag(PipelineScene &scene, PortItem *pressed, const QPointF &position);
    ~WireDrag();
    WireDrag(const WireDrag &) = delete;
    WireDrag &operator=(const WireDrag &) = delete;

    void moveTo(const QPointF &position);

    enum class Outcome { Connected, Disconnected, Nothing, Refused, Empty };
    struct Drop
    {
        Outcome outcome;
        std::optional<Error> reason; ///< Refused
    };
    Drop dropAt(const QPointF &position);
    /// The end that stays.
    const PortAddress &fixedEnd() const { return m_fixed; }
    bool fixedIsOutput() const { return m_fixedIsOutput; }
    /// Why the port under the hand does not fit, if it does not.
    const std::optional<Error> &currentFault() const { return m_fault; }

private:
    PortItem *targetAt(const QPointF &position) const;
    std::optional<Error> faultOf(const PortItem *target) const;
    void markPorts();
    void clearMarks();

    PipelineScene &m_scene;
    PortAddress m_fixed;
    bool m_fixedIsOutput;
    QPointF m_start, m_fixedPoint;
    std::optional<PipelineConnection> m_taken;
    QGraphicsPathItem *m_picture = nullptr;
    PortItem *m_target = nullptr;
    std::optional<Error> m_fault;
};

} // namespace tw
