// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/torch/torchthreads.h"

#include "core/train/devices.h"

#include <ATen/Parallel.h>

namespace tw {

int automaticTorchThreads()
{
    openCudaLibrary();
    static const int threads = at::get_num_threads();
    return threads;
}

int useTorchThreads(int threads)
{
    const int automatic = automaticTorchThreads();
    at::set_num_threads(threads > 0 ? threads : automatic);
    return at::get_num_threads();
}

} // namespace tw
