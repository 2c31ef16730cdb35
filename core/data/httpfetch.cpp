// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/httpfetch.h"

#include "core/base/address.h"

#include <QCoreApplication>
#include <QEventLoop>
#include <QHostAddress>
#include <QNetworkAccessManager>
#include <QNetworkProxyFactory>
#include <QNetworkReply>
#include <QTimer>

#include <optional>

namespace tw {

namespace {

constexpr int stopCheckMs = 50;
constexpr qint64 readAheadBytes = qint64(4) << 20; // a slow disk slows the server, not the memory
constexpr int statusWhole = 200, statusPart = 206, statusNoSuchRange = 416;

/// The system's proxies, which no server of this machine needs.
class SystemProxies final : public QNetworkProxyFactory
{
public:
    QList<QNetworkProxy> queryProxy(const QNetworkProxyQuery &query) override
    {
        const QString host = query.peerHostName();
        if (host == QLatin1String("localhost") || QHostAddress(host).isLoopback())
            return {QNetworkProxy(QNetworkProxy::NoProxy)};
        return systemProxyForQuery(query);
    }
};

QByteArray validatorOf(const QNetworkReply &reply)
{
    const QByteArray tag = reply.rawHeader("ETag");
    return tag.isEmpty() || tag.startsWith("W/") ? reply.rawHeader("Last-Modified") : tag;
}

/// "bytes 100-199/200" or "bytes */200": first byte (-1: none) and the whole (-1: unknown).
std::pair<qint64, qint64> contentRange(const QByteArray &header)
{
    const QByteArray range = header.trimmed().mid(6);
    const qsizetype dash = range.indexOf('-'), slash = range.indexOf('/');
    bool hasStart = false, hasTotal = false;
    const qint64 start = range.left(std::max<qsizetype>(dash, 0)).toLongLong(&hasStart);
    const qint64 total = range.mid(slash + 1).toLongLong(&hasTotal);
    return {hasStart ? start : -1, slash >= 0 && hasTotal ? total : -1};
}

class Exchange
{
public:
    Exchange(const FetchRequest &request, FetchSink &sink) : m_request(request), m_sink(sink) {}
    Result<FetchOutcome> run();

private:
    void start();
    void watch();
    FetchOutcome reached() const;
    void noteHead();
    void readHead();
    void read();
    void end(const Error &error);
    Error error(const char *text, const QStringList &more, const char *hint) const;
    Error statusError() const;
    Error failure() const;
    bool isCut() const;
    int status() const { return m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt(); }
    bool isWanted() const { return status() == statusWhole || status() == statusPart; }

    const FetchRequest &m_request;
    FetchSink &m_sink;
    QNetworkAccessManager m_manager; // outlives the reply
    std::unique_ptr<QNetworkReply> m_reply;
    QEventLoop m_loop;
    QTimer m_silence, m_stopCheck;
    std::optional<FetchHead> m_head;
    std::optional<Error> m_error;
    bool m_isAskedTwice = false;
    qint64 m_taken = 0;
};

Error Exchange::error(const char *text, const QStringList &more, const char *hint) const
{
    return makeError(m_request.errorName, text, QStringList{displayAddress(m_request.url)} + more, hint);
}

void Exchange::end(const Error &error)
{
    if (!m_error)
        m_error = error;
    m_loop.quit();
}

void Exchange::start()
{
    QNetworkRequest request(m_request.url);
    request.setAttribute(QNetworkRequest::RedirectPolicyAttribute, QNetworkRequest::NoLessSafeRedirectPolicy);
    request.setMaximumRedirectsAllowed(m_request.mostRedirects);
    request.setRawHeader("User-Agent", "Trainwright/" + QCoreApplication::applicationVersion().toUtf8());
    // Else a server may pack what is packed already, and the bytes would not be those of the hash.
    request.setRawHeader("Accept-Encoding", "identity");
    if (m_request.from > 0) {
        request.setRawHeader("Range", "bytes=" + QByteArray::number(m_request.from) + '-');
        if (!m_request.validator.isEmpty())
            request.setRawHeader("If-Range", m_request.validator);
    }
    m_reply.reset(m_manager.get(request));
    m_reply->setReadBufferSize(readAheadBytes);
    QObject::connect(m_reply.get(), &QNetworkReply::readyRead, &m_loop, [this] { read(); });
    QObject::connect(m_reply.get(), &QNetworkReply::metaDataChanged, &m_loop, [this] { noteHead(); });
    QObject::connect(m_reply.get(), &QNetworkReply::finished, &m_loop, &QEventLoop::quit);
}

// Qt asks again by itself where a connection closes early, and hands over the second answer behind what
// came of the first: that is a cut, after which the rest is asked for.
void Exchange::noteHead()
{
    m_silence.start();
    if (!m_head)
        return;
    m_isAskedTwice = true;
    m_loop.quit();
}

void Exchange::readHead()
{
    FetchHead head;
    head.validator = validatorOf(*m_reply);
    const QVariant length = m_reply->header(QNetworkRequest::ContentLengthHeader);
    if (status() == statusPart) {
        std::tie(head.start, head.total) = contentRange(m_reply->rawHeader("Content-Range"));
        if (head.start != m_request.from)
            return end(error(QT_TRANSLATE_NOOP("Error", "The server of '%1' sends other bytes than those asked for."),
                             {}, QT_TRANSLATE_NOOP("Error", "Download the file by other means and give its path.")));
    } else if (length.isValid()) {
        head.total = length.toLongLong();
    }
    m_head = head;
    if (const auto begun = m_sink.begin(head); !begun.ok())
        end(begun.error());
}

void Exchange::read()
{
    m_silence.start();
    if (m_isAskedTwice)
        return;
    if (!isWanted()) {
        m_reply->readAll(); // the page that tells of a mistake, or of a redirect
        return;
    }
    if (!m_head && !m_error)
        readHead();
    while (!m_error && m_reply->bytesAvailable() > 0) {
        const QByteArray bytes = m_reply->read(readAheadBytes);
        m_taken += bytes.size();
        if (const auto taken = m_sink.take(bytes); !taken.ok())
            end(taken.error());
    }
}

Error Exchange::statusError() const
{
    const QString phrase = m_reply->attribute(QNetworkRequest::HttpReasonPhraseAttribute).toString();
    return error(QT_TRANSLATE_NOOP("Error", "The server answers %2 for '%1'."),
                 {phrase.isEmpty() ? QString::number(status()) : QStringLiteral("%1 (%2)").arg(status()).arg(phrase)},
                 status() >= 500
                     ? QT_TRANSLATE_NOOP("Error", "The fault is the server's: try again later.")
                     : QT_TRANSLATE_NOOP("Error", "Open the address in a web browser to see whether it is still "
                                                  "right and whether it needs a login."));
}

Error Exchange::failure() const
{
    switch (m_reply->error()) {
    case QNetworkReply::TooManyRedirectsError:
        return error(QT_TRANSLATE_NOOP("Error", "The address '%1' leads on more than %2 times."),
                     {QString::number(m_request.mostRedirects)},
                     QT_TRANSLATE_NOOP("Error", "Give the address where the file really lies."));
    case QNetworkReply::InsecureRedirectError:
        return error(QT_TRANSLATE_NOOP("Error", "The address '%1' leads on to one that is less safe."), {},
                     QT_TRANSLATE_NOOP("Error", "Give the address where the file really lies."));
    default:
        return error(QT_TRANSLATE_NOOP("Error", "The address '%1' cannot be reached: %2."),
                     {m_reply->errorString().trimmed()},
                     QT_TRANSLATE_NOOP("Error", "Check the address and the network, or download the file by other "
                                                "means and give its path."));
    }
}

/// Whether some of it arrived, and then no more did.
bool Exchange::isCut() const
{
    if (!m_head)
        return false;
    if (m_isAskedTwice)
        return true;
    const bool isShort = m_head->total >= 0 && m_head->start + m_taken < m_head->total;
    return isShort || m_reply->error() != QNetworkReply::NoError;
}

FetchOutcome Exchange::reached() const
{
    FetchOutcome outcome;
    outcome.hasNoSuchByte = m_request.from > 0 && status() == statusNoSuchRange;
    if (!outcome.hasNoSuchByte && isCut())
        outcome.cut = m_reply->error() == QNetworkReply::NoError ? QStringLiteral("the connection was closed")
                                                                 : m_reply->errorString().trimmed();
    return outcome;
}

void Exchange::watch()
{
    m_silence.setSingleShot(true);
    QObject::connect(&m_silence, &QTimer::timeout, &m_loop, [this] {
        end(makeError(errors::TimeoutOccurred,
                      QT_TRANSLATE_NOOP("Error", "The server of '%1' has sent nothing for %2 s."),
                      {displayAddress(m_request.url), QString::number(double(m_request.silence.count()) / 1000)},
                      QT_TRANSLATE_NOOP("Error", "Run again to go on where it stopped, or try later.")));
    });
    QObject::connect(&m_stopCheck, &QTimer::timeout, &m_loop, [this] {
        if (m_request.stop && m_request.stop->cancel.load(std::memory_order_relaxed))
            end(makeError(errors::Canceled, QT_TRANSLATE_NOOP("Error", "The download was canceled.")));
    });
    m_silence.start(m_request.silence);
    m_stopCheck.start(stopCheckMs);
}

Result<FetchOutcome> Exchange::run()
{
    m_manager.setProxyFactory(new SystemProxies);
    watch();
    start();
    m_loop.exec();
    m_reply->disconnect(&m_loop);
    if (!m_error && isWanted()) {
        read(); // what came with the end
        if (!m_error && !m_head)
            readHead(); // nothing came
    }
    if (m_error)
        return *m_error;
    const FetchOutcome outcome = reached();
    if (outcome.hasNoSuchByte || !outcome.cut.isEmpty() || (isWanted() && m_reply->error() == QNetworkReply::NoError))
        return outcome;
    return status() >= 400 || m_reply->error() == QNetworkReply::NoError ? statusError() : failure();
}

} // namespace

Result<FetchOutcome> fetch(const FetchRequest &request, FetchSink &sink)
{
    return Exchange(request, sink).run();
}

} // namespace tw
