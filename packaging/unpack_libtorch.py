#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unpacks headers and libraries of PyPI's torch wheel and of its CUDA companions into one LibTorch folder.

OUT/include, OUT/lib and, in the full set, OUT/cuda-include with the headers of CUDA, cuDNN and NCCL.
The small set leaves out everything that only a GPU uses; the folder is complete only once the caller
has written its stamp. Uses nothing but the standard library.
"""
import argparse
import pathlib
import shutil
import sys
import zipfile

SMALL_LIBS = {"libc10.so", "libtorch_cpu.so", "libgomp.so.1", "libcudart.so.13", "libcupti.so.13"}
SKIPPED_LIBS = {"libtorch_python.so", "libshm.so", "libtorch_global_deps.so"}


def wheel_name(requirement: str) -> str:
    return requirement.split("==")[0].strip().replace("-", "_")


def wheels(downloads: pathlib.Path, requirements: pathlib.Path):
    for line in requirements.read_text().splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        name, version = wheel_name(line), line.split("==")[1].split()[0]
        found = sorted(downloads.glob(f"{name}-{version}-*.whl"))
        if not found:
            sys.exit(f"unpack_libtorch: no wheel of {name} {version} in {downloads}")
        yield name, found[0]


def destination(name: str, member: str, small: bool):
    """Where a member of a wheel goes below OUT, or None when it is not needed."""
    parts = pathlib.PurePosixPath(member).parts
    if name == "torch" and parts[:2] == ("torch", "include"):
        return pathlib.PurePosixPath("include", *parts[2:])
    if not small and parts[0] == "nvidia" and "include" in parts[:-1]:
        return pathlib.PurePosixPath("cuda-include", *parts[parts.index("include") + 1:])
    file = parts[-1]
    if ".so" not in file or file in SKIPPED_LIBS or "lib" not in parts[:-1]:
        return None
    if small and file not in SMALL_LIBS:
        return None
    return pathlib.PurePosixPath("lib", file)


def unpack(wheel: pathlib.Path, name: str, out: pathlib.Path, small: bool) -> int:
    count = 0
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            target = None if info.is_dir() else destination(name, info.filename, small)
            if target is None:
                continue
            path = out / target
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(info) as source, open(path, "wb") as file:
                shutil.copyfileobj(source, file, 1 << 20)
            count += 1
    return count


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--downloads", type=pathlib.Path, required=True)
    parser.add_argument("--requirements", type=pathlib.Path, required=True)
    parser.add_argument("--set", choices=["small", "full"], required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    shutil.rmtree(args.out, ignore_errors=True)
    for name, wheel in wheels(args.downloads, args.requirements):
        if unpack(wheel, name, args.out, args.set == "small") == 0:
            sys.exit(f"unpack_libtorch: {wheel.name} holds none of the expected files")


if __name__ == "__main__":
    main()
