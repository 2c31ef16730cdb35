// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/describe.h"
#include "app/cli/output.h"
#include "core/base/json.h"

namespace tw::cli {

static int listComponents(const Arguments &arguments)
{
    if (arguments.has("json")) {
        for (const ComponentType *type : components().all())
            writeOut(jsonCompact(describeAsJson(*type)) + '\n');
        return exitDone;
    }
    QString category;
    for (const ComponentType *type : components().all()) {
        if (type->category != category) {
            writeOut((category.isEmpty() ? "" : "\n") + type->category.toUtf8() + '\n');
            category = type->category;
        }
        writeOut("  " + type->id.toUtf8().leftJustified(28) + type->description.toUtf8() + '\n');
    }
    return exitDone;
}

Command componentsCommand()
{
    return {"components",
            "",
            "Lists the components that a pipeline can be built of.",
            {{"json", nullptr, "print one JSON object a line"}},
            0,
            0,
            listComponents};
}

} // namespace tw::cli
