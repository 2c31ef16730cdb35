// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/component/emptyport.h"

namespace tw {

static const QString emptyKey = QStringLiteral("left_empty");

void leaveEmpty(PortFacts &facts, const Error &reason)
{
    facts.extra.insert(emptyKey, QVariant::fromValue(reason));
}

std::optional<Error> emptyReason(const PortFacts &facts)
{
    const QVariant reason = facts.extra.value(emptyKey);
    if (!reason.isValid())
        return std::nullopt;
    return reason.value<Error>();
}

} // namespace tw
