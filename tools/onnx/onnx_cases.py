#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tests of the package onnx where our tests find them.

    onnx_cases.py FOLDER        needs: tools/onnx/requirements.txt

Suites: `node`, the operator tests of the standard, of which the package holds no data any more: it
makes models, inputs and outputs when asked; `simple`, `pytorch` and `light` (whole networks) lie in
it as files. Each case becomes a folder: model.onnx, the tensors of its inputs and outputs, and
case.json, which names them and has its tolerances. cases.json lists all cases; a second call finds
it and writes nothing.
Case names do not depend on the machine; inputs of some cases do, where numpy's random numbers
changed. The last line is a hash over all names and models, and one over all tensors.
"""
import argparse
import hashlib
import json
import pathlib
import sys
import warnings

PINNED = "1.23.2"
# The rule of the package for files without a tolerance of their own.
TOLERANCES = {"rtol": 1e-3, "atol": 1e-7}
DRAWING = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
           "RandomUniformLike")


class CaseWriter:
    """One case's folder; `data` is a hash over the tensors of all."""

    def __init__(self, onnx, folder, data):
        self.onnx, self.folder, self.data = onnx, folder, data
        folder.mkdir(parents=True, exist_ok=True)

    def value(self, value, info, stem):
        """Writes a value's tensors; returns what case.json says of it."""
        from onnx import numpy_helper
        if isinstance(value, self.onnx.OptionalProto):
            value = numpy_helper.to_optional(value)
        if isinstance(value, self.onnx.SequenceProto):
            value = numpy_helper.to_list(value)
        if value is None:
            return {"name": info.name, "kind": "absent"}
        if isinstance(value, list):
            items = [self.value(item, info, f"{stem}_item{i}") for i, item in enumerate(value)]
            return {"name": info.name, "kind": "sequence", "items": items}
        if not isinstance(value, self.onnx.TensorProto):
            value = numpy_helper.from_array(value, info.name)
        text = value.SerializeToString()
        self.data.update(text)
        (self.folder / f"{stem}.pb").write_bytes(text)
        return {"name": info.name, "kind": "tensor", "file": f"{stem}.pb"}

    def case(self, model, data_sets, tolerances):
        """Returns a hash over name and model."""
        text = model.SerializeToString()
        (self.folder / "model.onnx").write_bytes(text)
        sets = []
        for number, (inputs, outputs) in enumerate(data_sets):
            entry = {role + "s": [self.value(*pair, f"set{number}_{role}{i}")
                                  for i, pair in enumerate(zip(values, infos, strict=True))]
                     for role, values, infos in (("input", inputs, given_inputs(model)),
                                                 ("output", outputs, model.graph.output))}
            if draws_random_numbers(model, inputs):
                entry["random"] = True
            sets.append(entry)
        (self.folder / "case.json").write_text(
            json.dumps({"name": self.folder.name, **tolerances, "sets": sets}))
        return hashlib.sha256(self.folder.name.encode() + b"\0" + text).digest()


def given_inputs(model):
    """Files of old versions list their weights among the inputs."""
    weights = {tensor.name for tensor in model.graph.initializer}
    return [info for info in model.graph.input if info.name not in weights]


def draws_random_numbers(model, inputs):
    """Whether types and sizes are all that can agree: which numbers, the standard does not say."""
    given = {info.name: value for info, value in zip(given_inputs(model), inputs)}
    for node in model.graph.node:
        if node.op_type in DRAWING:
            return True
        if node.op_type == "Dropout" and len(node.input) == 3:
            ratio, training = given.get(node.input[1], 0.5), given.get(node.input[2], True)
            if training and ratio > 0:
                return True
    return False


def operator_of(onnx_node, name):
    """The operator that a case of suite `node` is of; `…_expanded…` cases are made of another."""
    made = onnx_node._existing_names
    node = made[name] if name in made else made[name[:name.rindex("_expanded")]]
    return ".".join(part for part in (node.domain, node.op_type) if part)


def node_cases(write):
    from onnx.backend.test.case import node as onnx_node
    warnings.simplefilter("ignore", RuntimeWarning)  # of numpy, where a case wants infinity
    for case in onnx_node.collect_testcases():
        write(case.name, "node", operator_of(onnx_node, case.name), case.model, case.data_sets,
              {"rtol": case.rtol, "atol": case.atol})


def read_value(onnx, path, info):
    kind = info.type.WhichOneof("value")
    proto = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto,
             "tensor_type": onnx.TensorProto}[kind]
    return proto.FromString(path.read_bytes())


def file_cases(onnx, write, data, suite, folder):
    for path in sorted((data / folder).iterdir()):
        if not (path / "model.onnx").exists():
            continue
        model = onnx.load(path / "model.onnx")
        own = path / "data.json"
        tolerances = json.loads(own.read_text()) if own.exists() else {}
        sets = []
        for number in sorted(path.glob("test_data_set_*")):
            sets.append([[read_value(onnx, number / f"{role}_{i}.pb", info)
                          for i, info in enumerate(infos)]
                         for role, infos in (("input", given_inputs(model)),
                                             ("output", model.graph.output))])
        write(path.name, suite, f"suite {suite}", model, sets,
              {key: tolerances.get(key, value) for key, value in TOLERANCES.items()})


def light_cases(onnx, write, data):
    """Networks whose weights are one number each; the package has their outputs for this input."""
    import numpy
    for path in sorted((data / "real").glob("*/data.json")):
        spec = json.loads(path.read_text())
        file = data / "light" / pathlib.Path(spec["url"]).name
        model = onnx.load(file)
        inputs = []
        for info in given_inputs(model):
            sizes = [dim.dim_value or 1 for dim in info.type.tensor_type.shape.dim]
            count = numpy.prod(sizes)
            inputs.append((numpy.arange(count).reshape(sizes) / count).astype(numpy.float32))
        outputs = [read_value(onnx, file.with_name(f"{file.stem}_output_{i}.pb"), info)
                   for i, info in enumerate(model.graph.output)]
        write(path.parent.name, "light", "suite light", model, [(inputs, outputs)],
              {key: spec[key] for key in TOLERANCES})


def write_all(onnx, folder):
    data = pathlib.Path(onnx.__file__).parent / "backend/test/data"
    index, models, tensors = {}, [], hashlib.sha256()

    def write(name, suite, operator, model, data_sets, tolerances):
        if name in index:
            sys.exit(f"onnx_cases.py: two cases have the name {name}")
        if not data_sets:
            sys.exit(f"onnx_cases.py: {name} has no data")
        index[name] = {"suite": suite, "operator": operator}
        writer = CaseWriter(onnx, folder / name, tensors)
        models.append((name, writer.case(model, data_sets, tolerances)))
        if sys.stderr.isatty():
            print(f"\r{len(index)}", end="", file=sys.stderr)

    node_cases(write)
    file_cases(onnx, write, data, "simple", "simple")
    file_cases(onnx, write, data, "pytorch", "pytorch-converted")
    file_cases(onnx, write, data, "pytorch", "pytorch-operator")
    light_cases(onnx, write, data)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    total = hashlib.sha256(b"".join(digest for _, digest in sorted(models)))
    return {"onnx": PINNED, "models": total.hexdigest()[:16], "tensors": tensors.hexdigest()[:16],
            "cases": dict(sorted(index.items()))}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    made_by = hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()
    list_file = arguments.folder / "cases.json"
    spec = json.loads(list_file.read_text()) if list_file.exists() else {}
    if spec.get("made_by") != made_by:
        import onnx
        if onnx.__version__ != PINNED:
            sys.exit(f"onnx_cases.py: onnx {onnx.__version__} is installed, {PINNED} is wanted")
        list_file.unlink(missing_ok=True)
        spec = {"made_by": made_by, **write_all(onnx, arguments.folder)}
        list_file.write_text(json.dumps(spec, indent=1))
    print(f"{len(spec['cases'])} cases of onnx {spec['onnx']}, hash of models {spec['models']}, "
          f"of tensors {spec['tensors']}")


if __name__ == "__main__":
    main()
