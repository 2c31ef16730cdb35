// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/weightschecks.h"
#include "core/model/weightsfile.h"
#include "core/model/zipwriter.h"

#include <algorithm>

namespace tw {

namespace {

const char *storageName(ElementType type)
{
    switch (type) {
    case ElementType::F32:
        return "FloatStorage";
    case ElementType::F64:
        return "DoubleStorage";
    case ElementType::F16:
        return "HalfStorage";
    case ElementType::BF16:
        return "BFloat16Storage";
    case ElementType::I64:
        return "LongStorage";
    case ElementType::I32:
        return "IntStorage";
    case ElementType::I16:
        return "ShortStorage";
    case ElementType::I8:
        return "CharStorage";
    case ElementType::U8:
        return "ByteStorage";
    case ElementType::Bool:
        return "BoolStorage";
    }
    return "";
}

/// Pickle protocol 2, the few instructions that a state_dict needs, without a memo.
class PickleText
{
public:
    void global(const char *module, const char *name) { m_out += std::string("c") + module + "\n" + name + "\n"; }
    void raw(const char *bytes, std::size_t count) { m_out.append(bytes, count); }
    void op(char opcode) { m_out += opcode; }
    void text(const std::string &utf8)
    {
        m_out += 'X';
        little(utf8.size(), 4);
        m_out += utf8;
    }
    void integer(std::int64_t value)
    {
        if (value >= 0 && value < 256) {
            m_out += 'K';
            little(static_cast<std::uint64_t>(value), 1);
        } else if (value >= INT32_MIN && value <= INT32_MAX) {
            m_out += 'J';
            little(static_cast<std::uint64_t>(value), 4);
        } else {
            m_out += "\x8a\x08";
            little(static_cast<std::uint64_t>(value), 8);
        }
    }
    void tuple(const std::vector<std::int64_t> &values)
    {
        if (values.empty()) {
            m_out += ')';
            return;
        }
        m_out += '(';
        for (const std::int64_t value : values)
            integer(value);
        m_out += 't';
    }
    const std::string &bytes() const { return m_out; }

private:
    void little(std::uint64_t value, int bytes)
    {
        for (int i = 0; i < bytes; ++i)
            m_out += static_cast<char>((value >> (8 * i)) & 0xFF);
    }
    std::string m_out;
};

std::vector<std::int64_t> contiguousStrides(const std::vector<std::int64_t> &shape)
{
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) {
        const auto edge = static_cast<std::uint64_t>(std::max<std::int64_t>(shape[i], 1));
        strides[i - 1] = static_cast<std::int64_t>(static_cast<std::uint64_t>(strides[i]) * edge);
    }
    return strides;
}

/// OrderedDict([(name, _rebuild_tensor_v2(storage, 0, sizes, strides, False, OrderedDict())), …])
std::string pickleOf(const StateDict &weights)
{
    PickleText pickle;
    pickle.raw("\x80\x02", 2);
    pickle.global("collections", "OrderedDict");
    pickle.raw(")R(", 3);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const TensorBlob &blob = weights[i];
        pickle.text(blob.name);
        pickle.global("torch._utils", "_rebuild_tensor_v2");
        pickle.raw("((", 2);
        pickle.text("storage");
        pickle.global("torch", storageName(blob.type));
        pickle.text(std::to_string(i));
        pickle.text("cpu");
        pickle.integer(blob.elements());
        pickle.raw("tQ", 2);
        pickle.integer(0);
        pickle.tuple(blob.shape);
        pickle.tuple(contiguousStrides(blob.shape));
        pickle.op('\x89');
        pickle.global("collections", "OrderedDict");
        pickle.raw(")RtR", 4);
    }
    pickle.raw("u.", 2);
    return pickle.bytes();
}

} // namespace

Result<void> writePth(const fs::path &file, const StateDict &weights)
{
    TW_TRY(checkWritable(file, weights));
    OutputFile out(file);
    TW_TRY(out.open());
    TW_TRY(writePth(out, weights));
    return out.commit();
}

Result<void> writePth(ByteSink &out, const StateDict &weights)
{
    ZipWriter zip(out);
    const std::string pickle = pickleOf(weights);
    TW_TRY(zip.add("archive/data.pkl", pickle.data(), pickle.size()));
    TW_TRY(zip.add("archive/byteorder", "little", 6));
    for (std::size_t i = 0; i < weights.size(); ++i)
        TW_TRY(zip.add("archive/data/" + std::to_string(i), weights[i].data, weights[i].bytes));
    TW_TRY(zip.add("archive/version", "3\n", 2));
    return zip.finish();
}

} // namespace tw
