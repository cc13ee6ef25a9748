#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs cases that onnx_cases.py wrote on ONNX Runtime's CPU provider.

    onnx_runtime_case.py CASE_FOLDER…       needs: tools/onnx/requirements.txt

Arguments, lines on stdout and the rules of comparison are those of tests/onnx/onnx_case.cc, so that
both stand in one table. A model that no session is made for is `unsupported`: this runtime refuses
newer versions of the file format and of the operators, and types without a kernel.
"""
import argparse
import ctypes
import json
import os
import pathlib

import ml_dtypes  # noqa: F401  gives numpy bf16, fp8 and types of less than a byte
import numpy as np
import onnx
from onnx import numpy_helper

# Without it, it refuses each model of an operator set newer than its release, whatever it can do.
os.environ.setdefault("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0")
import onnxruntime  # noqa: E402

FIRST_TYPE_WITHOUT_NUMPY = onnx.TensorProto.BFLOAT16
COMPLEX = (onnx.TensorProto.COMPLEX64, onnx.TensorProto.COMPLEX128)


def read_tensor(folder, entry):
    return onnx.TensorProto.FromString((folder / entry["file"]).read_bytes())


def read_value(folder, entry):
    """A numpy array, a list of them, or None."""
    if entry["kind"] == "absent":
        return None
    if entry["kind"] == "sequence":
        return [read_value(folder, item) for item in entry["items"]]
    return numpy_helper.to_array(read_tensor(folder, entry))


def elements_of(entry, folder):
    """The element type of an entry of case.json; 0 for what is no tensor."""
    return read_tensor(folder, entry).data_type if entry["kind"] == "tensor" else 0


def ort_value(value, element):
    """The runtime's own tensor; for bf16 and fp8 over the same bytes as integers."""
    if element < FIRST_TYPE_WITHOUT_NUMPY:
        return onnxruntime.OrtValue.ortvalue_from_numpy(value)
    bits = np.ascontiguousarray(value).view(np.uint16 if value.itemsize == 2 else np.uint8)
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(
        bits.reshape(value.shape), element)


def array_of(value):
    if not value.has_value():
        return None
    if not value.is_tensor():
        return value.numpy()
    element = value.element_type()
    if element < FIRST_TYPE_WITHOUT_NUMPY:
        return value.numpy()
    raw = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return numpy_helper.to_array(
        onnx.TensorProto(data_type=element, dims=value.shape(), raw_data=raw))


def in_less_than_a_byte(element):
    return element >= onnx.TensorProto.UINT4 and element not in (onnx.TensorProto.FLOAT8E8M0,)


def difference(got, wanted, entry, case, random):
    """'' if they agree, by the rules of onnx_case.cc."""
    if wanted is None or got is None:
        return "" if wanted is got else "absent" if got is None else "not absent"
    if isinstance(wanted, list):
        if not isinstance(got, list):
            return "no sequence"
        if len(got) != len(wanted):
            return f"{len(got)} items for {len(wanted)}"
        for i, pair in enumerate(zip(got, wanted, entry["items"])):
            if text := difference(*pair, case, random):
                return f"item {i}: {text}"
        return ""
    got = np.asarray(got)
    if got.dtype != wanted.dtype:
        return f"type {got.dtype} for {wanted.dtype}"
    if got.shape != wanted.shape:
        return f"sizes {list(got.shape)} for {list(wanted.shape)}"
    if random:
        return ""
    if wanted.dtype.kind in "fcV" or "float" in wanted.dtype.name:
        wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
        a, b = got.astype(wide), wanted.astype(wide)
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.abs(a - b) <= case["atol"] + case["rtol"] * np.abs(b)
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.isfinite(b) & near)
    else:
        same = got == wanted
    if np.all(same):
        return ""
    at = int(np.argmin(np.asarray(same).reshape(-1)))
    return f"element {at}: {got.reshape(-1)[at]} for {wanted.reshape(-1)[at]}"


def run_set(model, folder, case, data):
    values = {entry["name"]: read_value(folder, entry) for entry in data["inputs"]}
    elements = {entry["name"]: elements_of(entry, folder) for entry in data["inputs"]}
    packed = [name for name, element in elements.items() if in_less_than_a_byte(element)]
    if packed:
        # Its Python interface takes none of these as an input: they become constants of the model.
        given = {entry["name"]: entry for entry in data["inputs"]}
        kept = [info for info in model.graph.input if info.name not in packed]
        del model.graph.input[:]
        model.graph.input.extend(kept)
        for name in packed:
            tensor = read_tensor(folder, given[name])
            tensor.name = name
            model.graph.initializer.append(tensor)
            del values[name]
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(),
                                               providers=["CPUExecutionProvider"])
    except Exception as error:  # each of its kinds of error has a class of its own
        return "unsupported", str(error)
    outputs = [entry["name"] for entry in data["outputs"]]
    plain = not any(element >= FIRST_TYPE_WITHOUT_NUMPY
                    for element in [*(elements[name] for name in values),
                                    *(elements_of(entry, folder) for entry in data["outputs"])])
    try:
        if plain:
            results = session.run(outputs, values)
        else:
            feeds = {name: ort_value(value, elements[name]) for name, value in values.items()}
            results = [array_of(value) for value in session.run_with_ort_values(outputs, feeds)]
    except Exception as error:
        refused = type(error).__name__ == "NotImplemented"
        return "unsupported" if refused else "error", str(error)
    for entry, got in zip(data["outputs"], results, strict=True):
        if text := difference(got, read_value(folder, entry), entry, case, data.get("random")):
            return "failed", f"output '{entry['name']}': {text}"
    return "passed", ""


def run_case(folder):
    case = json.loads((folder / "case.json").read_text())
    result, reason = "error", "no data"
    for data in case["sets"]:
        model = onnx.load(folder / "model.onnx")
        result, reason = run_set(model, folder, case, data)
        if result != "passed":
            break
    return result, reason


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=pathlib.Path, nargs="+", metavar="CASE_FOLDER")
    arguments = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    name = f"ONNX Runtime {onnxruntime.__version__}, CPUExecutionProvider"
    print(json.dumps({"result": "device", "name": name}), flush=True)
    for folder in arguments.folders:
        print(json.dumps({"case": folder.name, "result": "started"}), flush=True)
        result, reason = run_case(folder)
        line = {"case": folder.name, "result": result}
        if reason:
            line["reason"] = reason
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
