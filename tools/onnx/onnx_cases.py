#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the operator tests of the ONNX standard where our tests find them.

    onnx_cases.py FOLDER        needs: pip install onnx==1.23.2 (with numpy, ml_dtypes, pillow)

The package holds no data of them any more: it makes models, inputs and outputs when asked. Each
case becomes a folder: model.onnx, the tensors of its inputs and outputs, and case.json, which names them
and has its tolerances.
Case names do not depend on the machine; inputs of some cases do, where numpy's random numbers
changed. The last line is a hash over all names and models.
"""
import argparse
import hashlib
import json
import pathlib
import sys

PINNED = "1.23.2"


def write_value(onnx, value, info, folder, stem):
    """Writes a value's tensors; returns what case.json says of it."""
    from onnx import numpy_helper
    if isinstance(value, onnx.OptionalProto):
        value = numpy_helper.to_optional(value)
    if isinstance(value, onnx.SequenceProto):
        value = numpy_helper.to_list(value)
    if value is None:
        return {"name": info.name, "kind": "absent"}
    if isinstance(value, list):
        items = [write_value(onnx, item, info, folder, f"{stem}_item{i}")
                 for i, item in enumerate(value)]
        return {"name": info.name, "kind": "sequence", "items": items}
    if not isinstance(value, onnx.TensorProto):
        value = numpy_helper.from_array(value, info.name)
    (folder / f"{stem}.pb").write_bytes(value.SerializeToString())
    return {"name": info.name, "kind": "tensor", "file": f"{stem}.pb"}


def write_case(onnx, case, folder):
    folder.mkdir(parents=True, exist_ok=True)
    model = case.model.SerializeToString()
    (folder / "model.onnx").write_bytes(model)
    sets = []
    for number, (inputs, outputs) in enumerate(case.data_sets):
        stem = f"set{number}"
        sets.append({role + "s": [write_value(onnx, value, info, folder, f"{stem}_{role}{i}")
                                  for i, (value, info) in enumerate(zip(values, infos))]
                     for role, values, infos in (("input", inputs, case.model.graph.input),
                                                 ("output", outputs, case.model.graph.output))})
    (folder / "case.json").write_text(json.dumps(
        {"name": case.name, "rtol": case.rtol, "atol": case.atol, "sets": sets}))
    return hashlib.sha256(case.name.encode() + b"\0" + model).digest()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    import onnx
    from onnx.backend.test.case.node import collect_testcases
    if onnx.__version__ != PINNED:
        sys.exit(f"onnx_cases.py: onnx {onnx.__version__} is installed, {PINNED} is wanted")
    total = hashlib.sha256()
    cases = sorted(collect_testcases(), key=lambda case: case.name)
    for number, case in enumerate(cases):
        if sys.stderr.isatty():
            print(f"\r{number + 1}/{len(cases)}", end="", file=sys.stderr)
        total.update(write_case(onnx, case, arguments.folder / case.name))
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(f"{len(cases)} cases of onnx {PINNED}, hash {total.hexdigest()[:16]}")


if __name__ == "__main__":
    main()
