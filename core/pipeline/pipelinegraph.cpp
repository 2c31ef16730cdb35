// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/pipeline/pipelinegraph.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace tw {

static size_t at(int index)
{
    return static_cast<size_t>(index);
}

PipelineGraph::PipelineGraph(const Pipeline &pipeline)
    : m_before(at(int(pipeline.nodes.size()))), m_after(at(int(pipeline.nodes.size())))
{
    for (int i = 0; i < int(pipeline.nodes.size()); ++i) {
        if (!m_index.contains(pipeline.nodes[i].id))
            m_index.insert(pipeline.nodes[i].id, i);
    }
    for (const PipelineConnection &connection : pipeline.connections) {
        const int from = indexOf(connection.from.node);
        const int to = indexOf(connection.to.node);
        if (from < 0 || to < 0)
            continue;
        m_before[at(to)].append(from);
        m_after[at(from)].append(to);
    }
}

namespace {

/// Takes away nodes that nothing feeds any more; what stays is in a cycle or behind one.
class Peeler
{
public:
    Peeler(const std::vector<QList<int>> &before, const std::vector<QList<int>> &after)
        : m_after(after), m_gone(before.size())
    {
        for (const QList<int> &producers : before)
            m_waiting.push_back(producers.size());
        for (size_t i = 0; i < before.size(); ++i) {
            if (m_waiting[i] == 0)
                remove(int(i));
        }
    }
    bool isGone(int node) const { return m_gone[at(node)]; }
    void remove(int first)
    {
        std::vector<int> ready{first};
        while (!ready.empty()) {
            const int node = ready.back();
            ready.pop_back();
            if (m_gone[at(node)])
                continue;
            m_gone[at(node)] = true;
            for (const int next : m_after[at(node)]) {
                if (--m_waiting[at(next)] == 0)
                    ready.push_back(next);
            }
        }
    }

private:
    const std::vector<QList<int>> &m_after;
    std::vector<bool> m_gone;
    std::vector<qsizetype> m_waiting;
};

/// Walks backwards over nodes that are still there until one comes again.
QList<int> cycleBehind(int start, const std::vector<QList<int>> &before, const Peeler &peeler)
{
    QList<int> walk;
    QHash<int, qsizetype> seenAt;
    for (int node = start; !seenAt.contains(node);) {
        seenAt.insert(node, walk.size());
        walk.append(node);
        const QList<int> &producers = before[at(node)];
        node =
            *std::find_if(producers.begin(), producers.end(), [&](int producer) { return !peeler.isGone(producer); });
        if (seenAt.contains(node))
            walk = walk.mid(seenAt.value(node));
    }
    std::reverse(walk.begin(), walk.end());
    std::rotate(walk.begin(), std::min_element(walk.begin(), walk.end()), walk.end());
    return walk;
}

} // namespace

QList<QList<int>> PipelineGraph::cycles() const
{
    QList<QList<int>> found;
    Peeler peeler(m_before, m_after);
    for (int node = 0; node < int(size()); ++node) {
        while (!peeler.isGone(node)) {
            const QList<int> cycle = cycleBehind(node, m_before, peeler);
            found.append(cycle);
            for (const int member : cycle)
                peeler.remove(member);
        }
    }
    return found;
}

bool PipelineGraph::reaches(int from, int to) const
{
    return neededBy({to})[at(from)];
}

std::vector<bool> PipelineGraph::neededBy(const QList<int> &nodes) const
{
    std::vector<bool> needed(size());
    std::vector<int> open(nodes.begin(), nodes.end());
    while (!open.empty()) {
        const int node = open.back();
        open.pop_back();
        if (needed[at(node)])
            continue;
        needed[at(node)] = true;
        open.insert(open.end(), m_before[at(node)].begin(), m_before[at(node)].end());
    }
    return needed;
}

QList<int> PipelineGraph::ordered(const std::vector<bool> &chosen, const std::vector<bool> &done) const
{
    std::vector<qsizetype> waiting(size());
    std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
    for (size_t i = 0; i < size(); ++i) {
        waiting[i] = std::count_if(m_before[i].begin(), m_before[i].end(), [&](int node) { return !done[at(node)]; });
        if (chosen[i] && !done[i] && waiting[i] == 0)
            ready.push(int(i));
    }
    QList<int> order;
    while (!ready.empty()) {
        const int node = ready.top();
        ready.pop();
        order.append(node);
        for (const int next : m_after[at(node)]) {
            if (--waiting[at(next)] == 0 && chosen[at(next)] && !done[at(next)])
                ready.push(next);
        }
    }
    return order;
}

} // namespace tw
