// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/component/runcontext.h"

#include <QByteArrayView>
#include <QUrl>

#include <chrono>

namespace tw {

/// What the server says before the first byte.
struct FetchHead
{
    qint64 start = 0;     ///< of the first byte that comes; 0: the server sends the whole
    qint64 total = -1;    ///< bytes of the whole; -1: not said
    QByteArray validator; ///< ETag (not a weak one) or Last-Modified; empty: none
};

/// Takes what arrives, on the thread of fetch(). An error ends the transfer and is its outcome.
class FetchSink
{
public:
    virtual ~FetchSink() = default;
    virtual Result<void> begin(const FetchHead &head) = 0;
    virtual Result<void> take(QByteArrayView bytes) = 0;
};

struct FetchRequest
{
    QUrl url;
    qint64 from = 0;                           ///< byte to begin with, if the server can
    QByteArray validator;                      ///< of the bytes before; another one on the server: it sends the whole
    std::chrono::milliseconds silence{30'000}; ///< longest time without a byte
    int mostRedirects = 10;
    const char *errorName = errors::InvalidDataset;
    const StopToken *stop = nullptr;
};

struct FetchOutcome
{
    QString cut;                ///< why the connection ended early; empty: everything arrived
    bool hasNoSuchByte = false; ///< the whole ends before byte `from`; nothing was taken
};

/// One HTTP exchange. Errors: `errorName` naming the address: not reached, a status other than 200 and
/// 206 (named), too many redirects, one from https to http; TimeoutOccurredError; CanceledError within
/// 200 ms; those of the sink. Any thread, while a QCoreApplication exists.
Result<FetchOutcome> fetch(const FetchRequest &request, FetchSink &sink);

} // namespace tw
