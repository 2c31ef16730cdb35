#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes weights_samples.inc: small weights files of every kind that torch.save has written, with what is in
them. Needs Debian 12's python3-torch and python3-numpy; torch.load must read each file as it stands here.

    tests/data/make_weights_samples.py > tests/data/weights_samples.inc
"""
import argparse
import base64
import collections
import io
import pickle
import struct
import tarfile
import tempfile
import zlib

import numpy
import torch

torch.set_num_threads(1)
MAGIC = 0x1950A86A20F9469CFC6C
NAMES = {torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
         torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL"}
CLASSES = {torch.float32: "FloatStorage", torch.int64: "LongStorage", torch.float16: "HalfStorage"}


def numbers(*shape, start=0):
    count = int(numpy.prod(shape)) if shape else 1
    return (torch.arange(start, start + count, dtype=torch.float32) / 4 - 3).reshape(shape)


def net():
    return collections.OrderedDict([("conv.weight", numbers(2, 1, 3)), ("bn.weight", numbers(3, start=7)),
                                    ("bn.num_batches_tracked", torch.tensor(-12345678901))])


def every_type():
    weights = collections.OrderedDict()
    for dtype, name in NAMES.items():
        weights["t." + name] = torch.tensor([[0, 1, 5], [7, 3, 1]]).to(dtype)
    base = numbers(4, 6)
    weights["turned"] = base.t()
    weights["column"] = base[:, 1::2]
    weights["row"] = base[2]
    weights["spread"] = base[0, :2].reshape(2, 1).expand(2, 3)
    weights["scalar"] = torch.tensor(2.5)
    weights["none"] = torch.zeros(0, 4)
    weights["parameter"] = torch.nn.Parameter(numbers(2))
    weights._metadata = collections.OrderedDict([("", {"version": 1})])
    return weights


def saved(value, **options):
    out = io.BytesIO()
    torch.save(value, out, **options)
    return out.getvalue()


class Python2:
    """Opcodes as cPickle of Python 2 chose them: byte strings, long numbers as text, OrderedDict from pairs."""

    def __init__(self):
        self.out = b"\x80\x02"

    def text(self, value):
        self.out += b"U" + bytes([len(value)]) + value.encode()

    def number(self, value):
        self.out += (b"K" + bytes([value]) if 0 <= value < 256 else b"M" + struct.pack("<H", value) if value < 65536
                     else b"I%d\n" % value)

    def name(self, module, word):
        self.out += ("c%s\n%s\n" % (module, word)).encode()

    def tuple(self, *parts):
        self.out += b"("
        for part in parts:
            part()
        self.out += b"t"

    def sizes(self, values):
        self.tuple(*[lambda v=v: self.number(v) for v in values])

    def ordered(self, pairs):
        self.name("collections", "OrderedDict")
        self.out += b"]("
        for key, value in pairs:
            self.out += b"]("
            self.text(key)
            value()
            self.out += b"e"
        self.out += b"e\x85R"

    def done(self):
        return self.out + b"."


def python2_legacy():
    """0.1.10 to 0.3: _rebuild_tensor of four arguments, and storages that are part of another."""
    whole, other = numbers(10), torch.tensor([3, -4])
    p = Python2()

    def storage(kind, key, numel, part):
        def make():
            p.tuple(lambda: p.text("storage"), lambda: p.name("torch", kind), lambda: p.text(key),
                    lambda: p.text("cpu"), lambda: p.number(numel), part)
            p.out += b"Q"
        return make

    def tensor(stored, offset, size, stride):
        def make():
            p.name("torch._utils", "_rebuild_tensor")
            p.tuple(stored, lambda: p.number(offset), lambda: p.sizes(size), lambda: p.sizes(stride))
            p.out += b"R"
        return make

    def none():
        p.out += b"N"

    def part():
        p.tuple(lambda: p.text("94023984002"), lambda: p.number(4), lambda: p.number(6))

    p.ordered([("a", tensor(storage("FloatStorage", "94023984001", 10, none), 1, (2, 3), (4, 1))),
               ("b", tensor(storage("FloatStorage", "94023984001", 10, part), 1, (5,), (1,))),
               ("c", tensor(storage("LongStorage", "94023984003", 2, none), 0, (2,), (1,)))])
    info = pickle.dumps(dict(protocol_version=1001, little_endian=True, type_sizes=dict(short=2, int=4, long=8)), 2)
    out = pickle.dumps(MAGIC, 2) + pickle.dumps(1001, 2) + info + p.done()
    out += pickle.dumps(["94023984001", "94023984003"], 2)
    out += struct.pack("<q", 10) + whole.numpy().tobytes() + struct.pack("<q", 2) + other.numpy().tobytes()
    return out


def tar_era():
    """Before 0.1.10. Keys are addresses of the writing program."""
    whole, halves, counter = numbers(12), numbers(3).half(), torch.tensor([77])

    def member(tar, name, data):
        header = tarfile.TarInfo(name)
        header.size = len(data)
        header.mtime = 1486000000.25  # a fraction makes a pax header
        tar.addfile(header, io.BytesIO(data))

    dump = lambda value: pickle.dumps(value, 2)
    storages = dump(3)
    for key, tensor in ((140001, whole), (140002, halves), (140003, counter)):
        storages += dump((key, "cpu", getattr(torch, CLASSES[tensor.dtype])))
        storages += struct.pack("<q", tensor.numel()) + tensor.numpy().tobytes()
    storages += dump([(140004, 140001, 6, 6)])
    tensors = dump(4)
    for key, storage, kind, size, stride, offset in (
            (150001, 140001, "FloatTensor", (2, 3), (6, 2), 1), (150002, 140004, "FloatTensor", (4,), (1,), 2),
            (150003, 140002, "HalfTensor", (3,), (1,), 0), (150004, 140003, "LongTensor", (1,), (1,), 0)):
        tensors += dump((key, storage, getattr(torch, kind))) + struct.pack("<i", len(size)) + b"\0\0\0\0"
        tensors += struct.pack("<%dq" % len(size), *size) + struct.pack("<%dq" % len(stride), *stride)
        tensors += struct.pack("<q", offset)
    p = Python2()

    def reference(key):
        def make():
            p.text(str(key))
            p.out += b"Q"
        return make

    p.ordered([("conv", reference(150001)), ("part", reference(150002)), ("half", reference(150003)),
               ("steps", reference(150004))])
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:", format=tarfile.PAX_FORMAT) as tar:
        member(tar, "sys_info", dump(dict(protocol_version=1000, little_endian=True,
                                          type_sizes=dict(short=2, int=4, long=8))))
        member(tar, "pickle", p.done())
        member(tar, "tensors", tensors)
        member(tar, "storages", storages)
    return out.getvalue()


def other_byte_order(legacy):
    """The machine's byte order in sys_info: torch.load does not look at it, storages are little-endian on all."""
    return legacy.replace(b"little_endianq\x02\x88", b"little_endianq\x02\x89")


def adam():
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    return optimizer.state_dict()


def prefixed(prefix, weights):
    return collections.OrderedDict((prefix + name, value) for name, value in weights.items())


def ema():
    return collections.OrderedDict((name, value + 1) for name, value in net().items())


def averaged():
    return collections.OrderedDict([("n_averaged", torch.tensor(9))] + list(prefixed("module.", ema()).items()))


class Attributed:
    """A tensor with an attribute of its own, as PyTorch 2 pickles it."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __reduce__(self):
        parts = (self.tensor.storage(), 0, tuple(self.tensor.size()), self.tensor.stride(), False,
                 collections.OrderedDict())
        return torch._tensor._rebuild_from_type_v2, (torch._utils._rebuild_tensor_v2, torch.Tensor, parts,
                                                     {"note": "kept with the tensor"})


def samples():
    namespace = argparse.Namespace(lr=0.1, path="x", tags={"a", "b"}, betas=(0.9, 0.999))
    counts = collections.defaultdict(list)
    counts["seen"].append(3)
    yield "legacy", saved(every_type(), _use_new_zipfile_serialization=False), every_type(), "", []
    yield "legacy of Python 2", python2_legacy(), None, "", []
    legacy = saved(net(), _use_new_zipfile_serialization=False)
    assert other_byte_order(legacy) != legacy
    yield "legacy, other byte order", other_byte_order(legacy), net(), "", []
    yield ("legacy checkpoint", saved({"net": net(), "optimizer": adam(), "epoch": 3, "acc": 0.5},
                                      _use_new_zipfile_serialization=False), net(), "net", ["optimizer", "epoch", "acc"])
    yield "tar", tar_era(), None, "", []
    yield "zip", saved(every_type()), every_type(), "", []
    yield "model", saved({"model": net(), "lr_scheduler": {"_step_count": 1}, "args": namespace}), net(), "model", \
        ["lr_scheduler", "args"]
    yield "data beside", saved({"state_dict": net(), "best": numpy.float64(0.25), "counts": counts,
                                "seed": 1 << 100, "array": numpy.arange(3)}), net(), "state_dict", \
        ["best", "counts", "seed", "array"]
    yield "random state beside", saved({"rng_state": torch.arange(8, dtype=torch.uint8),
                                        "model_state_dict": net()}), net(), "model_state_dict", ["rng_state"]
    yield "one in another", saved({"model": {"state_dict": net(), "arch": "x"}, "epoch": 1}), net(), \
        "model/state_dict", ["epoch", "arch"]
    yield "EMA beside", saved({"state_dict": net(), "state_dict_ema": ema()}), net(), "state_dict", ["state_dict_ema"]
    yield "EMA first", saved({"ema": {"module": ema()}, "model": net()}), net(), "model", ["ema"]
    yield "EMA only", saved({"model_ema": averaged(), "epoch": 2}), prefixed("module.", ema()), "model_ema", \
        ["epoch", "n_averaged"]
    yield "EMA only, nested", saved({"ema": {"module": ema()}}), ema(), "ema/module", []
    yield "attribute", saved({"w": Attributed(numbers(2, 2))}), {"w": numbers(2, 2)}, "", []


def listing(weights):
    lines = []
    for name, tensor in weights.items():
        flat = tensor.detach().reshape(-1).to(torch.float64)
        first, last = (repr(float(flat[0])), repr(float(flat[-1]))) if flat.numel() else ("null", "null")
        lines.append("%s %s %s %r %s %s" % (name, ",".join(str(s) for s in tensor.shape) or "-",
                                            NAMES[tensor.dtype], float(flat.sum()), first, last))
    return lines


def loaded(data):
    with tempfile.NamedTemporaryFile() as file:  # the tar-era reader wants a real file
        file.write(data)
        file.flush()
        return torch.load(file.name)


def at(value, under):
    for key in under.split("/") if under else []:
        value = value[key]
    return value


def packed(data):
    """As qUncompress() reads it, in base64."""
    return base64.b64encode(struct.pack(">I", len(data)) + zlib.compress(data, 9)).decode()


def literal(text, width=100):
    return "\n".join('     "%s"' % text[i:i + width] for i in range(0, len(text), width))


print("// SPDX-License-Identifier: GPL-3.0-or-later")
print("// Made by make_weights_samples.py with PyTorch %s. {name, file (qCompress, base64), tensors, weights under, beside}."
      % torch.__version__)
print("// A tensor: name, shape, type, sum, first and last element.")
for name, data, weights, under, beside in samples():
    theirs = {k: v for k, v in at(loaded(data), under).items() if k != "n_averaged"}
    lines = listing(theirs)
    assert weights is None or lines == listing(weights), name
    print('    {"%s",\n%s,\n%s,\n     "%s", "%s"},' % (name, literal(packed(data)), literal("|".join(lines)),
                                                  under, " ".join(beside)))
