// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/data/csvreader.h"
#include "core/data/datasetscan.h"
#include "core/data/verifiedfiles.h"
#include "tests/core/data/datasamples.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

using namespace tw;
using namespace tw::test;

/// Lists of path and label; and what is remembered of verified pictures.
class CsvScanTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void records();
    void lists_data();
    void lists();
    void refused_data();
    void refused();
    void otherBytes();
    void manyRows();
    void outsideTheFolder();
    void missingPictures();
    void remembers();
    void brokenMemory();

private:
    fs::path root() const { return fs::path(m_folder->path().toStdString()); }
    Result<ScanResult> scan(const QByteArray &text, const std::string &column = "label") const
    {
        writeBytes(root() / "list.csv", text);
        return scanDataset(root() / "list.csv", {false, {}, {}, column});
    }
    static QString samplesOf(const ImageManifest &manifest);
    std::unique_ptr<QTemporaryDir> m_folder;
};

void CsvScanTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    for (const char *name : {"1.ppm", "in/2.ppm", "a, \"b\".ppm"})
        writeBytes(root() / name, ppmOf(patternImage(3, 3, 1)));
}

QString CsvScanTest::samplesOf(const ImageManifest &manifest)
{
    QStringList out;
    for (std::size_t i = 0; i < manifest.size(); ++i)
        out.append(QString::fromStdString(
            std::string(manifest.path(i)) + "="
            + (manifest.category(i) < 0 ? "" : manifest.categories[std::size_t(manifest.category(i))])));
    return out.join(QLatin1Char(';'));
}

void CsvScanTest::records()
{
    CsvReader reader("\xef\xbb\xbf"
                     "a,\"b \"\"c\"\"\nd\"\r\n\r\n,\nlast");
    std::vector<std::string> fields;
    QVERIFY(reader.next(fields));
    QCOMPARE(fields, (std::vector<std::string>{"a", "b \"c\"\nd"}));
    QVERIFY(reader.next(fields));
    QCOMPARE(fields, (std::vector<std::string>{"", ""}));
    QCOMPARE(reader.line(), std::size_t(4));
    QVERIFY(reader.next(fields));
    QCOMPARE(fields, (std::vector<std::string>{"last"}));
    QVERIFY(!reader.next(fields));
}

void CsvScanTest::lists_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("column");
    QTest::addColumn<QString>("samples");
    QTest::newRow("plain") << QByteArray("path,label\nin/2.ppm,dog\n1.ppm,cat\n") << "label"
                           << "1.ppm=cat;in/2.ppm=dog";
    QTest::newRow("mark and CRLF") << QByteArray("\xef\xbb\xbfpath,label\r\n1.ppm,cat\r\n") << "label"
                                   << "1.ppm=cat";
    QTest::newRow("quoted") << QByteArray("label,path\n\"x, \"\"y\"\"\",\"a, \"\"b\"\".ppm\"\n") << "label"
                            << "a, \"b\".ppm=x, \"y\"";
    QTest::newRow("first column") << QByteArray("file,kind,label\n1.ppm,z,cat\n") << "kind"
                                  << "1.ppm=z";
    QTest::newRow("no labels") << QByteArray("path\n1.ppm\n") << ""
                               << "1.ppm=";
    QTest::newRow("all labels empty") << QByteArray("path,label\n1.ppm,\nin/2.ppm,\n") << "label"
                                      << "1.ppm=;in/2.ppm=";
    QTest::newRow("semicolons") << QByteArray("path;label\n1.ppm;\"cat; a\"\n") << "label"
                                << "1.ppm=cat; a";
    QTest::newRow("semicolons, commas inside") << QByteArray("path;label\n\"a, \"\"b\"\".ppm\";b,c\n") << "label"
                                               << "a, \"b\".ppm=b,c";
    QTest::newRow("tabs") << QByteArray("label\tpath\ncat, big\t1.ppm\n") << "label"
                          << "1.ppm=cat, big";
    QTest::newRow("sep=") << QByteArray("\xef\xbb\xbfsep=;\r\npath;label\r\n1.ppm;cat\r\n") << "label"
                          << "1.ppm=cat";
    QTest::newRow("CR") << QByteArray("path,label\r1.ppm,cat\rin/2.ppm,dog") << "label"
                        << "1.ppm=cat;in/2.ppm=dog";
    QTest::newRow("spaces") << QByteArray("path , label\n1.ppm, cat\nin/2.ppm , \" dog \" \n") << "label"
                            << "1.ppm=cat;in/2.ppm= dog ";
    QTest::newRow("any case") << QByteArray("Label,PATH\ncat,1.ppm\n") << "label"
                              << "1.ppm=cat";
    QTest::newRow("exact case first") << QByteArray("path,Label,label\n1.ppm,x,cat\n") << "label"
                                      << "1.ppm=cat";
    QTest::newRow("backslashes") << QByteArray("path,label\nin\\2.ppm,dog\n.\\1.ppm,cat\n") << "label"
                                 << "1.ppm=cat;in/2.ppm=dog";
    QTest::newRow("line end in a label") << QByteArray("path,label\n1.ppm,\"c\nat\"\n") << "label"
                                         << "1.ppm=c\nat";
    QTest::newRow("twice the same") << QByteArray("path,label\n1.ppm,cat\n./1.ppm,cat\n") << "label"
                                    << "1.ppm=cat";
}

void CsvScanTest::lists()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, column);
    QFETCH(const QString, samples);
    const auto found = scan(text, column.toStdString());
    TW_VERIFY(found);
    QCOMPARE(samplesOf(found->manifest), samples);
    QCOMPARE(found->manifest.isLabelled(),
             !samples.contains(QLatin1String("=;")) && !samples.endsWith(QLatin1Char('=')));
}

void CsvScanTest::refused_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("part");
    QTest::newRow("column") << QByteArray("path,kind\n1.ppm,cat\n") << "'label'; its columns are 'path', 'kind'";
    QTest::newRow("two label columns") << QByteArray("path,label,x,label\n1.ppm,cat,1,dog\n")
                                       << "column 2 ('label') and column 4 ('label')";
    QTest::newRow("two in other case") << QByteArray("path,Label,LABEL\n1.ppm,cat,dog\n")
                                       << "column 2 ('Label') and column 3 ('LABEL')";
    QTest::newRow("two path columns") << QByteArray("path,label,path\n1.ppm,cat,2.ppm\n") << "column 1 ('path')";
    QTest::newRow("fewer fields") << QByteArray("path;label\n1.ppm;cat\n\nin/2.ppm\n") << "Line 4";
    QTest::newRow("line after a line end in quotes") << QByteArray("path,label\r\"1\rx.ppm\",cat\r1.ppm\r") << "Line 4";
    QTest::newRow("column of semicolons") << QByteArray("path;kind\n1.ppm;cat\n") << "columns are 'path', 'kind'";
    QTest::newRow("some labels") << QByteArray("path,label\n1.ppm,cat\nin/2.ppm,\n") << "Line 3";
    QTest::newRow("two labels") << QByteArray("path,label\n1.ppm,cat\n1.ppm,dog\n") << "'dog', in line 2 it has 'cat'";
    QTest::newRow("open quote") << QByteArray("path,label\n\"1.ppm,cat\n") << "never ends";
    QTest::newRow("after a quote") << QByteArray("path,label\n\"1.ppm\"x,cat\n") << "closing quote";
    QTest::newRow("fields") << QByteArray("path,label\n1.ppm,cat,more\n") << "3 fields";
    QTest::newRow("no path") << QByteArray("path,label\n,cat\n") << "names no picture";
    QTest::newRow("empty") << QByteArray() << "empty";
    QTest::newRow("header only") << QByteArray("path,label\n") << "No image";
    QTest::newRow("none there") << QByteArray("path,label\ngone.ppm,cat\n") << "'gone.ppm'";
    QTest::newRow("UTF-16") << QByteArray("\xff\xfep\0", 4) << "UTF-16";
}

void CsvScanTest::refused()
{
    QFETCH(const QByteArray, text);
    QFETCH(const QString, part);
    const auto found = scan(text);
    QVERIFY(!found.ok());
    QCOMPARE(found.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY2(found.error().sentence().contains(part), qPrintable(found.error().sentence()));
    QVERIFY(found.error().sentence().contains(QStringLiteral("list.csv")));
    QVERIFY(!found.error().hint.isEmpty());
}

/// Names and labels are bytes.
void CsvScanTest::otherBytes()
{
    writeBytes(root() / "\xe4.ppm", ppmOf(patternImage(3, 3, 1)));
    const auto found = scan("path,label\n\xe4.ppm,gr\xfcn\n");
    TW_VERIFY(found);
    QCOMPARE(std::string(found->manifest.path(0)), std::string("\xe4.ppm"));
    QCOMPARE(found->manifest.categories, (std::vector<std::string>{"gr\xfcn"}));
}

/// Of many repeats and missing pictures the report says each once.
void CsvScanTest::manyRows()
{
    QByteArray text("path,label\n");
    for (int i = 0; i < 20'000; ++i)
        text += "1.ppm,cat\ngone/" + QByteArray::number(i) + ".ppm,dog\n";
    const auto found = scan(text);
    TW_VERIFY(found);
    QCOMPARE(found->manifest.size(), std::size_t(20'001));
    QCOMPARE(found->report.warnings.size(), std::size_t(2));
    QVERIFY(found->report.warnings[0].starts_with("19999 lines"));
    QVERIFY(found->report.warnings[1].starts_with("20000 of 20001"));
}

void CsvScanTest::outsideTheFolder()
{
    writeBytes(root() / "lists" / "l.csv",
               "path,label\n../1.ppm,cat\n" + QByteArray::fromStdString((root() / "in/2.ppm").native()) + ",dog\n");
    auto found = scanDataset(root() / "lists" / "l.csv", {});
    TW_VERIFY(found);
    QCOMPARE(found->manifest.displayName(0), (root() / "1.ppm").native());
    TW_VERIFY(verifyImages(*found, VerifyMode::Full, false, 1, nullptr, {}));
}

void CsvScanTest::missingPictures()
{
    auto found = scan("path,label\n1.ppm,cat\ngone.ppm,dog\n");
    TW_VERIFY(found);
    QVERIFY(found->report.warnings.front().find("1 of 2 listed pictures are not there") != std::string::npos);
    auto strict = *found;
    TW_VERIFY(verifyImages(*found, VerifyMode::Full, true, 1, nullptr, {}));
    QCOMPARE(found->report.unreadable.front().path, std::string("gone.ppm"));
    QCOMPARE(found->manifest.size(), std::size_t(1));
    const auto failed = verifyImages(strict, VerifyMode::Header, false, 1, nullptr, {});
    QCOMPARE(failed.error().name, QLatin1String(errors::InvalidDataset));
    QVERIFY(failed.error().sentence().contains(QStringLiteral("gone.ppm")));
}

void CsvScanTest::remembers()
{
    const auto before = fs::file_time_type::clock::now() - std::chrono::hours(1);
    const fs::path file = root() / "1.ppm", memory = root() / "files.db";
    fs::last_write_time(file, before);
    const QByteArray text("path,label\n1.ppm,cat\n");
    auto first = scan(text);
    TW_VERIFY(verifyImages(*first, VerifyMode::Full, false, 1, nullptr, {}, memory));
    // The same size and time: known by these alone, so it is not decoded.
    const auto size = fs::file_size(file);
    std::fstream(file, std::ios::in | std::ios::out).write("broken", 6);
    fs::last_write_time(file, before);
    QCOMPARE(fs::file_size(file), size);
    auto second = scan(text);
    TW_VERIFY(verifyImages(*second, VerifyMode::Full, false, 1, nullptr, {}, memory));
    QCOMPARE(second->manifest.key(0), first->manifest.key(0));
    fs::last_write_time(file, before + std::chrono::seconds(1));
    auto third = scan(text);
    QVERIFY(!verifyImages(*third, VerifyMode::Full, false, 1, nullptr, {}, memory).ok());
}

void CsvScanTest::brokenMemory()
{
    const fs::path memory = root() / "files.db";
    writeBytes(memory, QByteArray(8192, 'x'));
    for (int run = 0; run < 2; ++run) {
        auto found = scan("path,label\n1.ppm,cat\n");
        TW_VERIFY(verifyImages(*found, VerifyMode::Full, false, 1, nullptr, {}, memory));
        QVERIFY(VerifiedFiles(memory).isOpen()); // a new one has taken its place
    }
    auto found = scan("path,label\n1.ppm,cat\n");
    TW_VERIFY(verifyImages(*found, VerifyMode::Full, false, 1, nullptr, {}, root() / "no folder" / "files.db"));
}

QTEST_GUILESS_MAIN(CsvScanTest)
#include "tst_csvscan.moc"
