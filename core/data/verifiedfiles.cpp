// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/verifiedfiles.h"

#include <QDateTime>
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QUuid>
#include <QVariant>

#include <algorithm>
#include <cstring>

namespace tw {

namespace {

// One more whenever a decoder becomes stricter, or the table another: what older ones accepted is
// decoded again.
constexpr int decoderRevision = 3;
constexpr std::size_t keyBytes = 32;
constexpr int mostRows = 16; ///< of a folder, before they are put together
constexpr qint64 largestMemory = qint64(512) << 20;

// An entry: bytes, mtime_ns, inode (8 each), lengths of the name, the key and the facts (2 each), then
// these three.
constexpr std::size_t headBytes = 30;

QByteArray view(const std::string &text)
{
    return QByteArray::fromRawData(text.data(), qsizetype(text.size()));
}

void appendEntry(std::string &out, std::string_view name, const FileIdentity &identity, std::string_view key,
                 std::string_view facts)
{
    char head[headBytes];
    const auto nameLength = std::uint16_t(name.size()), keyLength = std::uint16_t(key.size()),
               factsLength = std::uint16_t(facts.size());
    std::memcpy(head, &identity.bytes, 8);
    std::memcpy(head + 8, &identity.mtimeNs, 8);
    std::memcpy(head + 16, &identity.inode, 8);
    std::memcpy(head + 24, &nameLength, 2);
    std::memcpy(head + 26, &keyLength, 2);
    std::memcpy(head + 28, &factsLength, 2);
    out.append(head, headBytes).append(name).append(key).append(facts);
}

qint64 today()
{
    return QDateTime::currentSecsSinceEpoch() / 86400;
}

bool isDamaged(const QSqlError &error)
{
    return error.nativeErrorCode() == QLatin1String("11") || error.nativeErrorCode() == QLatin1String("26");
}

} // namespace

void VerifiedFolder::take(std::string rows)
{
    m_rows.push_back(std::move(rows));
    std::string_view rest = m_rows.back();
    while (rest.size() >= headBytes) {
        Entry entry;
        std::uint16_t nameLength = 0, keyLength = 0, factsLength = 0;
        std::memcpy(&entry.identity.bytes, rest.data(), 8);
        std::memcpy(&entry.identity.mtimeNs, rest.data() + 8, 8);
        std::memcpy(&entry.identity.inode, rest.data() + 16, 8);
        std::memcpy(&nameLength, rest.data() + 24, 2);
        std::memcpy(&keyLength, rest.data() + 26, 2);
        std::memcpy(&factsLength, rest.data() + 28, 2);
        rest.remove_prefix(headBytes);
        const std::size_t length = std::size_t(nameLength) + keyLength + factsLength;
        if (rest.size() < length || (keyLength != 0 && keyLength != keyBytes))
            return;
        entry.name = rest.substr(0, nameLength);
        entry.key = rest.substr(nameLength, keyLength);
        entry.facts = rest.substr(std::size_t(nameLength) + keyLength, factsLength);
        rest.remove_prefix(length);
        m_entries.push_back(entry);
    }
}

// The later of two entries counts, unless it says less about the same bytes.
void VerifiedFolder::settle()
{
    const auto byName = [](const Entry &a, const Entry &b) { return a.name < b.name; };
    if (!std::is_sorted(m_entries.begin(), m_entries.end(), byName))
        std::stable_sort(m_entries.begin(), m_entries.end(), byName);
    std::size_t kept = 0;
    for (const Entry &entry : m_entries) {
        if (kept > 0 && m_entries[kept - 1].name == entry.name) {
            Entry &before = m_entries[kept - 1];
            if (!(entry.key.empty() && before.identity == entry.identity))
                before = entry;
        } else {
            m_entries[kept++] = entry;
        }
    }
    m_entries.resize(kept);
}

std::optional<VerifiedFolder::Known> VerifiedFolder::find(std::string_view name, const FileIdentity &identity) const
{
    const auto found =
        std::lower_bound(m_entries.begin(), m_entries.end(), name,
                         [](const Entry &entry, std::string_view wanted) { return entry.name < wanted; });
    if (found == m_entries.end() || found->name != name || found->identity != identity)
        return std::nullopt;
    return Known{found->key, found->facts};
}

VerifiedFiles::VerifiedFiles(const fs::path &database)
    : m_database(database), m_connection(QStringLiteral("files-") + QUuid::createUuid().toString())
{
    std::error_code unknown;
    if (database.empty() || !fs::is_directory(database.parent_path(), unknown))
        return;
    QSqlDatabase connection = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), m_connection);
    connection.setDatabaseName(QString::fromUtf8(bytesFromPath(database)));
    connection.setConnectOptions(QStringLiteral("QSQLITE_BUSY_TIMEOUT=250"));
    m_open = connection.open() && prepare();
}

VerifiedFiles::~VerifiedFiles()
{
    if (QSqlDatabase::contains(m_connection))
        QSqlDatabase::removeDatabase(m_connection);
}

bool VerifiedFiles::prepare()
{
    QSqlQuery query(QSqlDatabase::database(m_connection, false));
    if (!query.exec(QStringLiteral("PRAGMA user_version"))) {
        std::error_code ignored;
        if (isDamaged(query.lastError())) // the next run makes a new one
            fs::remove(m_database, ignored);
        return false;
    }
    const bool known = query.next() && query.value(0).toInt() == decoderRevision;
    query.finish();
    query.exec(QStringLiteral("PRAGMA synchronous = OFF"));
    if (known)
        return true;
    return query.exec(QStringLiteral("DROP TABLE IF EXISTS files"))
           && query.exec(QStringLiteral("DROP TABLE IF EXISTS folders"))
           && query.exec(QStringLiteral("CREATE TABLE folders (id INTEGER PRIMARY KEY, path BLOB, day INTEGER, "
                                        "size INTEGER, entries BLOB)"))
           && query.exec(QStringLiteral("CREATE INDEX folders_by_path ON folders (path, id)"))
           && query.exec(QStringLiteral("PRAGMA user_version = %1").arg(decoderRevision));
}

VerifiedFolder VerifiedFiles::recall(const std::string &folder)
{
    VerifiedFolder known;
    if (!m_open)
        return known;
    QSqlQuery query(QSqlDatabase::database(m_connection, false));
    query.setForwardOnly(true);
    query.prepare(QStringLiteral("SELECT entries, day FROM folders WHERE path = ? ORDER BY id"));
    query.bindValue(0, view(folder));
    if (!query.exec()) {
        std::error_code ignored;
        if (isDamaged(query.lastError()))
            fs::remove(m_database, ignored);
        m_open = false;
        return known;
    }
    bool isOld = false;
    while (query.next()) {
        known.take(query.value(0).toByteArray().toStdString());
        isOld = isOld || query.value(1).toLongLong() < today();
    }
    if (isOld)
        m_recalled.push_back(folder);
    known.settle();
    return known;
}

bool VerifiedFiles::add(QSqlDatabase &connection, const Addition &addition)
{
    std::string entries;
    for (const VerifiedFile &file : addition.files)
        appendEntry(entries, file.name, file.identity, file.key, file.facts);
    QSqlQuery query(connection);
    query.prepare(QStringLiteral("SELECT COUNT(*) FROM folders WHERE path = ?"));
    query.bindValue(0, view(addition.folder));
    if (!query.exec() || !query.next())
        return false;
    const bool together = query.value(0).toInt() >= mostRows;
    query.finish();
    if (together) {
        VerifiedFolder all = recall(addition.folder);
        all.take(std::move(entries));
        all.settle();
        entries.clear();
        for (const VerifiedFolder::Entry &entry : all.m_entries)
            appendEntry(entries, entry.name, entry.identity, entry.key, entry.facts);
        query.prepare(QStringLiteral("DELETE FROM folders WHERE path = ?"));
        query.bindValue(0, view(addition.folder));
        if (!query.exec())
            return false;
    }
    query.prepare(QStringLiteral("INSERT INTO folders (path, day, size, entries) VALUES (?, ?, ?, ?)"));
    query.bindValue(0, view(addition.folder));
    query.bindValue(1, today());
    query.bindValue(2, qlonglong(entries.size()));
    query.bindValue(3, view(entries));
    return query.exec();
}

void VerifiedFiles::noteUse(QSqlDatabase &connection)
{
    QSqlQuery query(connection);
    query.prepare(QStringLiteral("UPDATE folders SET day = ? WHERE path = ?"));
    for (const std::string &folder : m_recalled) {
        query.bindValue(0, today());
        query.bindValue(1, view(folder));
        query.exec();
    }
    m_recalled.clear();
}

void VerifiedFiles::shrink(QSqlDatabase &connection)
{
    QSqlQuery query(connection);
    if (!query.exec(QStringLiteral("SELECT SUM(size) FROM folders")) || !query.next())
        return;
    const qint64 excess = query.value(0).toLongLong() - largestMemory;
    query.finish();
    if (excess <= 0)
        return;
    // An eighth more, so that the next run needs none of this.
    query.prepare(QStringLiteral("DELETE FROM folders WHERE id IN (SELECT id FROM (SELECT id, SUM(size) OVER "
                                 "(ORDER BY day, id) - size AS before FROM folders) WHERE before < ?)"));
    query.bindValue(0, excess + largestMemory / 8);
    query.exec();
}

void VerifiedFiles::remember(const std::vector<Addition> &additions)
{
    if (!m_open || (additions.empty() && m_recalled.empty()))
        return;
    QSqlDatabase connection = QSqlDatabase::database(m_connection, false);
    QSqlQuery begin(connection);
    if (!begin.exec(QStringLiteral("BEGIN IMMEDIATE")))
        return;
    bool ok = true;
    for (auto addition = additions.begin(); ok && addition != additions.end(); ++addition)
        ok = add(connection, *addition);
    if (ok) {
        noteUse(connection);
        shrink(connection);
    }
    begin.exec(ok ? QStringLiteral("COMMIT") : QStringLiteral("ROLLBACK"));
}

} // namespace tw
