// SPDX-License-Identifier: GPL-3.0-or-later
#include "archivesamples.h"

#include "datasamples.h"

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tw::test {

namespace {

void number(QByteArray &out, quint32 value, int bytes)
{
    for (int i = 0; i < bytes; ++i)
        out.append(char(value >> (8 * i)));
}

QByteArray deflated(const QByteArray &bytes)
{
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
    QByteArray in = bytes, out(bytes.size() + 1000, '\0');
    stream.next_in = reinterpret_cast<Bytef *>(in.data());
    stream.avail_in = uInt(in.size());
    stream.next_out = reinterpret_cast<Bytef *>(out.data());
    stream.avail_out = uInt(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(qsizetype(stream.total_out));
    deflateEnd(&stream);
    return out;
}

/// What a local header and an entry of the list of contents share.
QByteArray commonFields(const Packed &member, qsizetype packedBytes)
{
    const auto crc =
        quint32(crc32(0, reinterpret_cast<const Bytef *>(member.bytes.constData()), uInt(member.bytes.size())));
    QByteArray out;
    number(out, 20, 2);
    number(out, quint32(member.flags), 2);
    number(out, member.deflated ? 8 : 0, 2);
    number(out, 0x58000000, 4);
    number(out, member.wrongChecksum ? ~crc : crc, 4);
    number(out, quint32(packedBytes), 4);
    number(out, quint32(member.claimedBytes >= 0 ? member.claimedBytes : int(member.bytes.size())), 4);
    number(out, quint32(member.name.size()), 2);
    number(out, 0, 2);
    return out;
}

QByteArray packed(const QByteArray &bytes, int (*filter)(archive *))
{
    QByteArray out(bytes.size() * 2 + 65536, '\0');
    std::size_t used = 0;
    archive *writer = archive_write_new();
    filter(writer);
    archive_write_set_format_raw(writer);
    archive_write_set_bytes_per_block(writer, 0);
    archive_write_open_memory(writer, out.data(), std::size_t(out.size()), &used);
    archive_entry *entry = archive_entry_new();
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_pathname(entry, "data");
    archive_write_header(writer, entry);
    archive_write_data(writer, bytes.constData(), std::size_t(bytes.size()));
    archive_write_close(writer);
    archive_entry_free(entry);
    archive_write_free(writer);
    out.resize(qsizetype(used));
    return out;
}

QByteArray tarHeader(const std::string &name, char kind, const QByteArray &target, qsizetype bytes)
{
    QByteArray header(512, '\0');
    const auto put = [&](qsizetype at, const QByteArray &text) { header.replace(at, text.size(), text); };
    put(0, QByteArray::fromStdString(name).left(100));
    put(100, "0000644");
    put(124, QByteArray::number(qlonglong(bytes), 8).rightJustified(11, '0'));
    put(136, QByteArray("14000000000"));
    put(148, "        ");
    header[156] = kind;
    put(157, target);
    put(257, "ustar");
    put(263, "00");
    unsigned sum = 0;
    for (const char c : header)
        sum += static_cast<unsigned char>(c);
    put(148, QByteArray::number(sum, 8).rightJustified(6, '0') + '\0');
    return header;
}

} // namespace

void writeZip(const fs::path &file, const std::vector<Packed> &members)
{
    QByteArray out, contents;
    std::vector<quint32> places;
    for (const Packed &member : members) {
        places.push_back(quint32(out.size()));
        const QByteArray data = member.deflated ? deflated(member.bytes) : member.bytes;
        const QByteArray fields = commonFields(member, data.size());
        number(contents, 0x02014b50, 4);
        number(contents, quint32(member.host << 8 | 20), 2);
        contents += fields;
        number(contents, 0, 4);
        number(contents, 0, 2);
        number(contents, member.kind == '2' ? 0120777U << 16 : 0100644U << 16, 4);
        number(contents, member.recordOf < 0 ? places.back() : places[std::size_t(member.recordOf)], 4);
        contents += QByteArray::fromStdString(member.name);
        number(out, 0x04034b50, 4);
        out += fields + QByteArray::fromStdString(member.name) + data;
    }
    const auto start = quint32(out.size());
    out += contents;
    number(out, 0x06054b50, 4);
    number(out, 0, 4);
    number(out, quint32(members.size()), 2);
    number(out, quint32(members.size()), 2);
    number(out, quint32(contents.size()), 4);
    number(out, start, 4);
    number(out, 0, 2);
    writeBytes(file, out);
}

QByteArray tarOf(const std::vector<Packed> &members)
{
    QByteArray out;
    for (const Packed &member : members) {
        const bool isLink = member.kind == '1' || member.kind == '2';
        const char kind = member.name.ends_with('/') ? '5' : member.kind;
        if (member.name.size() > 100) {
            const QByteArray name = QByteArray::fromStdString(member.name) + '\0';
            out += tarHeader("././@LongLink", 'L', {}, name.size())
                   + name.leftJustified((name.size() + 511) / 512 * 512, '\0');
        }
        out += tarHeader(member.name, kind, isLink ? member.bytes : QByteArray(), isLink ? 0 : member.bytes.size());
        if (!isLink)
            out += member.bytes.leftJustified((member.bytes.size() + 511) / 512 * 512, '\0');
    }
    return out + QByteArray(1024, '\0');
}

QByteArray gzipOf(const QByteArray &bytes)
{
    return packed(bytes, archive_write_add_filter_gzip);
}

QByteArray bzip2Of(const QByteArray &bytes)
{
    return packed(bytes, archive_write_add_filter_bzip2);
}

} // namespace tw::test
