// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/imagemanifest.h"

#include "core/data/picturefacts.h"

#include <QCryptographicHash>

#include <algorithm>
#include <numeric>

namespace tw {

void ImageManifest::reserve(std::size_t images, std::size_t pathBytes)
{
    m_pool.reserve(pathBytes);
    m_offsets.reserve(images);
    m_categories.reserve(images);
    m_bytes.reserve(images);
    m_mtimes.reserve(images);
}

void ImageManifest::add(std::string_view path, int category, std::int64_t bytes, std::int64_t mtimeNs)
{
    m_offsets.push_back(m_pool.size());
    m_pool.append(path);
    m_categories.push_back(category);
    m_bytes.push_back(bytes);
    m_mtimes.push_back(mtimeNs);
    if (!m_keys.empty())
        m_keys.append(KeyBytes, '\0');
}

std::size_t ImageManifest::memoryBytes() const
{
    return m_pool.capacity() + m_offsets.capacity() * sizeof m_offsets[0]
           + m_categories.capacity() * sizeof m_categories[0] + m_bytes.capacity() * sizeof m_bytes[0]
           + m_mtimes.capacity() * sizeof m_mtimes[0] + m_keys.capacity()
           + (facts ? facts->capacity() * sizeof(PictureFacts) : 0);
}

std::string_view ImageManifest::key(std::size_t i) const
{
    if (m_keys.empty())
        return {};
    const std::string_view key = std::string_view(m_keys).substr(i * KeyBytes, KeyBytes);
    return key.find_first_not_of('\0') == std::string_view::npos ? std::string_view() : key;
}

void ImageManifest::setKey(std::size_t i, std::string_view key)
{
    if (key.size() != KeyBytes)
        return;
    if (m_keys.empty())
        m_keys.assign(size() * KeyBytes, '\0');
    m_keys.replace(i * KeyBytes, KeyBytes, key);
}

void ImageManifest::setKeys(std::string keys)
{
    const bool anyKey = keys.size() == size() * KeyBytes && keys.find_first_not_of('\0') != std::string::npos;
    m_keys = anyKey ? std::move(keys) : std::string();
}

std::string_view ImageManifest::path(std::size_t i) const
{
    const std::size_t end = i + 1 < m_offsets.size() ? m_offsets[i + 1] : m_pool.size();
    return std::string_view(m_pool).substr(m_offsets[i], end - m_offsets[i]);
}

std::string ImageManifest::displayName(std::size_t i) const
{
    const char separator = storage == Storage::Idx ? '#' : '/';
    std::string name = root.native();
    if (name.empty() || name.back() != separator)
        name += separator;
    return name.append(path(i));
}

std::vector<std::int64_t> ImageManifest::counts() const
{
    std::vector<std::int64_t> out(categories.size(), 0);
    for (const std::int32_t id : m_categories)
        if (id >= 0 && std::size_t(id) < out.size())
            ++out[std::size_t(id)];
    return out;
}

bool ImageManifest::isLabelled() const
{
    return !m_categories.empty()
           && std::none_of(m_categories.begin(), m_categories.end(), [](int id) { return id < 0; });
}

ImageManifest ImageManifest::subset(const std::vector<std::uint32_t> &indices) const
{
    ImageManifest out;
    out.storage = storage;
    out.root = root;
    out.unpacked = unpacked;
    out.categories = categories;
    out.transforms = transforms;
    out.transformsForTraining = transformsForTraining;
    out.skipUnreadable = skipUnreadable;
    out.reserve(indices.size(), m_pool.size());
    for (const std::uint32_t i : indices)
        out.add(path(i), category(i), bytes(i), mtimeNs(i));
    for (std::size_t place = 0; place < indices.size() && !m_keys.empty(); ++place)
        out.setKey(place, key(indices[place]));
    if (facts && facts->size() == size()) {
        auto kept = std::make_shared<std::vector<PictureFacts>>();
        kept->reserve(indices.size());
        for (const std::uint32_t i : indices)
            kept->push_back((*facts)[i]);
        out.facts = std::move(kept);
    }
    out.computeFingerprint();
    return out;
}

static void appendInteger(std::string &out, std::int64_t value)
{
    out.append(reinterpret_cast<const char *>(&value), sizeof value);
}

void ImageManifest::computeFingerprint()
{
    const bool numbers = storage == Storage::Idx;
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        const std::string_view first = path(a), second = path(b);
        if (numbers && first.size() != second.size())
            return first.size() < second.size();
        return first < second;
    };
    std::vector<std::uint32_t> order(size());
    std::iota(order.begin(), order.end(), 0U);
    if (!std::is_sorted(order.begin(), order.end(), before))
        std::sort(order.begin(), order.end(), before);
    constexpr std::size_t blockBytes = 1 << 16;
    QCryptographicHash hash(QCryptographicHash::Blake2b_256);
    std::string block;
    block.reserve(2 * blockBytes);
    const auto flushAbove = [&](std::size_t bytes) {
        if (block.size() <= bytes)
            return;
        hash.addData(QByteArrayView(block.data(), qsizetype(block.size())));
        block.clear();
    };
    for (const std::string &name : categories) {
        block.append(name).push_back('\0');
        flushAbove(blockBytes);
    }
    for (const std::uint32_t i : order) {
        const std::string_view name = path(i);
        block.append(1, '\n').append(name).push_back('\0');
        appendInteger(block, bytes(i));
        appendInteger(block, mtimeNs(i));
        appendInteger(block, category(i));
        flushAbove(blockBytes);
    }
    flushAbove(0);
    fingerprint = hash.result().toHex().toStdString();
}

} // namespace tw
