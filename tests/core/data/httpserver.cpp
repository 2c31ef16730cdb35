// SPDX-License-Identifier: GPL-3.0-or-later
#include "httpserver.h"

#include <QNetworkProxy>
#include <QTcpSocket>
#include <QTimer>

namespace tw::test {

HttpServer::HttpServer() : m_server(new QTcpServer)
{
    m_server->moveToThread(&m_thread);
    QObject::connect(&m_thread, &QThread::finished, m_server, &QObject::deleteLater);
    QObject::connect(m_server, &QTcpServer::newConnection, m_server, [this] {
        while (QTcpSocket *socket = m_server->nextPendingConnection())
            serve(socket);
    });
    m_thread.start();
    QMetaObject::invokeMethod(
        m_server,
        [this] {
            m_server->setProxy(QNetworkProxy::NoProxy);
            m_server->listen(QHostAddress::LocalHost, 0);
            m_port = m_server->serverPort();
        },
        Qt::BlockingQueuedConnection);
}

HttpServer::~HttpServer()
{
    m_thread.quit();
    m_thread.wait();
}

void HttpServer::set(const QByteArray &path, const Page &page)
{
    const std::lock_guard lock(m_mutex);
    m_pages.insert(path, page);
}

QByteArray HttpServer::address(const QByteArray &path) const
{
    return "http://127.0.0.1:" + QByteArray::number(m_port) + path;
}

QList<QByteArray> HttpServer::requests() const
{
    const std::lock_guard lock(m_mutex);
    return m_requests;
}

void HttpServer::forget()
{
    const std::lock_guard lock(m_mutex);
    m_requests.clear();
}

void HttpServer::serve(QTcpSocket *socket)
{
    QObject::connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
    QObject::connect(socket, &QTcpSocket::readyRead, socket, [this, socket] {
        const QByteArray soFar = socket->property("head").toByteArray() + socket->readAll();
        const qsizetype end = soFar.indexOf("\r\n\r\n");
        socket->setProperty("head", end < 0 ? soFar : soFar.mid(end + 4));
        if (end >= 0)
            answer(socket, soFar.left(end));
    });
}

Page HttpServer::pageFor(const QByteArray &path, const QByteArray &head)
{
    const std::lock_guard lock(m_mutex);
    m_requests.append(head);
    const auto page = m_pages.find(path);
    if (page == m_pages.end())
        return {"nothing here", 404, "Not Found"};
    const Page now = *page;
    if (page->cutAfter >= 0 && --page->cuts <= 0)
        page->cutAfter = -1;
    return now;
}

static QByteArray headerOf(const QByteArray &head, const QByteArray &name)
{
    for (const QByteArray &line : head.split('\n'))
        if (line.toLower().startsWith(name.toLower() + ':'))
            return line.mid(name.size() + 1).trimmed();
    return {};
}

void HttpServer::answer(QTcpSocket *socket, const QByteArray &head)
{
    Page page = pageFor(head.split(' ').value(1), head);
    if (page.isSilent)
        return;
    const QByteArray range = headerOf(head, "Range"), condition = headerOf(head, "If-Range");
    QByteArray body = page.body;
    if (page.status == 200 && page.hasRanges && !range.isEmpty() && (condition.isEmpty() || condition == page.tag)) {
        const qint64 from = range.mid(6).chopped(1).toLongLong() + page.rangeShift;
        const QByteArray whole = QByteArray::number(body.size());
        page.status = from < body.size() ? 206 : 416;
        page.reason = from < body.size() ? "Partial Content" : "Range Not Satisfiable";
        page.headers += from < body.size() ? "Content-Range: bytes " + QByteArray::number(from) + '-'
                                                 + QByteArray::number(body.size() - 1) + '/' + whole + "\r\n"
                                           : "Content-Range: bytes */" + whole + "\r\n";
        body = body.mid(from);
    }
    send(socket, page, body);
}

void HttpServer::send(QTcpSocket *socket, const Page &page, const QByteArray &body)
{
    QByteArray head = "HTTP/1.1 " + QByteArray::number(page.status) + ' ' + page.reason + "\r\n" + page.headers;
    if (!page.tag.isEmpty())
        head += "ETag: " + page.tag + "\r\n";
    head += page.saysLength ? "Content-Length: " + QByteArray::number(body.size()) + "\r\n"
                            : QByteArray("Transfer-Encoding: chunked\r\n");
    QByteArray sent = body;
    if (page.cutAfter >= 0)
        sent = body.left(page.cutAfter);
    if (page.silentAfter >= 0)
        sent = body.left(page.silentAfter);
    if (!page.saysLength && page.cutAfter >= 0)
        sent = QByteArray::number(body.size(), 16) + "\r\n" + sent;
    else if (!page.saysLength)
        sent = QByteArray::number(sent.size(), 16) + "\r\n" + sent + "\r\n0\r\n\r\n";
    socket->write(head + "\r\n");
    if (page.pieceBytes > 0) {
        auto *timer = new QTimer(socket);
        QObject::connect(timer, &QTimer::timeout, socket,
                         [socket, sent, at = qint64(0), step = page.pieceBytes]() mutable {
                             socket->write(sent.mid(at, step));
                             at = std::min<qint64>(at + step, sent.size());
                         });
        timer->start(5);
        return;
    }
    socket->write(sent);
    // Not at once: a client that sees the end before the first byte takes the connection for a stale one.
    if (page.cutAfter >= 0)
        QTimer::singleShot(100, socket, &QTcpSocket::disconnectFromHost);
}

} // namespace tw::test
