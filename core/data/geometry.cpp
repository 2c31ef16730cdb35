// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/geometry.h"

#include "core/data/stage.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numbers>

namespace tw {

namespace {

constexpr double RadiansPerDegree = std::numbers::pi / 180.0;
constexpr std::int64_t FixedOne = 65536;

template <int Channels> inline void copyPixel(const std::uint8_t *from, std::uint8_t *to)
{
    if constexpr (Channels == 1)
        *to = *from;
    else
        std::memcpy(to, from, 3);
}

// Positions k in [begin, end) with 0 ≤ start + k·step < limit.
struct Span
{
    std::int64_t begin, end;
};

std::int64_t floorDivide(std::int64_t a, std::int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

Span inside(std::int64_t start, std::int64_t step, std::int64_t limit, std::int64_t count)
{
    if (step == 0)
        return start >= 0 && start < limit ? Span{0, count} : Span{0, 0};
    const std::int64_t toZero = floorDivide(-start, step), toLimit = floorDivide(limit - start, step);
    Span span{};
    if (step > 0) {
        span.begin = toZero + (toZero * step + start < 0 ? 1 : 0);
        span.end = toLimit + (toLimit * step + start < limit ? 1 : 0);
    } else {
        span.begin = floorDivide(start - limit, -step) + 1;
        span.end = floorDivide(start, -step) + 1;
    }
    return {std::clamp<std::int64_t>(span.begin, 0, count), std::clamp<std::int64_t>(span.end, 0, count)};
}

struct FixedMatrix
{
    std::int64_t a, b, c, d, e, f;
};

// Pillow's check_fixed() on the four corners.
bool fitsFixedPoint(const Coefficients &m, int width, int height)
{
    for (const int x : {0, width})
        for (const int y : {0, height})
            if (!(std::abs(x * m[0] + y * m[1] + m[2]) < 32768.0) || !(std::abs(x * m[3] + y * m[4] + m[5]) < 32768.0))
                return false;
    return true;
}

FixedMatrix toFixed(const Coefficients &m)
{
    const auto fixed = [](double value) { return std::int64_t(std::floor(value * 65536.0 + 0.5)); };
    return {fixed(m[0]), fixed(m[1]), fixed(m[2] + m[0] * 0.5 + m[1] * 0.5),
            fixed(m[3]), fixed(m[4]), fixed(m[5] + m[3] * 0.5 + m[4] * 0.5)};
}

template <int Channels> void nearestFixed(const PixelView &image, FixedMatrix m, const Stage &out)
{
    const std::int64_t limitX = image.width * FixedOne, limitY = image.height * FixedOne;
    for (int y = 0; y < image.height; ++y, m.c += m.b, m.f += m.e) {
        const Span spanX = inside(m.c, m.a, limitX, image.width), spanY = inside(m.f, m.d, limitY, image.width);
        const std::int64_t begin = std::max(spanX.begin, spanY.begin);
        const std::int64_t end = std::max(begin, std::min(spanX.end, spanY.end));
        std::uint8_t *row = out.row(y);
        std::memset(row, 0, std::size_t(begin) * Channels);
        std::int64_t sourceX = m.c + begin * m.a, sourceY = m.f + begin * m.d;
        for (std::uint8_t *to = row + begin * Channels, *last = row + end * Channels; to != last; to += Channels) {
            copyPixel<Channels>(image.row(int(sourceY >> 16)) + (sourceX >> 16) * Channels, to);
            sourceX += m.a;
            sourceY += m.d;
        }
        std::memset(row + end * Channels, 0, std::size_t(image.width - end) * Channels);
    }
}

// Pillow's COORD: a place before 0 is outside, as is one that an int cannot hold.
inline int coordinate(double value, int size)
{
    return value >= 0.0 && value < size ? int(value) : -1;
}

template <int Channels>
void nearestScaled(const PixelView &image, const Coefficients &m, std::vector<int> &columns, const Stage &out)
{
    columns.resize(std::size_t(image.width));
    double sourceX = m[2] + m[0] * 0.5, sourceY = m[5] + m[4] * 0.5;
    for (int &column : columns) {
        column = coordinate(sourceX, image.width);
        sourceX += m[0];
    }
    for (int y = 0; y < image.height; ++y, sourceY += m[4]) {
        std::uint8_t *to = out.row(y);
        std::memset(to, 0, out.view.stride);
        const int row = coordinate(sourceY, image.height);
        if (row < 0)
            continue;
        for (const int column : columns) {
            if (column >= 0)
                copyPixel<Channels>(image.row(row) + column * Channels, to);
            to += Channels;
        }
    }
}

template <int Channels> void nearestReal(const PixelView &image, const Coefficients &m, const Stage &out)
{
    double startX = m[2] + m[1] * 0.5 + m[0] * 0.5, startY = m[5] + m[4] * 0.5 + m[3] * 0.5;
    for (int y = 0; y < image.height; ++y, startX += m[1], startY += m[4]) {
        double sourceX = startX, sourceY = startY;
        std::uint8_t *to = out.row(y);
        std::memset(to, 0, out.view.stride);
        for (int x = 0; x < image.width; ++x, to += Channels, sourceX += m[0], sourceY += m[3]) {
            const int column = coordinate(sourceX, image.width), row = coordinate(sourceY, image.height);
            if (column >= 0 && row >= 0)
                copyPixel<Channels>(image.row(row) + column * Channels, to);
        }
    }
}

template <int Channels>
void nearest(const PixelView &image, const Coefficients &m, std::vector<int> &columns, const Stage &out)
{
    if (m[1] == 0 && m[3] == 0)
        nearestScaled<Channels>(image, m, columns, out);
    else if (fitsFixedPoint(m, image.width, image.height))
        nearestFixed<Channels>(image, toFixed(m), out);
    else
        nearestReal<Channels>(image, m, out);
}

// Python's round(value, 15): the nearest decimal, half to even on the exact value.
double rounded15(double value)
{
    char text[32];
    const char *end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 15).ptr;
    double out = 0;
    std::from_chars(text, end, out);
    return out;
}

// Turned by a half, or by a quarter where the picture is square.
PixelView turned(const PixelView &image, int quarters, TransformScratch &scratch)
{
    const Stage out = stageLike(image, scratch);
    const int lastX = image.width - 1, lastY = image.height - 1;
    const auto pixel = std::size_t(image.channels);
    for (int y = 0; y < image.height; ++y) {
        std::uint8_t *to = out.row(y);
        for (int x = 0; x < image.width; ++x, to += pixel) {
            const int fromX = quarters == 1 ? lastX - y : quarters == 2 ? lastX - x : y;
            const int fromY = quarters == 1 ? x : quarters == 2 ? lastY - y : lastY - x;
            std::memcpy(to, image.row(fromY) + std::size_t(fromX) * pixel, pixel);
        }
    }
    return out.view;
}

} // namespace

Coefficients affineCoefficients(const AffineArguments &arguments, int width, int height)
{
    const double angle = arguments.angle * RadiansPerDegree;
    const double shearX = arguments.shearX * RadiansPerDegree, shearY = arguments.shearY * RadiansPerDegree;
    const double centerX = arguments.aboutOrigin ? 0.0 : width * 0.5;
    const double centerY = arguments.aboutOrigin ? 0.0 : height * 0.5;
    const double a = std::cos(angle - shearY) / std::cos(shearY);
    const double b = -std::cos(angle - shearY) * std::tan(shearX) / std::cos(shearY) - std::sin(angle);
    const double c = std::sin(angle - shearY) / std::cos(shearY);
    const double d = -std::sin(angle - shearY) * std::tan(shearX) / std::cos(shearY) + std::cos(angle);
    const double scale = arguments.scale;
    Coefficients m{d / scale, -b / scale, 0.0 / scale, -c / scale, a / scale, 0.0 / scale, 0, 0};
    m[2] += m[0] * (-centerX - arguments.translateX) + m[1] * (-centerY - arguments.translateY);
    m[5] += m[3] * (-centerX - arguments.translateX) + m[4] * (-centerY - arguments.translateY);
    m[2] += centerX;
    m[5] += centerY;
    return m;
}

Coefficients rotationCoefficients(double degrees, int width, int height)
{
    const double angle = -(degrees * RadiansPerDegree);
    const double cosine = rounded15(std::cos(angle)), sine = rounded15(std::sin(angle));
    const double minusSine = rounded15(-std::sin(angle));
    const double centerX = width / 2.0, centerY = height / 2.0;
    return {cosine,    sine,   cosine * -centerX + sine * -centerY + 0.0 + centerX,
            minusSine, cosine, minusSine * -centerX + cosine * -centerY + 0.0 + centerY,
            0,         0};
}

PixelView affineNearest(const PixelView &image, const Coefficients &matrix, TransformScratch &scratch)
{
    const Stage out = stageLike(image, scratch);
    if (image.channels == 1)
        nearest<1>(image, matrix, scratch.bounds, out);
    else
        nearest<3>(image, matrix, scratch.bounds, out);
    return out.view;
}

PixelView rotateNearest(const PixelView &image, double degrees, TransformScratch &scratch)
{
    double angle = std::fmod(degrees, 360.0);
    angle += angle < 0 ? 360.0 : 0.0;
    if (angle == 0)
        return image;
    if (angle == 180)
        return turned(image, 2, scratch);
    if ((angle == 90 || angle == 270) && image.width == image.height)
        return turned(image, angle == 90 ? 1 : 3, scratch);
    return affineNearest(image, rotationCoefficients(angle, image.width, image.height), scratch);
}

} // namespace tw
