// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/opencvversion.h"

#include <opencv2/core/version.hpp>

namespace tw {

QString openCvVersion()
{
    return QStringLiteral(CV_VERSION);
}

} // namespace tw
