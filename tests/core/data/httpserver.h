// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QMap>
#include <QTcpServer>
#include <QThread>

#include <mutex>

class QTcpSocket;

namespace tw::test {

/// What a test server does with one address.
struct Page
{
    QByteArray body;
    int status = 200;
    QByteArray reason = "OK";
    QByteArray headers{};    ///< further lines, each with its end
    QByteArray tag{};        ///< ETag; empty: none
    bool hasRanges = true;   ///< answers Range by 206
    bool saysLength = true;  ///< else the body is chunked
    qint64 cutAfter = -1;    ///< closes the connection after so many bytes of the body
    int cuts = 1 << 20;      ///< so many times, then no more
    bool isSilent = false;   ///< answers nothing
    qint64 silentAfter = -1; ///< then sends nothing more, and keeps the connection
    qint64 pieceBytes = 0;   ///< slow: so much every 5 ms
    qint64 rangeShift = 0;   ///< sends other bytes than those asked for
};

/// An HTTP server on 127.0.0.1 in a thread of its own.
class HttpServer
{
public:
    HttpServer();
    ~HttpServer();
    HttpServer(const HttpServer &) = delete;
    HttpServer &operator=(const HttpServer &) = delete;
    /// "/name" → what it answers; may be changed at any time.
    void set(const QByteArray &path, const Page &page);
    QByteArray address(const QByteArray &path) const;
    /// Heads of the requests so far.
    QList<QByteArray> requests() const;
    void forget();

private:
    Page pageFor(const QByteArray &path, const QByteArray &head);
    void serve(QTcpSocket *socket);
    void answer(QTcpSocket *socket, const QByteArray &head);
    void send(QTcpSocket *socket, const Page &page, const QByteArray &body);

    mutable std::mutex m_mutex;
    QMap<QByteArray, Page> m_pages;
    QList<QByteArray> m_requests;
    QTcpServer *m_server = nullptr;
    QThread m_thread;
    quint16 m_port = 0;
};

} // namespace tw::test
