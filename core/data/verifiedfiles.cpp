// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/verifiedfiles.h"

#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QUuid>
#include <QVariant>

namespace tw {

namespace {

// One more whenever a decoder becomes stricter or other facts are measured: what older ones accepted is
// decoded again.
constexpr int decoderRevision = 2;

QByteArray bytesOf(const std::string &text)
{
    return QByteArray::fromStdString(text);
}

bool isDamaged(const QSqlError &error)
{
    return error.nativeErrorCode() == QLatin1String("11") || error.nativeErrorCode() == QLatin1String("26");
}

} // namespace

VerifiedFiles::VerifiedFiles(const fs::path &database)
    : m_database(database), m_connection(QStringLiteral("files-") + QUuid::createUuid().toString())
{
    std::error_code unknown;
    if (database.empty() || !fs::is_directory(database.parent_path(), unknown))
        return;
    QSqlDatabase connection = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), m_connection);
    connection.setDatabaseName(displayPath(database));
    connection.setConnectOptions(QStringLiteral("QSQLITE_BUSY_TIMEOUT=250"));
    m_open = connection.open() && prepare();
    if (!m_open)
        return;
    m_lookup = std::make_unique<QSqlQuery>(connection);
    m_lookup->setForwardOnly(true);
    m_open = m_lookup->prepare(QStringLiteral("SELECT bytes, mtime_ns, inode, key, facts FROM files WHERE path = ?"));
}

VerifiedFiles::~VerifiedFiles()
{
    m_lookup.reset();
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
           && query.exec(QStringLiteral("CREATE TABLE files (path BLOB PRIMARY KEY, bytes INTEGER, mtime_ns INTEGER, "
                                        "inode INTEGER, key BLOB, facts BLOB) WITHOUT ROWID"))
           && query.exec(QStringLiteral("PRAGMA user_version = %1").arg(decoderRevision));
}

std::optional<std::string> VerifiedFiles::keyOf(const std::string &path, const FileIdentity &identity,
                                                std::string *facts)
{
    if (!m_open)
        return std::nullopt;
    m_lookup->bindValue(0, bytesOf(path));
    if (!m_lookup->exec()) {
        std::error_code ignored;
        if (isDamaged(m_lookup->lastError()))
            fs::remove(m_database, ignored);
        m_open = false;
        return std::nullopt;
    }
    if (!m_lookup->next() || m_lookup->value(0).toLongLong() != identity.bytes
        || m_lookup->value(1).toLongLong() != identity.mtimeNs || m_lookup->value(2).toLongLong() != identity.inode)
        return std::nullopt;
    if (facts)
        *facts = m_lookup->value(4).toByteArray().toStdString();
    return m_lookup->value(3).toByteArray().toStdString();
}

void VerifiedFiles::remember(const std::vector<VerifiedFile> &files)
{
    if (!m_open || files.empty())
        return;
    m_lookup->finish();
    QSqlDatabase connection = QSqlDatabase::database(m_connection, false);
    if (!connection.transaction())
        return;
    QSqlQuery query(connection);
    bool ok = query.prepare(QStringLiteral("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)"));
    for (auto file = files.begin(); ok && file != files.end(); ++file) {
        query.bindValue(0, bytesOf(file->path));
        query.bindValue(1, qlonglong(file->identity.bytes));
        query.bindValue(2, qlonglong(file->identity.mtimeNs));
        query.bindValue(3, qlonglong(file->identity.inode));
        query.bindValue(4, bytesOf(file->key));
        query.bindValue(5, bytesOf(file->facts));
        ok = query.exec();
    }
    query.finish();
    if (!ok || !connection.commit())
        connection.rollback();
}

} // namespace tw
