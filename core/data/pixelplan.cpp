// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/pixelplan.h"

#include "core/data/stage.h"

namespace tw {

namespace {

using Kind = PixelStep::Kind;

std::span<const PixelStep> withoutFlips(std::span<const PixelStep> steps, PixelPlan &plan)
{
    while (!steps.empty()) {
        if (steps.back().kind == Kind::FlipHorizontally)
            plan.flipHorizontally = !plan.flipHorizontally;
        else if (steps.back().kind == Kind::FlipVertically)
            plan.flipVertically = !plan.flipVertically;
        else
            break;
        steps = steps.first(steps.size() - 1);
    }
    return steps;
}

void resizeAll(PixelPlan &plan, int width, int height)
{
    plan.resample.to = {width, height};
    plan.resample.window = {0, 0, width, height};
}

void cropSource(PixelPlan &plan, const PixelStep &step)
{
    plan.source = {plan.source.x + step.x, plan.source.y + step.y, step.width, step.height};
    plan.resample.from = {step.width, step.height};
    resizeAll(plan, step.width, step.height);
}

// Whether the step could be taken into the reading.
bool take(const PixelStep &step, PixelPlan &plan)
{
    const bool resized = plan.resizes();
    switch (step.kind) {
    case Kind::Crop:
        if (resized)
            plan.resample.window = {plan.resample.window.x + step.x, plan.resample.window.y + step.y, step.width,
                                    step.height};
        else
            cropSource(plan, step);
        return true;
    case Kind::Resize:
        if (resized)
            return false;
        resizeAll(plan, step.width, step.height);
        plan.resample.interpolation = step.interpolation;
        return true;
    case Kind::ResizedCrop:
        if (resized)
            return false;
        cropSource(plan, step);
        resizeAll(plan, step.size, step.size);
        plan.resample.interpolation = step.interpolation;
        return true;
    default:
        return false;
    }
}

} // namespace

PixelRegion PixelPlan::neededRegion() const
{
    const PixelRegion part = sourceOf(resample);
    return {source.x + part.x, source.y + part.y, part.width, part.height};
}

int PixelPlan::largestReduce() const
{
    if (!canBeFast())
        return 1;
    int reduce = 8;
    while (reduce > 1
           && (resample.from.width < 2 * reduce * resample.to.width
               || resample.from.height < 2 * reduce * resample.to.height))
        reduce /= 2;
    return reduce;
}

PixelPlan planPixels(std::span<const PixelStep> steps, ImageSize picture)
{
    PixelPlan plan;
    plan.source = {0, 0, picture.width, picture.height};
    plan.resample.from = picture;
    resizeAll(plan, picture.width, picture.height);
    plan.middle = withoutFlips(steps, plan);
    while (!plan.middle.empty() && take(plan.middle.front(), plan))
        plan.middle = plan.middle.subspan(1);
    return plan;
}

PlannedPixels runPlan(const PixelPlan &plan, const PixelView &needed, TransformScratch &scratch)
{
    PixelView current = needed;
    if (plan.resizes()) {
        const PixelRegion &window = plan.resample.window;
        const Stage out = newStage(scratch, window.width, window.height, needed.channels);
        resampleExact(needed, plan.resample, scratch, out.data);
        current = out.view;
    }
    for (const PixelStep &step : plan.middle)
        current = applyStep(current, step, scratch);
    return {current, plan.flipHorizontally, plan.flipVertically};
}

} // namespace tw
