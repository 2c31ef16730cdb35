// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

namespace tw {

/// InvalidModelDirectoryError without a file's name, for a pickle that torch.save would not have written;
/// `what` goes on from "the list of tensors is damaged (".
Error pickleDamage(const char *what);
/// The same for one with more values than a state_dict has, which need not be damaged.
Error pickleTooLarge();

} // namespace tw
