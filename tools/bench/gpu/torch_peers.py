# SPDX-License-Identifier: Apache-2.0
"""Milliseconds of PyTorch's kernels (cuBLAS, cuDNN, TF32 and sums in fp16 off) for the rows of the sets, as JSON.

  torch_peers.py SETS_FOLDER OUT.json [SET,...]

Of a row two times: graph_ms, of one of 20 runs in one CUDA graph, so that no launch is counted, and stream_ms, of one
of 20 runs that a program starts one after the other; each the median of 7. Convolutions take the better of both
layouts. What memory bounds has the time in which the device copies as many bytes."""
import json
import pathlib
import statistics
import sys

import torch
import torch.nn.functional as F

RUNS, REPLAYS = 20, 7


def milliseconds(work):
    """Of one run of work(), which keeps what it makes alive for its own time only: in a graph, in a stream."""
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def time(start):
        begin.record()
        start()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end)

    runs = RUNS if time(work) < 20 else 1

    def all_runs():
        for _ in range(runs):
            work()

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        all_runs()
    return {
        "graph_ms": statistics.median(time(graph.replay) for _ in range(REPLAYS)) / runs,
        "stream_ms": statistics.median(time(all_runs) for _ in range(REPLAYS)) / runs,
    }


def gemm(row, dtype):
    m, n, k = row[:3]
    transposed = len(row) > 5 and row[5]
    kind = {"device": "cuda", "dtype": {"fp32": torch.float32, "fp16": torch.float16}[dtype]}
    a = torch.randn(m, k, **kind)
    b = torch.randn(n, k, **kind).t() if transposed else torch.randn(k, n, **kind)
    out = torch.empty(m, n, **kind)
    name = f"{m}x{n}x{k}" + (" transposed" if transposed else "") + ("" if dtype == "fp32" else f" {dtype}")
    return name, milliseconds(lambda: torch.mm(a, b, out=out))


def conv(row, fused, relu, batch):
    size, channels, kernel, stride, out_channels = row[:5]
    depthwise = len(row) > 6 and row[6]
    name = f"{size}x{size}x{channels} {kernel}x{kernel}/{stride} {out_channels}" + (" depthwise" if depthwise else "")
    if batch != 1:
        name = f"{batch} of {name}"
    groups = channels if depthwise else 1
    best = None
    for layout in (torch.contiguous_format, torch.channels_last):
        image = torch.randn(batch, channels, size, size, device="cuda").contiguous(memory_format=layout)
        weights = torch.randn(out_channels, channels // groups, kernel, kernel, device="cuda")
        weights = weights.contiguous(memory_format=layout)
        bias = torch.randn(out_channels, device="cuda") if fused else None
        plain = F.conv2d(image, weights, bias, stride, kernel // 2, 1, groups)
        other = torch.randn_like(plain)

        def work():
            made = F.conv2d(image, weights, bias, stride, kernel // 2, 1, groups)
            if fused:
                made.add_(other)
            return torch.relu_(made) if fused or relu else made

        times = milliseconds(work)
        best = times if best is None else {key: min(best[key], times[key]) for key in times}
    return name, best


def copy_seconds_per_byte():
    source = torch.randn(192 << 20, device="cuda")
    target = torch.empty_like(source)
    return milliseconds(lambda: target.copy_(source))["graph_ms"] / (8 * source.numel())


def memory(row, per_byte):
    largest = 0
    for sizes in row["inputs"].values():
        elements = 1
        for size in sizes:
            elements *= size
        largest = max(largest, elements)
    return row["name"], {"graph_ms": 4 * largest * (row["reads"] + row["writes"]) * per_byte}


def main():
    folder, out = pathlib.Path(sys.argv[1]), sys.argv[2]
    wanted = sys.argv[3].split(",") if len(sys.argv) > 3 else [""]
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cudnn.benchmark = True
    per_byte = copy_seconds_per_byte()
    rows = {}
    for path in sorted(folder.glob("*.json")):
        if not any(path.stem.startswith(name) for name in wanted):
            continue
        file = json.loads(path.read_text())
        for row in file["rows"]:
            if file["kind"] == "gemm":
                name, times = gemm(row, file.get("type", "fp32"))
            elif file["kind"] == "conv":
                name, times = conv(row, file.get("fused", False), file.get("relu", False), file.get("batch", 1))
            elif file["kind"] == "memory":
                name, times = memory(row, per_byte)
            else:
                continue
            rows[name] = times
    pathlib.Path(out).write_text(json.dumps({"copy_tbytes_per_s": 1e-9 / per_byte, "rows": rows}, indent=1) + "\n")


main()
