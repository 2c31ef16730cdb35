// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/paths.h"
#include "core/base/result.h"

#include <QSqlDatabase>
#include <QSqlQuery>
#include <QVariantList>

#include <functional>

namespace tw {

/// The SQLite file of a workspace. Any thread: each has its own connection, closed when the
/// thread ends (or, on the thread that destroys this object, then).
class Database
{
public:
    static constexpr int schemaVersion = 1;

    explicit Database(fs::path file);
    ~Database();
    Database(const Database &) = delete;
    Database &operator=(const Database &) = delete;

    /// Opens, makes or migrates the tables and proves that they can be written.
    /// InvalidWorkspaceError: locked, read-only, damaged, of a newer version.
    Result<void> prepare();
    /// Runs `body` inside BEGIN IMMEDIATE … COMMIT; its error rolls everything back.
    Result<void> write(const std::function<Result<void>(QSqlDatabase &)> &body) const;
    /// One statement with its values in order.
    Result<QSqlQuery> run(QSqlDatabase &connection, const QString &sql, const QVariantList &values = {}) const;
    Result<QSqlQuery> read(const QString &sql, const QVariantList &values = {}) const;

private:
    QString databaseName() const;
    Result<QSqlDatabase> connection() const;
    Result<int> version(QSqlDatabase &connection) const;
    Result<void> useWriteAheadLog(QSqlDatabase &connection) const;
    Result<void> migrate(QSqlDatabase &connection) const;
    Error failure(const QSqlError &error) const;

    fs::path m_file;
    quint64 m_serial;
    int m_folder = -1; ///< descriptor, of a file whose name is no UTF-8
};

/// Closes all connections of the calling thread. The last thing a thread of our own does: left to the
/// end of the thread's life, it would run beside the end of the program.
void closeThreadConnections();

} // namespace tw
