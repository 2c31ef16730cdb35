// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/weightsfile.h"
#include "tests/core/model/weightshelpers.h"
#include "tests/support/testsupport.h"

#include <QTemporaryDir>
#include <QTest>

using namespace tw;

/// Our files in front of Debian's PyTorch, and of that of the Python that TRAINWRIGHT_NEWER_PYTHON names.
class ModelInteropTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void torchvisionLoadsOurFileStrictly();
    void typesAndShapes();
    void safetensorsAsThePublishedFormatReads();
    void bfloat16Network();

private:
    void runScript(const QByteArray &script, const QStringList &arguments);
    QString path(const char *name) const { return m_dir.filePath(QString::fromLatin1(name)); }
    QTemporaryDir m_dir;
    QStringList m_pythons;
};

void ModelInteropTest::initTestCase()
{
    const QString newer = qEnvironmentVariable("TRAINWRIGHT_NEWER_PYTHON");
    for (const QString &python : {QStringLiteral("/usr/bin/python3"), newer})
        if (!python.isEmpty() && test::runProcess(python, {"-c", "import torch, torchvision"}).exitCode == 0)
            m_pythons.append(python);
    QVERIFY2(newer.isEmpty() || m_pythons.contains(newer), "TRAINWRIGHT_NEWER_PYTHON has no torch and torchvision");
    if (m_pythons.isEmpty())
        QSKIP("python3-torch and python3-torchvision: not found");
}

void ModelInteropTest::runScript(const QByteArray &script, const QStringList &arguments)
{
    for (const QString &python : std::as_const(m_pythons)) {
        const auto outcome = test::runProcess(python, QStringList{"-"} + arguments, 110000, script);
        QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
    }
}

/// A file of torch.save is read, written by us in both formats, and loaded by Python again; two
/// training steps first, so that no tensor has its first value.
void ModelInteropTest::torchvisionLoadsOurFileStrictly()
{
    runScript(R"(
import sys, torch, torchvision
torch.manual_seed(3)
m = torchvision.models.resnet18(num_classes=7)
o = torch.optim.SGD(m.parameters(), lr=0.05)
for _ in range(2):
    o.zero_grad()
    torch.nn.functional.cross_entropy(m(torch.randn(4, 3, 64, 64)), torch.arange(4)).backward()
    o.step()
torch.save(m.state_dict(), sys.argv[1])
)",
              {path("theirs.pth")});
    if (QTest::currentTestFailed())
        return;
    const auto weights = readWeights(path("theirs.pth").toStdString());
    TW_VERIFY(weights);
    QCOMPARE(weights->size(), 122u);
    TW_VERIFY(writePth(path("ours.pth").toStdString(), *weights));
    runScript(R"(
import sys, torch, torchvision, zipfile
assert zipfile.ZipFile(sys.argv[2]).testzip() is None
a = torch.load(sys.argv[1], map_location="cpu")
b = torch.load(sys.argv[2], map_location="cpu", weights_only=True)
assert list(a) == list(b) and all(torch.equal(a[k], b[k]) and a[k].dtype == b[k].dtype for k in a)
m = torchvision.models.resnet18(num_classes=7)
print(m.load_state_dict(b, strict=True))
)",
              {path("theirs.pth"), path("ours.pth")});
}

static StateDict manyTypes()
{
    using test::tensor;
    return {tensor<float>("f32", ElementType::F32, {2, 1, 2}, {1, 2, 3, -4.5f}),
            tensor<std::int64_t>("scalar", ElementType::I64, {}, {9}),
            tensor<std::uint16_t>("half", ElementType::F16, {1}, {0x3C00}),
            tensor<std::uint16_t>("bf16", ElementType::BF16, {2}, {0x3F80, 0xC040}),
            tensor<float>("none", ElementType::F32, {0, 4}, {}),
            tensor<double>("f64", ElementType::F64, {1}, {0.1}),
            tensor<std::uint8_t>("层 flags", ElementType::Bool, {2}, {1, 0}),
            tensor<std::int16_t>("i16", ElementType::I16, {1}, {-300}),
            tensor<std::int8_t>("i8", ElementType::I8, {300}, std::vector<std::int8_t>(300, -3))};
}

void ModelInteropTest::typesAndShapes()
{
    TW_VERIFY(writePth(path("types.pth").toStdString(), manyTypes()));
    runScript(R"(
import sys, torch
s = torch.load(sys.argv[1], weights_only=True)
assert list(s) == ["f32", "scalar", "half", "bf16", "none", "f64", "\u5c42 flags", "i16", "i8"], list(s)
assert s["f32"].tolist() == [[[1, 2]], [[3, -4.5]]] and s["f32"].is_contiguous()
assert s["scalar"].shape == () and s["scalar"].item() == 9 and s["scalar"].dtype == torch.int64
assert s["half"].dtype == torch.float16 and s["half"].tolist() == [1]
assert s["bf16"].dtype == torch.bfloat16 and s["bf16"].tolist() == [1, -3]
assert s["none"].shape == (0, 4)
assert s["f64"].dtype == torch.float64 and s["f64"].item() == 0.1
assert s["\u5c42 flags"].tolist() == [True, False]
assert s["i16"].tolist() == [-300] and s["i16"].dtype == torch.int16
assert s["i8"].shape == (300,) and s["i8"].sum() == -900
)",
              {path("types.pth")});
}

void ModelInteropTest::safetensorsAsThePublishedFormatReads()
{
    TW_VERIFY(writeSafetensors(path("types.safetensors").toStdString(), manyTypes()));
    runScript(R"(
import json, struct, sys, torch
data = open(sys.argv[1], "rb").read()
n = struct.unpack("<Q", data[:8])[0]
assert n % 8 == 0
header = json.loads(data[8:8 + n])
assert header.pop("__metadata__") == {"format": "pt"}
body = data[8 + n:]
size = {"F32": 4, "F64": 8, "F16": 2, "BF16": 2, "I64": 8, "I16": 2, "I8": 1, "BOOL": 1}
end = 0
for name, t in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
    begin, stop = t["data_offsets"]
    count = 1
    for edge in t["shape"]:
        count *= edge
    assert begin == end and stop - begin == count * size[t["dtype"]] and begin % size[t["dtype"]] == 0, name
    end = stop
assert end == len(body)
at = header["f32"]["data_offsets"]
assert struct.unpack("<4f", body[at[0]:at[1]]) == (1, 2, 3, -4.5)
at = header["scalar"]["data_offsets"]
assert struct.unpack("<q", body[at[0]:at[1]]) == (9,) and header["scalar"]["shape"] == []
at = header["bf16"]["data_offsets"]
assert torch.frombuffer(bytearray(body[at[0]:at[1]]), dtype=torch.bfloat16).tolist() == [1, -3]
try:
    from safetensors.torch import load_file
except ImportError:
    sys.exit()
s = load_file(sys.argv[1])
assert s["bf16"].dtype == torch.bfloat16 and s["bf16"].tolist() == [1, -3] and s["none"].shape == (0, 4)
assert s["\u5c42 flags"].tolist() == [True, False] and s["f64"].item() == 0.1
)",
              {path("types.safetensors")});
}

/// Weights of 16 bits go through both formats as they are.
void ModelInteropTest::bfloat16Network()
{
    runScript(R"(
import sys, torch, torchvision
torch.manual_seed(4)
m = torchvision.models.resnet18(num_classes=3)
m(torch.randn(2, 3, 64, 64))
torch.save(m.bfloat16().state_dict(), sys.argv[1])
)",
              {path("bf16.pth")});
    if (QTest::currentTestFailed())
        return;
    const auto weights = readWeights(path("bf16.pth").toStdString());
    TW_VERIFY(weights);
    TW_VERIFY(writeSafetensors(path("bf16.safetensors").toStdString(), *weights));
    const auto second = readWeights(path("bf16.safetensors").toStdString());
    TW_VERIFY(second);
    TW_VERIFY(writePth(path("bf16-again.pth").toStdString(), *second));
    runScript(R"(
import sys, torch, torchvision
a = torch.load(sys.argv[1], map_location="cpu")
b = torch.load(sys.argv[2], map_location="cpu", weights_only=True)
assert list(a) == list(b) and a["fc.weight"].dtype == torch.bfloat16 and a["bn1.num_batches_tracked"].item() == 1
assert all(torch.equal(a[k], b[k]) and a[k].dtype == b[k].dtype for k in a)
torchvision.models.resnet18(num_classes=3).bfloat16().load_state_dict(b, strict=True)
)",
              {path("bf16.pth"), path("bf16-again.pth")});
}

QTEST_GUILESS_MAIN(ModelInteropTest)
#include "tst_modelinterop.moc"
