// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/jobs/database.h"

#include "core/base/files.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QSqlError>
#include <QThread>

#include <atomic>
#include <cerrno>
#include <map>

#include <fcntl.h>
#include <unistd.h>

namespace tw {

namespace {

// Primary result codes of sqlite3.h.
constexpr int sqliteBusy = 5, sqliteLocked = 6, sqliteReadOnly = 8, sqliteInputOutput = 10, sqliteFull = 13;
constexpr int busyTimeoutMs = 5000;

/// Element v brings a store of version v to version v + 1. Append only.
const QList<QStringList> &migrations()
{
    static const QList<QStringList> list{
        {"CREATE TABLE jobs (id TEXT PRIMARY KEY, experiment TEXT NOT NULL, name TEXT NOT NULL,"
         " description TEXT NOT NULL, state TEXT NOT NULL, created_ms INTEGER NOT NULL,"
         " started_ms INTEGER NOT NULL, finished_ms INTEGER NOT NULL, error TEXT) WITHOUT ROWID",
         "CREATE INDEX jobs_by_experiment ON jobs (experiment)",
         "CREATE TABLE tags (job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE, name TEXT NOT NULL,"
         " value TEXT NOT NULL, PRIMARY KEY (job, name)) WITHOUT ROWID",
         "CREATE TABLE nodes (job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE, id TEXT NOT NULL,"
         " position INTEGER NOT NULL, component TEXT NOT NULL, state TEXT NOT NULL,"
         " started_ms INTEGER NOT NULL, finished_ms INTEGER NOT NULL, stopped TEXT NOT NULL,"
         " reused_from TEXT NOT NULL, key TEXT NOT NULL, outputs TEXT NOT NULL, results TEXT NOT NULL,"
         " error TEXT, PRIMARY KEY (job, id)) WITHOUT ROWID",
         "CREATE INDEX nodes_by_key ON nodes (key)",
         "CREATE TABLE series (job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,"
         " node TEXT NOT NULL, series TEXT NOT NULL, rank INTEGER NOT NULL,"
         " last REAL, last_kind INTEGER NOT NULL, last_step INTEGER NOT NULL,"
         " best REAL, best_kind INTEGER NOT NULL, best_step INTEGER NOT NULL,"
         " PRIMARY KEY (job, node, series, rank)) WITHOUT ROWID"},
    };
    return list;
}

/// Connections of this thread by the serial number of their Database.
struct ThreadConnections
{
    std::map<quint64, QString> names;
    void close(quint64 serial)
    {
        const auto found = names.find(serial);
        if (found == names.end())
            return;
        QSqlDatabase::removeDatabase(found->second);
        names.erase(found);
    }
    void closeAll()
    {
        while (!names.empty())
            close(names.begin()->first);
    }
    // Runs while the thread dies, which QThread::wait() does not wait for: once the application is
    // gone, QtSql may be too, and the connections end with the process.
    ~ThreadConnections()
    {
        if (QCoreApplication::instance() != nullptr && !QCoreApplication::closingDown())
            closeAll();
    }
};

ThreadConnections &threadConnections()
{
    thread_local ThreadConnections connections;
    return connections;
}

quint64 nextNumber()
{
    static std::atomic<quint64> next{1};
    return next.fetch_add(1);
}

int primaryCode(const QSqlError &error)
{
    return error.nativeErrorCode().toInt() & 0xff;
}

} // namespace

void closeThreadConnections()
{
    threadConnections().closeAll();
}

Database::Database(fs::path file) : m_file(std::move(file)), m_serial(nextNumber())
{
    // QtSql takes text only; a folder whose name is no UTF-8 is reached through its descriptor, which
    // SQLite follows to the real bytes.
    const QByteArray bytes = bytesFromPath(m_file);
    if (QString::fromUtf8(bytes).toUtf8() != bytes)
        m_folder = ::open(m_file.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

Database::~Database()
{
    threadConnections().close(m_serial);
    if (m_folder >= 0)
        ::close(m_folder);
}

Error Database::failure(const QSqlError &error) const
{
    const int code = primaryCode(error);
    if (code == sqliteFull || code == sqliteInputOutput)
        return writeError(m_file, code == sqliteFull ? ENOSPC : EIO);
    if (code == sqliteBusy || code == sqliteLocked)
        return makeError(errors::InvalidWorkspace,
                         QT_TRANSLATE_NOOP("Error", "The workspace store %1 is locked by another program."),
                         {displayPath(m_file)},
                         QT_TRANSLATE_NOOP("Error", "Close the program that holds it, or choose another workspace."));
    if (code == sqliteReadOnly)
        return makeError(errors::InvalidWorkspace, QT_TRANSLATE_NOOP("Error", "The workspace store %1 is read-only."),
                         {displayPath(m_file)},
                         QT_TRANSLATE_NOOP("Error", "Make its folder writable, or choose another workspace."));
    return makeError(errors::InvalidWorkspace, QT_TRANSLATE_NOOP("Error", "The workspace store %1 cannot be used: %2"),
                     {displayPath(m_file), error.databaseText().isEmpty() ? error.text() : error.databaseText()},
                     QT_TRANSLATE_NOOP("Error", "Choose another workspace, or move this file away to begin anew."));
}

QString Database::databaseName() const
{
    if (m_folder < 0)
        return QString::fromUtf8(bytesFromPath(m_file));
    return QStringLiteral("/proc/self/fd/%1/%2").arg(m_folder).arg(QString::fromStdString(m_file.filename()));
}

Result<QSqlDatabase> Database::connection() const
{
    auto &names = threadConnections().names;
    const auto found = names.find(m_serial);
    if (found != names.end())
        return QSqlDatabase::database(found->second, false);
    const QString name = QStringLiteral("workspace-%1").arg(nextNumber());
    {
        QSqlDatabase made = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), name);
        names.emplace(m_serial, name);
        made.setDatabaseName(databaseName());
        made.setConnectOptions(QStringLiteral("QSQLITE_BUSY_TIMEOUT=%1").arg(busyTimeoutMs));
        Result<void> opened;
        if (!made.open())
            opened = failure(made.lastError());
        for (const char *pragma : {"PRAGMA synchronous = NORMAL", "PRAGMA foreign_keys = ON"})
            if (opened.ok())
                if (const auto set = run(made, QString::fromLatin1(pragma)); !set.ok())
                    opened = set.error();
        if (opened.ok())
            return made;
        made = QSqlDatabase();
        threadConnections().close(m_serial);
        return opened.error();
    }
}

Result<QSqlQuery> Database::run(QSqlDatabase &connection, const QString &sql, const QVariantList &values) const
{
    QSqlQuery query(connection);
    query.setForwardOnly(true);
    if (!query.prepare(sql))
        return failure(query.lastError());
    for (const QVariant &value : values)
        query.addBindValue(value);
    if (!query.exec())
        return failure(query.lastError());
    return query;
}

Result<QSqlQuery> Database::read(const QString &sql, const QVariantList &values) const
{
    TW_ASSIGN(opened, connection());
    return run(opened, sql, values);
}

Result<void> Database::write(const std::function<Result<void>(QSqlDatabase &)> &body) const
{
    TW_ASSIGN(opened, connection());
    TW_TRY(run(opened, QStringLiteral("BEGIN IMMEDIATE")));
    Result<void> done = body(opened);
    if (done.ok())
        if (const auto committed = run(opened, QStringLiteral("COMMIT")); !committed.ok())
            done = committed.error();
    if (!done.ok())
        QSqlQuery(opened).exec(QStringLiteral("ROLLBACK"));
    return done;
}

Result<int> Database::version(QSqlDatabase &connection) const
{
    TW_ASSIGN(query, run(connection, QStringLiteral("PRAGMA user_version")));
    return query.next() ? query.value(0).toInt() : 0;
}

Result<void> Database::useWriteAheadLog(QSqlDatabase &connection) const
{
    // SQLite does not wait for other connections here, so that two programs that open a new
    // workspace together would see a false "locked".
    QElapsedTimer waited;
    waited.start();
    for (;;) {
        const auto set = run(connection, QStringLiteral("PRAGMA journal_mode = WAL"));
        if (set.ok())
            return {};
        if (waited.elapsed() > busyTimeoutMs)
            return set.error();
        QThread::msleep(20);
    }
}

Result<void> Database::migrate(QSqlDatabase &connection) const
{
    TW_ASSIGN(found, version(connection));
    if (found > schemaVersion)
        return makeError(
            errors::InvalidWorkspace,
            QT_TRANSLATE_NOOP("Error", "The workspace store %1 has version %2; this program knows versions up to %3."),
            {displayPath(m_file), QString::number(found), QString::number(schemaVersion)},
            QT_TRANSLATE_NOOP("Error", "Open it with a newer program, or choose another workspace."));
    for (int step = found; step < schemaVersion; ++step)
        for (const QString &sql : migrations()[step])
            TW_TRY(run(connection, sql));
    if (found < schemaVersion)
        TW_TRY(run(connection, QStringLiteral("PRAGMA user_version = %1").arg(schemaVersion)));
    return {};
}

Result<void> Database::prepare()
{
    {
        TW_ASSIGN(opened, connection());
        TW_ASSIGN(found, version(opened));
        if (found <= schemaVersion)
            TW_TRY(useWriteAheadLog(opened));
    }
    return write([this](QSqlDatabase &opened) { return migrate(opened); });
}

} // namespace tw
