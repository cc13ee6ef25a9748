#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What reading ONNX models costs, beside ONNX Runtime.

    onnx_read.py [--build build/bench] [--rounds 9] [--folder FOLDER]

Makes ResNet-50 with its 102 MB of weights, and four layers whose 537 MB of weights stand outside the
model's file. stria reads a model, makes a program of it and lowers that to Stripe; ONNX Runtime makes
a session without optimising. Each time in a process of its own, the two in turns; medians. Run it
with the interpreter of tools/onnx/packages.sh: build/onnx/venv/bin/python.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# (channels inside, channels out, blocks, stride of the first)
STAGES = [(64, 256, 3, 1), (128, 512, 4, 2), (256, 1024, 6, 2), (512, 2048, 3, 2)]
SESSION = """
import re, sys, time, onnxruntime
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
begin = time.perf_counter()
onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
end = time.perf_counter()
print(end - begin, re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
"""


class ResNet50:
    """Convolutions, each with its normalisation, as exporters write them."""

    def __init__(self):
        self.random = np.random.default_rng(1)
        self.nodes, self.weights = [], []

    def weight(self, name, *sizes):
        values = self.random.standard_normal(sizes, dtype=np.float32) * np.float32(0.05)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def node(self, operation, inputs, **attributes):
        name = f"{operation.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, inputs, [name], name=name, **attributes))
        return name

    def convolution(self, x, given, made, size, stride=1, relu=True):
        at = len(self.nodes)
        border = size // 2
        x = self.node("Conv", [x, self.weight(f"w{at}", made, given, size, size)],
                      kernel_shape=[size, size], strides=[stride] * 2, pads=[border] * 4)
        numbers = [self.weight(f"{what}{at}", made) for what in ("scale", "bias", "mean")]
        self.weights.append(numpy_helper.from_array(np.ones(made, np.float32), f"variance{at}"))
        x = self.node("BatchNormalization", [x, *numbers, f"variance{at}"])
        return self.node("Relu", [x]) if relu else x

    def model(self):
        x = self.convolution("image", 3, 64, 7, 2)
        x = self.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
        given = 64
        for inside, made, blocks, first_stride in STAGES:
            for block in range(blocks):
                stride = first_stride if block == 0 else 1
                y = self.convolution(x, given, inside, 1)
                y = self.convolution(y, inside, inside, 3, stride)
                y = self.convolution(y, inside, made, 1, relu=False)
                if block == 0:
                    x = self.convolution(x, given, made, 1, stride, relu=False)
                x = self.node("Relu", [self.node("Add", [y, x])])
                given = made
        x = self.node("Flatten", [self.node("GlobalAveragePool", [x])])
        x = self.node("Gemm", [x, self.weight("classes", 1000, 2048), self.weight("shift", 1000)],
                      transB=1)
        return model_of(self.nodes, self.weights, ("image", [1, 3, 224, 224]), (x, [1, 1000]))


def model_of(nodes, weights, given, made):
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
              for name, sizes in (given, made)]
    graph = helper.make_graph(nodes, "bench", values[:1], values[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def four_layers():
    random = np.random.default_rng(2)
    nodes, weights = [], []
    for k in range(4):
        sizes = (8192, 4096) if k % 2 == 0 else (4096, 8192)
        weights.append(numpy_helper.from_array(random.standard_normal(sizes, np.float32), f"w{k}"))
        nodes.append(helper.make_node("MatMul", [f"x{k}", f"w{k}"], [f"x{k + 1}"]))
    return model_of(nodes, weights, ("x0", [1, 8192]), ("x4", [1, 8192]))


def made_models(folder):
    resnet, layers = folder / "resnet50.onnx", folder / "layers.onnx"
    onnx.save(ResNet50().model(), resnet)
    onnx.save(four_layers(), layers, save_as_external_data=True, location="layers.weights",
              size_threshold=1024)
    return [resnet, layers]


def numbers_of(*command):
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"{command[0]} ended with {ended.returncode}:\n{ended.stderr}")
    return [float(word) for word in ended.stdout.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default="build/bench")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", type=pathlib.Path, help="to keep the models in (700 MB)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.folder or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{'model':<16}{'read':>9}{'program':>9}{'lower':>9}{'all, ms':>9}{'worst':>8}"
              f"{'kernels':>9}{'peak, MB':>10}{'own, MB':>14}{'ORT, ms':>10}{'peak, MB':>10}")
        for path in made_models(folder):
            ours, theirs = [], []
            for _ in range(args.rounds):
                ours.append(numbers_of(args.build / "bin" / "stria_onnx_read_bench", path))
                theirs.append(numbers_of(sys.executable, "-c", SESSION, path))
            ms = [1000 * statistics.median(row[k] for row in ours) for k in range(3)]
            whole = [1000 * sum(row[:3]) for row in ours]
            median = lambda rows, k: statistics.median(row[k] for row in rows)
            print(f"{path.stem:<16}{ms[0]:>9.1f}{ms[1]:>9.1f}{ms[2]:>9.1f}"
                  f"{statistics.median(whole):>9.1f}{max(whole):>8.1f}{ours[0][3]:>9.0f}"
                  f"{median(ours, 4) * 1.024e-3:>10.0f}{median(ours, 5) * 1.024e-3:>14.0f}"
                  f"{1000 * median(theirs, 0):>10.0f}{median(theirs, 1) * 1.024e-3:>10.0f}",
                  flush=True)


if __name__ == "__main__":
    main()
