// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/errorpages.h"
#include "tests/support/commandline.h"

#include <QFile>
#include <QJsonArray>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace tw;
using namespace tw::test;

/// What the program says of itself: explanations, manual page, completion, descriptions; and what it
/// does when nobody can read it.
class TestCommandLineHelp : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void explainsEveryError();
    void explainsAsTyped_data();
    void explainsAsTyped();
    void generatedErrorsPage();
    void describesAgree();
    void describesAPipelineFile();
    void manualPage();
    void completes_data();
    void completes();
    void completesInBash();
    void fullOutputIsAFailure_data();
    void fullOutputIsAFailure();
    void ellipsisIsOneCharacter();
    void lookingMakesNothing_data();
    void lookingMakesNothing();

private:
    QString at(const char *name) const { return m_folder->filePath(QLatin1String(name)); }
    fs::path folder() const { return m_folder->path().toStdString(); }
    static ProcessOutcome bash(const QString &script)
    {
        return runProcess(QStringLiteral("/bin/bash"), {QStringLiteral("-c"), script});
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestCommandLineHelp::explainsEveryError()
{
    QStringList words{"explain"};
    for (const ErrorPage &page : errorPages())
        words.append(page.name);
    const ProcessOutcome outcome = cli(words);
    QCOMPARE(outcome.exitCode, 0);
    for (const ErrorPage &page : errorPages()) {
        QVERIFY2(outcome.out.contains(page.name.toUtf8() + '\n' + page.meaning.toUtf8()), qPrintable(page.name));
        for (const QString &line : page.causes + page.remedies)
            QVERIFY2(outcome.out.contains("  - " + line.toUtf8()), qPrintable(line));
    }
    const QList<QJsonObject> json = jsonLines(cli({"explain", "--all", "--json"}).out);
    QCOMPARE(json.size(), errorPages().size());
    QVERIFY(!json.first().value("causes").toArray().isEmpty());
}

void TestCommandLineHelp::explainsAsTyped_data()
{
    QTest::addColumn<QString>("word");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("name") << "InvalidDatasetError" << 0 << QByteArray("InvalidDatasetError\n");
    QTest::newRow("small") << "invaliddataset" << 0 << QByteArray("InvalidDatasetError\n");
    QTest::newRow("misspelt") << "InvalidDatsetError" << 2 << QByteArray("Did you mean InvalidDatasetError?");
    QTest::newRow("far off") << "xyz" << 2 << QByteArray("The errors are InvalidDatasetError, ");
}

void TestCommandLineHelp::explainsAsTyped()
{
    QFETCH(QString, word);
    QFETCH(int, exitCode);
    QFETCH(QByteArray, text);
    const ProcessOutcome outcome = cli({"explain", word});
    QCOMPARE(outcome.exitCode, exitCode);
    QVERIFY2((exitCode == 0 ? outcome.out : outcome.err).contains(text), (outcome.out + outcome.err).constData());
}

void TestCommandLineHelp::generatedErrorsPage()
{
    const ProcessOutcome page = cli({"explain", "--all", "--markdown"});
    QCOMPARE(page.exitCode, 0);
    QVERIFY(page.out.startsWith("# Errors\n"));
    for (const ErrorPage &one : errorPages())
        QVERIFY2(page.out.contains("\n## " + one.name.toUtf8() + '\n'), qPrintable(one.name));
    QFile built(programFolder().parent_path() / "reference/errors.md");
    if (built.open(QIODevice::ReadOnly)) // the build writes it beside the programs
        QCOMPARE(built.readAll(), page.out);
}

/// Text, Markdown and JSON come from one declaration.
void TestCommandLineHelp::describesAgree()
{
    const QList<QJsonObject> all = jsonLines(cli({"describe", "--all", "--json"}).out);
    const QByteArray text = cli({"describe", "--all"}).out, page = cli({"describe", "--all", "--markdown"}).out;
    QVERIFY(all.size() >= 10);
    for (const QJsonObject &type : all) {
        QVERIFY(text.contains('(' + type.value("id").toString().toUtf8() + ", version "));
        for (const QJsonValue &value : type.value("parameters").toArray()) {
            const QJsonObject parameter = value.toObject();
            const QByteArray id = parameter.value("id").toString().toUtf8();
            const QByteArray range = parameter.value("range").toString().toUtf8();
            QVERIFY2(text.contains("\n  " + id + "  " + parameter.value("label").toString().toUtf8()), id.constData());
            QVERIFY2(text.contains("\n      " + range), range.constData());
            QVERIFY2(page.contains("| `" + id + '`'), id.constData());
            QVERIFY2(!parameter.value("help").toString().isEmpty(), id.constData());
        }
    }
    const ProcessOutcome one = cli({"describe", "resnet", "nothing"});
    QCOMPARE(one.exitCode, 2);
    QVERIFY(one.err.contains("'nothing'"));
}

void TestCommandLineHelp::describesAPipelineFile()
{
    const QString file = displayPath(writeTinyPipeline(folder(), 30, 1));
    const QByteArray text = cli({"describe", file}).out;
    QVERIFY2(text.contains("  rate  Rate\n      number > 0; now: 0.05\n      sets train.learning_rate\n"),
             text.constData());
    QVERIFY2(text.contains("      split.image_directory1: ImageDirectory\n"), text.constData());
    const QJsonObject json = jsonLines(cli({"describe", file, "--json", "--set", "rate=0.25"}).out).value(0);
    const QJsonObject rate = json.value("parameters").toArray().first().toObject();
    QCOMPARE(rate.value("value").toDouble(), 0.25);
    QCOMPARE(rate.value("targets").toArray().first().toObject().value("node").toString(), QStringLiteral("train"));
    QVERIFY(json.value("outputs").toArray().contains(QStringLiteral("train.trained_model")));
    const ProcessOutcome broken = cli({"describe", at("absent.pipeline.json")});
    QCOMPARE(broken.exitCode, 2);
    QVERIFY(broken.err.startsWith("InvalidPipelineError: "));
}

void TestCommandLineHelp::manualPage()
{
    const ProcessOutcome page = cli({"help", "--man"});
    QCOMPARE(page.exitCode, 0);
    QVERIFY(page.out.startsWith(".TH TRAINWRIGHT\\-CLI 1 "));
    const QByteArray overview = cli({"--help"}).out;
    static const QRegularExpression command(QStringLiteral("\\n  ([a-z]+) "));
    auto found = command.globalMatch(QString::fromUtf8(overview));
    int commands = 0;
    for (; found.hasNext(); ++commands)
        QVERIFY(page.out.contains(".SS " + found.next().captured(1).toUtf8() + '\n'));
    QVERIFY(commands >= 15);
    for (const QByteArray &line : page.out.split('\n'))
        QVERIFY2(!line.startsWith('\'') && !line.contains("…"), line.constData());
    if (QStandardPaths::findExecutable(QStringLiteral("groff")).isEmpty())
        return;
    const ProcessOutcome set = runProcess(QStringLiteral("groff"), {"-man", "-Tutf8", "-ww"}, 60000, page.out);
    QCOMPARE(set.exitCode, 0);
    QCOMPARE(set.err, QByteArray());
    const ProcessOutcome help = cli({"help", "run"});
    QCOMPARE(help.out, cli({"run", "--help"}).out);
}

void TestCommandLineHelp::completes_data()
{
    QTest::addColumn<QStringList>("words"); // the last one is completed
    QTest::addColumn<QByteArrayList>("all");
    QTest::newRow("command") << QStringList{"val"} << QByteArrayList{"validate"};
    QTest::newRow("option") << QStringList{"jobs", "--se"} << QByteArrayList{"--search"};
    QTest::newRow("component") << QStringList{"describe", "split"} << QByteArrayList{"split-image-directory", ":files"};
    QTest::newRow("error") << QStringList{"explain", "Null"} << QByteArrayList{"NullOrEmptyError"};
    QTest::newRow("second error") << QStringList{"explain", "NullOrEmptyError", "Null"}
                                  << QByteArrayList{"NullOrEmptyError"};
    QTest::newRow("state") << QStringList{"jobs", "--state", "Comp"} << QByteArrayList{"Completed"};
    QTest::newRow("verb") << QStringList{"jobs", "wa"} << QByteArrayList{"wait"};
    QTest::newRow("no job") << QStringList{"jobs", "show", "--workspace", "/nowhere", "2"} << QByteArrayList{};
    QTest::newRow("pipeline file") << QStringList{"run", ""} << QByteArrayList{":files"};
    QTest::newRow("workspace") << QStringList{"run", "x", "--workspace", ""} << QByteArrayList{":folders"};
    QTest::newRow("parameter") << QStringList{"run", "FILE", "--set", "train.learn"}
                               << QByteArrayList{"train.learning_rate="};
    QTest::newRow("pipeline parameter") << QStringList{"run", "FILE", "--set", "ra"} << QByteArrayList{"rate="};
    QTest::newRow("value, as bash divides it")
        << QStringList{"run", "FILE", "--set", "train.optimizer", "=", "s"} << QByteArrayList{"sgd"};
    QTest::newRow("switch") << QStringList{"run", "FILE", "--set", "split.stratified="}
                            << QByteArrayList{"true", "false"};
    QTest::newRow("export") << QStringList{"run", "FILE", "--export", "train."}
                            << QByteArrayList{"train.trained_model="};
    QTest::newRow("export to") << QStringList{"run", "FILE", "--export", "train.trained_model=x"}
                               << QByteArrayList{":folders"};
    QTest::newRow("nothing known") << QStringList{"run", "absent", "--set", "tr"} << QByteArrayList{};
}

void TestCommandLineHelp::completes()
{
    QFETCH(QStringList, words);
    QFETCH(QByteArrayList, all);
    words.replaceInStrings(QRegularExpression(QStringLiteral("^FILE$")),
                           displayPath(writeTinyPipeline(folder(), 3, 1)));
    const ProcessOutcome outcome =
        cli(QStringList{"completion", "words", "--at", QString::number(words.size() - 1), "--"} + words);
    QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    QByteArrayList lines = outcome.out.split('\n');
    lines.removeLast();
    QCOMPARE(lines, all);
}

void TestCommandLineHelp::completesInBash()
{
    const QString script =
        QStringLiteral("source <('%1' completion bash); COMP_WORDS=(%2); COMP_CWORD=$((${#COMP_WORDS[@]}"
                       "-1)); _trainwright_cli 2>&1; printf '%s\\n' \"${COMPREPLY[@]}\"");
    const auto asked = [&](const QString &words) { return bash(script.arg(cliProgram(), words)).out; };
    QCOMPARE(asked("trainwright-cli expl"), QByteArray("explain\n"));
    QCOMPARE(asked("trainwright-cli run --exper"), QByteArray("--experiment\n"));
    QCOMPARE(asked(cliProgram() + " describe dens resn"), QByteArray("resnet\n"));
    QVERIFY(QFile(at("one file.json")).open(QIODevice::WriteOnly));
    QCOMPARE(asked(cliProgram() + " run '" + at("one") + '\''), at("one file.json").toUtf8() + '\n');
}

void TestCommandLineHelp::fullOutputIsAFailure_data()
{
    QTest::addColumn<QString>("command");
    QTest::addColumn<int>("exitCode");
    QTest::newRow("full") << "explain --all > /dev/full" << 1;
    QTest::newRow("help") << "--help > /dev/full" << 1;
    QTest::newRow("JSON") << "components --json > /dev/full" << 1;
    QTest::newRow("closed") << "explain --all >&-" << 1;
    QTest::newRow("a usage error stays one") << "explain > /dev/full" << 2;
    QTest::newRow("a reader that has seen enough")
        << "describe --all --json | head -c 1 > /dev/null; exit ${PIPESTATUS[0]}" << 0;
}

void TestCommandLineHelp::fullOutputIsAFailure()
{
    QFETCH(QString, command);
    QFETCH(int, exitCode);
    const ProcessOutcome outcome = bash('\'' + cliProgram() + "' " + command);
    QCOMPARE(outcome.exitCode, exitCode);
    QCOMPARE(outcome.err.contains("FailedToWriteOutputsError: Cannot write 'standard output'"), exitCode == 1);
}

void TestCommandLineHelp::ellipsisIsOneCharacter()
{
    const QByteArray text = cli({"score"}).err;
    QVERIFY2(text.contains("IMAGES…") && !text.contains("â"), text.constData());
}

void TestCommandLineHelp::lookingMakesNothing_data()
{
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("exitCode");
    QTest::newRow("list") << QStringList{"jobs", "list"} << 0;
    QTest::newRow("show") << QStringList{"jobs", "show", "20200101-000000-dead"} << 1;
    QTest::newRow("wait") << QStringList{"jobs", "wait", "20200101-000000-dead"} << 1;
    QTest::newRow("delete") << QStringList{"jobs", "delete", "20200101-000000-dead"} << 1;
    QTest::newRow("logs") << QStringList{"logs", "20200101-000000-dead"} << 1;
}

void TestCommandLineHelp::lookingMakesNothing()
{
    QFETCH(QStringList, words);
    QFETCH(int, exitCode);
    const ProcessOutcome outcome = cli(words + QStringList{"--workspace", at("new")});
    QCOMPARE(outcome.exitCode, exitCode);
    QVERIFY(!QFile::exists(at("new")));
    QCOMPARE(outcome.err.startsWith("InvalidWorkspaceError: "), exitCode == 1);
}

QTEST_GUILESS_MAIN(TestCommandLineHelp)
#include "tst_commandlinehelp.moc"
