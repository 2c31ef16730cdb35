// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/result.h"

#include "core/base/visibletext.h"

namespace tw {

QString fillArguments(const QString &source, const QStringList &args)
{
    QString out;
    out.reserve(source.size() + 32);
    for (qsizetype i = 0; i < source.size(); ++i) {
        const bool marker = source[i] == u'%' && i + 1 < source.size();
        const int index = marker ? source[i + 1].digitValue() - 1 : -1;
        if (index < 0 || index >= args.size()) {
            out += source[i];
            continue;
        }
        out += visibleText(args[index]);
        ++i;
    }
    return out;
}

QString Error::sentence() const
{
    return fillArguments(text, args);
}

QString Error::hintSentence() const
{
    return fillArguments(hint, args);
}

QString Error::toString() const
{
    return name + QStringLiteral(": ") + sentence();
}

QJsonObject Error::toJson() const
{
    QJsonObject json{{QStringLiteral("name"), name}, {QStringLiteral("message"), sentence()}};
    if (!hint.isEmpty())
        json.insert(QStringLiteral("hint"), hintSentence());
    if (!nodeId.isEmpty())
        json.insert(QStringLiteral("node"), nodeId);
    if (!parameter.isEmpty())
        json.insert(QStringLiteral("parameter"), parameter);
    return json;
}

Error &&Error::atNode(const QString &id) &&
{
    nodeId = id;
    return std::move(*this);
}

Error &&Error::atParameter(const QString &id) &&
{
    parameter = id;
    return std::move(*this);
}

Error makeError(const char *name, const char *text, const QStringList &args, const char *hint)
{
    return Error{QString::fromLatin1(name), QString::fromUtf8(text), args, QString::fromUtf8(hint), {}, {}};
}

} // namespace tw
