// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace tw {

/// First statement of both mains, before any thread and before any QObject. Keeps large blocks in
/// the process (glibc would hand them back at every training step). OMP_WAIT_POLICY=passive is
/// normally in place already (core/base/waitpolicy sets it before libgomp is initialised, unless
/// the user did); where it is not, the program re-executes itself once with it, because libgomp
/// reads its variables when it is loaded. A private variable marks that second start.
void prepareProcess(char **argv);
/// The allocator part alone (tests): M_MMAP_MAX 0, M_TRIM_THRESHOLD, M_TOP_PAD 64 MiB, M_ARENA_MAX 1.
void configureAllocator();
/// malloc_trim at the end of a job.
void returnFreeMemory();
/// Last statement of both mains: hands the code to the system without the destructors of statics.
/// LibTorch's take 0.16 s, a third of a short command, and run beside threads that pools still hold.
/// Everything of ours that must be closed is closed by then; standard streams are flushed here.
/// Under sanitizers it returns the ordinary way, so that leaks are looked for.
[[noreturn]] void leaveProcess(int code);
/// Right after the application object: LC_NUMERIC is C, whatever the user's language.
void useCNumbers();

} // namespace tw
