// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/jobprinter.h"

#include "app/cli/output.h"
#include "core/base/json.h"
#include "core/base/paths.h"

#include <algorithm>

#include <sys/ioctl.h>
#include <unistd.h>

namespace tw::cli {

namespace {

constexpr qint64 plainIntervalMs = 5000;
constexpr qint64 barIntervalMs = 100;
constexpr int barCells = 24;

template <typename... Parts> struct Overloaded : Parts...
{
    using Parts::operator()...;
};
template <typename... Parts> Overloaded(Parts...) -> Overloaded<Parts...>;

const char *levelName(LogLevel level)
{
    switch (level) {
    case LogLevel::Debug:
        return "debug";
    case LogLevel::Info:
        return "info";
    case LogLevel::Warning:
        return "warning";
    case LogLevel::Error:
        return "error";
    }
    return "info";
}

QByteArray jsonLine(const char *kind, std::initializer_list<std::pair<const char *, QByteArray>> members)
{
    const QByteArray rest = jsonObjectLine(members);
    return QByteArray("{\"kind\":\"") + kind + "\"," + rest.mid(1) + '\n';
}

/// Keeps the object's own keys and puts the kind before them.
QByteArray withKind(const char *kind, const QByteArray &object)
{
    return QByteArray("{\"kind\":\"") + kind + "\"," + object.mid(1) + '\n';
}

QByteArray durationText(qint64 seconds)
{
    if (seconds < 60)
        return QByteArray::number(seconds) + " s";
    if (seconds < 3600)
        return QByteArray::number(seconds / 60) + " min " + QByteArray::number(seconds % 60) + " s";
    return QByteArray::number(seconds / 3600) + " h " + QByteArray::number(seconds % 3600 / 60) + " min";
}

int terminalColumns()
{
    struct winsize size = {};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col;
}

} // namespace

JobPrinter::JobPrinter(Mode mode) : m_mode(mode)
{
    m_nodeTimer.start();
    m_lastLine.start();
}

void JobPrinter::print(const JobEvent &event)
{
    if (const auto *error = std::get_if<ErrorEvent>(&event.body))
        m_errors.append(error->error);
    if (const auto *metric = std::get_if<MetricEvent>(&event.body);
        metric && metric->point.series == QLatin1String("images_per_second"))
        m_imagesPerSecond = metric->point.value;
    if (m_mode == Mode::Json)
        printJson(event);
    else
        printText(event);
}

void JobPrinter::tellDropped(qint64 events, const fs::path &jobFolder)
{
    if (events == 0 || m_mode != Mode::Json)
        return;
    const QString text = QStringLiteral("%1 points and log lines were left out because they were read too slowly; "
                                        "the files in %2 have all of them")
                             .arg(events)
                             .arg(displayPath(jobFolder));
    writeOut(jsonLine("log", {{"node", "null"},
                              {"rank", "0"},
                              {"level", jsonString(QStringLiteral("warning"))},
                              {"driver", "false"},
                              {"dropped", QByteArray::number(events)},
                              {"line", jsonString(text)}}));
}

void JobPrinter::printJson(const JobEvent &event)
{
    const QByteArray line = std::visit(
        Overloaded{
            [&](const JobStateEvent &e) {
                return jsonLine("job", {{"job", jsonString(event.job)}, {"state", jsonString(jobStateId(e.state))}});
            },
            [&](const NodeStateEvent &e) {
                return jsonLine("node",
                                {{"job", jsonString(event.job)},
                                 {"node", jsonString(e.node)},
                                 {"state", jsonString(nodeStateId(e.state))},
                                 {"stopped", e.stopped.isEmpty() ? QByteArray("null") : jsonString(e.stopped)}});
            },
            [&](const ProgressEvent &e) {
                return jsonLine("progress",
                                {{"node", jsonString(e.node)},
                                 {"fraction", e.fraction < 0 ? QByteArray("null") : jsonNumber(e.fraction, 6)},
                                 {"text", jsonString(e.text)}});
            },
            [&](const LogEvent &e) {
                return jsonLine("log", {{"node", jsonString(e.node)},
                                        {"rank", QByteArray::number(e.rank)},
                                        {"level", jsonString(QLatin1String(levelName(e.level)))},
                                        {"driver", e.driver ? "true" : "false"},
                                        {"line", jsonString(e.line)}});
            },
            [&](const MetricEvent &e) { return withKind("metric", e.point.toJsonLine().trimmed()); },
            [&](const ErrorEvent &e) { return withKind("error", jsonCompact(e.error.toJson())); },
            [&](const ResultEvent &e) {
                return jsonLine(
                    "result",
                    {{"node", jsonString(e.node)}, {"key", jsonString(e.key)}, {"value", jsonCompact(e.value)}});
            },
        },
        event.body);
    writeOut(line);
    if (const auto *error = std::get_if<ErrorEvent>(&event.body))
        printError(error->error);
}

void JobPrinter::printText(const JobEvent &event)
{
    std::visit(Overloaded{[&](const NodeStateEvent &e) { show(e); }, [&](const ProgressEvent &e) { show(e); },
                          [&](const LogEvent &e) { show(e); }, [&](const ErrorEvent &e) { show(e); },
                          [&](const JobStateEvent &e) {
                              if (e.state != JobState::Running && e.state != JobState::Queued
                                  && e.state != JobState::Preparing)
                                  line("Job " + event.job.toUtf8() + ": " + jobStateId(e.state).toUtf8());
                          },
                          [](const MetricEvent &) {}, [](const ResultEvent &) {}},
               event.body);
}

void JobPrinter::show(const NodeStateEvent &event)
{
    if (event.state == NodeState::Running) {
        m_node = event.node;
        m_nodeTimer.restart();
        m_firstFraction = -1;
        m_imagesPerSecond = 0;
        return;
    }
    if (!isFinal(event.state))
        return;
    QByteArray text = event.node.toUtf8() + ": " + nodeStateId(event.state).toUtf8();
    if (event.state == NodeState::Completed)
        text += " in " + QByteArray::number(double(m_nodeTimer.elapsed()) / 1000, 'f', 1) + " s";
    if (!event.stopped.isEmpty())
        text += " (stopped early: " + event.stopped.toUtf8() + ')';
    line(text);
}

void JobPrinter::show(const ProgressEvent &event)
{
    if (event.node == m_node && m_firstFraction < 0 && event.fraction >= 0)
        m_firstFraction = event.fraction;
    if (m_mode == Mode::Terminal) {
        if (!m_barShown || m_lastLine.elapsed() >= barIntervalMs)
            drawBar(event);
        return;
    }
    if (m_lastLine.elapsed() < plainIntervalMs)
        return;
    const QString percent =
        event.fraction < 0 ? QString() : QStringLiteral(" %1 %").arg(100 * event.fraction, 0, 'f', 1);
    line((event.node + u':' + percent + u' ' + event.text + remaining(event)).toUtf8());
}

void JobPrinter::show(const LogEvent &event)
{
    const bool epochEnd = event.driver && event.rank == 0 && event.line.contains(QLatin1String("Val Loss"));
    const bool alarming = event.level == LogLevel::Warning || event.level == LogLevel::Error;
    if (epochEnd || alarming)
        line(event.node.toUtf8() + ": " + event.line.toUtf8());
}

void JobPrinter::show(const ErrorEvent &event)
{
    finish();
    printError(event.error);
}

QString JobPrinter::remaining(const ProgressEvent &event) const
{
    // Training says its speed and time left itself.
    if (event.text.contains(QLatin1String(" left")))
        return {};
    const double fraction = event.fraction;
    QString text;
    if (m_imagesPerSecond > 0)
        text += QStringLiteral(" · %1 images/s").arg(m_imagesPerSecond, 0, 'f', m_imagesPerSecond < 10 ? 1 : 0);
    const double done = fraction - m_firstFraction;
    if (m_firstFraction >= 0 && done > 0.002 && fraction < 1)
        text += QStringLiteral(" · %1 left")
                    .arg(QString::fromLatin1(
                        durationText(qint64(double(m_nodeTimer.elapsed()) / 1000 / done * (1 - fraction)))));
    return text;
}

void JobPrinter::drawBar(const ProgressEvent &event)
{
    const double fraction = std::clamp(event.fraction, 0.0, 1.0);
    const int full = int(fraction * barCells);
    QString text = QStringLiteral("%1 [%2%3] %4 %%5 · %6")
                       .arg(event.node, QString(full, u'#'), QString(barCells - full, u'-'))
                       .arg(100 * fraction, 5, 'f', 1)
                       .arg(remaining(event), event.text);
    text.truncate(std::max(10, terminalColumns() - 1));
    writeOut("\r\x1b[K" + text.toUtf8());
    m_barShown = true;
    m_lastLine.restart();
}

void JobPrinter::line(const QByteArray &text)
{
    finish();
    writeOut(text + '\n');
    m_lastLine.restart();
}

void JobPrinter::say(const QByteArray &text)
{
    if (m_mode != Mode::Json)
        line(text);
}

void JobPrinter::finish()
{
    if (m_barShown)
        writeOut("\r\x1b[K");
    m_barShown = false;
}

} // namespace tw::cli
