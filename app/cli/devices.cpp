// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/train/devices.h"

#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/base/json.h"

namespace tw::cli {

static QByteArray deviceLine(const DeviceInfo &device, bool json)
{
    if (json)
        return jsonObjectLine({{"id", jsonString(device.id)},
                               {"name", jsonString(device.name)},
                               {"memory_bytes", QByteArray::number(device.memoryBytes)},
                               {"threads", QByteArray::number(device.threads)}});
    QByteArray text = device.id.toUtf8().leftJustified(8) + device.name.toUtf8();
    if (device.memoryBytes > 0)
        text += ", " + QByteArray::number(double(device.memoryBytes) / double(1 << 30), 'f', 1) + " GiB";
    return device.threads > 0 ? text + ", " + QByteArray::number(device.threads) + " threads" : text;
}

static int listDevices(const Arguments &arguments)
{
    openCudaLibrary();
    int code = exitDone;
    for (const DeviceInfo &device : devices()) {
        writeOut(deviceLine(device, arguments.has("json")) + '\n');
        if (!arguments.has("test"))
            continue;
        const auto tested = testDevice(device.id);
        if (tested.ok()) {
            writeOut(arguments.has("json") ? QByteArray() : QByteArray("        works\n"));
            continue;
        }
        printError(tested.error());
        code = exitFailed;
    }
    return code;
}

Command devicesCommand()
{
    return {"devices",
            "",
            "Lists the processors and graphics cards to train on.",
            {{"test", nullptr, "compute a small sum on each and check it"},
             {"json", nullptr, "print one JSON object a line"}},
            0,
            0,
            listDevices};
}

} // namespace tw::cli
