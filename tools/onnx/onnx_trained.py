#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains small models with scikit-learn, xgboost and lightgbm, and runs them on devices, beside
ONNX Runtime.

    onnx_trained.py [--device llvm_cpu]... [--only 'svc*'] [--build build/release] [--keep FOLDER]

Every output for 64 samples is compared: labels must be the same, numbers within 1e-4 of the largest
of their output. Labels that are text are numbers on a device: each must stand for one text. Run it
with a Python that has the packages of tools/onnx/requirements.txt (tools/onnx/packages.sh) and

    pip install scikit-learn==1.9.1 skl2onnx==1.20.0 onnxmltools==1.16.0 lightgbm==4.7.0 \\
        xgboost==3.2.0
"""
import argparse
import fnmatch
import pathlib
import sys
import tempfile
import time
import warnings

import numpy as np

from onnx_models import OnnxRuntime, Stria, difference
from trained_models import all_models

LIMIT = 1e-4


def columns(value):
    """A list of maps with the same keys as a tensor with a column for each."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return np.array([[row[key] for key in value[0]] for row in value], dtype=np.float32)
    return value


def differs(got, wanted):
    """'' if an output is right."""
    if wanted.dtype == object:
        pairs = set(zip(got.reshape(-1).tolist(), wanted.reshape(-1).tolist()))
        texts = {text for _, text in pairs}
        same = got.shape == wanted.shape and len(pairs) == len(texts) == len(set(
            number for number, _ in pairs))
        return "" if same else "other texts"
    away = difference(got, wanted)
    if wanted.dtype.kind in "iub":
        return f"{int((got != wanted).sum())} labels differ" if away else ""
    return f"{away:.1e}" if away > LIMIT else ""


def compare(path, samples, device, session):
    """What is wrong with a model on a device, and the largest difference."""
    theirs, ours = OnnxRuntime(path), Stria(path, device, session)
    try:
        name = theirs.session.get_inputs()[0].name
        wanted = {key: columns(value) for key, value in theirs.run({name: samples}).items()}
        got = ours.run({name: samples})
        wrong = [f"{key}: {text}" for key in wanted if (text := differs(got[key], wanted[key]))]
        most = max((difference(got[key], value) for key, value in wanted.items()
                    if value.dtype.kind == "f"), default=0.0)
        return wrong, most
    finally:
        ours.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", action="append", help="default: llvm_cpu and reference")
    parser.add_argument("--only", default="*", help="a pattern of names")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the models")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    session = str(arguments.build / "tests/onnx/onnx_session")
    failures = count = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for name, (make, samples) in all_models().items():
            if not fnmatch.fnmatch(name, arguments.only):
                continue
            path = folder / (name.replace(", ", "_").replace(" ", "_") + ".onnx")
            path.write_bytes(make().SerializeToString())
            for device in arguments.device or ["llvm_cpu", "reference"]:
                begin = time.perf_counter()
                try:
                    wrong, most = compare(path, samples, device, session)
                    said = "; ".join(wrong) or f"{most:.1e}"
                except (RuntimeError, OSError, KeyError) as error:
                    wrong, said = [error], str(error)[:500]
                count += 1
                failures += bool(wrong)
                print(f"{device:10} {name:42} {'FAILED' if wrong else 'ok':6} "
                      f"{time.perf_counter() - begin:6.1f} s  {said}", flush=True)
    print(f"{count - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
