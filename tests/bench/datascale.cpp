// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/datasetscan.h"

#include <QCoreApplication>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <malloc.h>

using namespace tw;

namespace {

/// A line of /proc/self/status in MB.
double statusMb(const std::string &key)
{
    std::ifstream file("/proc/self/status");
    for (std::string word; file >> word;)
        if (word == key + ':') {
            double kilobytes = 0;
            file >> kilobytes;
            return kilobytes / 1024;
        }
    return -1;
}

void forgetPeak()
{
    ::malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << '5';
}

[[noreturn]] void fail(const Error &error)
{
    std::fprintf(stderr, "%s: %s\n", qPrintable(error.name), qPrintable(error.sentence()));
    std::exit(1);
}

/// Runs a step, prints its name, seconds, peak and lasting memory; gives its value.
template <typename Step> auto measured(const char *name, const Step &step)
{
    forgetPeak();
    const double before = statusMb("VmRSS");
    const auto start = std::chrono::steady_clock::now();
    auto result = step();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (!result.ok())
        fail(result.error());
    const double peak = statusMb("VmHWM");
    ::malloc_trim(0);
    std::printf("{\"step\":\"%s\",\"seconds\":%.3f,\"peak_mb\":%.1f,\"before_mb\":%.1f,\"after_mb\":%.1f}\n", name,
                took.count(), peak, before, statusMb("VmRSS"));
    std::fflush(stdout);
    return result;
}

int scanOnly(const fs::path &data)
{
    ScanOptions options;
    options.allowEmptyClasses = true;
    const auto scan = measured("scan", [&] { return scanDataset(data, options); });
    std::printf("{\"images\":%zu,\"manifest_bytes\":%zu}\n", scan->manifest.size(), scan->manifest.memoryBytes());
    return 0;
}

int everything(const fs::path &data, const fs::path &scratch)
{
    auto scan = measured("scan", [&] { return scanDataset(data, {}); });
    for (const auto &[name, mode] :
         {std::pair{"verify header, first", VerifyMode::Header}, std::pair{"verify header, again", VerifyMode::Header},
          std::pair{"verify full, first", VerifyMode::Full}, std::pair{"verify full, again", VerifyMode::Full}}) {
        (void)measured(name,
                       [&, m = mode] { return verifyImages(*scan, m, true, 2, nullptr, {}, scratch / "files.db"); });
    }
    (void)measured("write manifest", [&] { return scan->manifest.write(scratch / "manifest"); });
    std::printf("{\"images\":%zu,\"manifest_bytes\":%zu}\n", scan->manifest.size(), scan->manifest.memoryBytes());
    const auto split = measured("split 0.9", [&] { return splitManifest(scan->manifest, 0.9, 42, true); });
    (void)measured("read manifest", [&] { return ImageManifest::read(scratch / "manifest"); });
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    QCoreApplication app(argc, argv);
    const std::string step = argc > 1 ? argv[1] : "";
    if (step == "scan" && argc == 3)
        return scanOnly(argv[2]);
    if (step == "all" && argc == 4)
        return everything(argv[2], argv[3]);
    std::fprintf(stderr, "Usage: bench_datascale scan DATA | all DATA SCRATCH\n");
    return 2;
}
