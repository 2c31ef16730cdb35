// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a slow training in the workspace named by its argument, until it is killed.
#include "tests/core/jobs/fakecomponents.h"

#include <QCoreApplication>

#include <cstdio>

int main(int argc, char **argv)
{
    QCoreApplication app(argc, argv);
    if (argc != 2)
        return 2;
    tw::ComponentRegistry registry;
    tw::test::registerFakeComponents(registry);
    auto workspace = tw::Workspace::open(tw::pathFromBytes(argv[1]));
    if (!workspace.ok())
        return 1;
    tw::JobQueue queue(**workspace, registry);
    tw::Pipeline pipeline;
    pipeline.nodes = {tw::test::makeNode("model", "fake-model"),
                      tw::test::makeNode("train", "fake-train", {{"steps", qlonglong(1000000)}}),
                      tw::test::makeNode("score", "fake-score")};
    pipeline.connections = {tw::test::wire("model.untrained_model", "train.untrained_model"),
                            tw::test::wire("train.trained_model", "score.trained_model")};
    for (int i = 0; i < 2; ++i) {
        const auto job = queue.submit(tw::test::requestFor(pipeline));
        if (!job.ok())
            return 1;
        std::printf("%s\n", qPrintable(*job));
    }
    std::fflush(stdout);
    return app.exec();
}
