// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/imgcodecsmodule.h"

#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>

#include <cstdio>

namespace {

void prepareOnce()
{
    static const bool prepared = [] {
        cv::setNumThreads(1);
        cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
        return true;
    }();
    (void)prepared;
}

void copyAsRgb(const cv::Mat &picture, std::uint8_t *out)
{
    for (int y = 0; y < picture.rows; ++y) {
        const auto *in = picture.ptr<std::uint8_t>(y);
        for (int x = 0; x < picture.cols; ++x, in += 3, out += 3) {
            out[0] = in[2];
            out[1] = in[1];
            out[2] = in[0];
        }
    }
}

} // namespace

extern "C" __attribute__((visibility("default"))) int
trainwright_decode_picture(const std::uint8_t *bytes, std::size_t size, void *context,
                           std::uint8_t *(*allocate)(void *context, int width, int height), char *reason,
                           std::size_t reasonSize)
{
    try {
        prepareOnce();
        const cv::Mat input(1, int(size), CV_8UC1, const_cast<std::uint8_t *>(bytes));
        const cv::Mat picture = cv::imdecode(input, cv::IMREAD_COLOR | cv::IMREAD_IGNORE_ORIENTATION);
        if (picture.empty() || picture.type() != CV_8UC3) {
            std::snprintf(reason, reasonSize, "it is broken or cut short");
            return 1;
        }
        std::uint8_t *out = allocate(context, picture.cols, picture.rows);
        if (!out) {
            std::snprintf(reason, reasonSize, "there is not enough memory for it");
            return 2;
        }
        copyAsRgb(picture, out);
        return 0;
    } catch (const std::exception &exception) {
        std::snprintf(reason, reasonSize, "%s", exception.what());
    } catch (...) {
        std::snprintf(reason, reasonSize, "the decoder failed");
    }
    return 3;
}
