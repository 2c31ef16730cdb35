// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace tw {

/// Version of the OpenCV this program was built with ("4.6.0").
QString openCvVersion();

} // namespace tw
