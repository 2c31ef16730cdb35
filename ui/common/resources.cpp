// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/common/resources.h"

#include <QDir>

// The macro must not stand in a namespace.
static void initQrc()
{
    Q_INIT_RESOURCE(resources);
}

namespace tw {

void initResources()
{
    static const bool once = [] {
        initQrc();
        return true;
    }();
    Q_UNUSED(once)
}

} // namespace tw
