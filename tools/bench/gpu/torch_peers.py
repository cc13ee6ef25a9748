# SPDX-License-Identifier: Apache-2.0
"""Milliseconds of PyTorch's kernels (cuBLAS, cuDNN, TF32 off) for the rows of the sets, as JSON.

  torch_peers.py SETS_FOLDER OUT.json [SET,...]

A row's time is that of one of 20 runs in one CUDA graph, the median of 7 replays, so that no launch is
counted. Convolutions take the better of both layouts. What memory bounds has the time in which the
device copies as many bytes."""
import json
import pathlib
import sys

import torch
import torch.nn.functional as F

RUNS, REPLAYS = 20, 7


def milliseconds(work):
    """Of one run of work(), which keeps what it makes alive for its own time only."""
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    work()
    end.record()
    torch.cuda.synchronize()
    runs = RUNS if begin.elapsed_time(end) < 20 else 1
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(runs):
            work()
    times = []
    for _ in range(REPLAYS):
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / runs)
    return sorted(times)[REPLAYS // 2]


def gemm(row):
    m, n, k = row[:3]
    transposed = len(row) > 5 and row[5]
    a = torch.randn(m, k, device="cuda")
    b = torch.randn(n, k, device="cuda").t() if transposed else torch.randn(k, n, device="cuda")
    out = torch.empty(m, n, device="cuda")
    name = f"{m}x{n}x{k}" + (" transposed" if transposed else "")
    return name, milliseconds(lambda: torch.mm(a, b, out=out))


def conv(row, fused):
    size, channels, kernel, stride, out_channels = row[:5]
    depthwise = len(row) > 6 and row[6]
    name = f"{size}x{size}x{channels} {kernel}x{kernel}/{stride} {out_channels}" + (" depthwise" if depthwise else "")
    groups = channels if depthwise else 1
    best = None
    for layout in (torch.contiguous_format, torch.channels_last):
        image = torch.randn(1, channels, size, size, device="cuda").contiguous(memory_format=layout)
        weights = torch.randn(out_channels, channels // groups, kernel, kernel, device="cuda")
        weights = weights.contiguous(memory_format=layout)
        bias = torch.randn(out_channels, device="cuda") if fused else None
        plain = F.conv2d(image, weights, bias, stride, kernel // 2, 1, groups)
        other = torch.randn_like(plain)

        def work():
            made = F.conv2d(image, weights, bias, stride, kernel // 2, 1, groups)
            return torch.relu_(made.add_(other)) if fused else made

        time = milliseconds(work)
        best = time if best is None else min(best, time)
    return name, best


def copy_seconds_per_byte():
    source = torch.randn(192 << 20, device="cuda")
    target = torch.empty_like(source)
    return milliseconds(lambda: target.copy_(source)) / (8 * source.numel())


def memory(row, per_byte):
    largest = 0
    for sizes in row["inputs"].values():
        elements = 1
        for size in sizes:
            elements *= size
        largest = max(largest, elements)
    return row["name"], 4 * largest * (row["reads"] + row["writes"]) * per_byte


def main():
    folder, out = pathlib.Path(sys.argv[1]), sys.argv[2]
    wanted = sys.argv[3].split(",") if len(sys.argv) > 3 else [""]
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    per_byte = copy_seconds_per_byte()
    times = {"copy_tbytes_per_s": 1e-9 / per_byte}
    for path in sorted(folder.glob("*.json")):
        if not any(path.stem.startswith(name) for name in wanted):
            continue
        file = json.loads(path.read_text())
        for row in file["rows"]:
            if file["kind"] == "gemm":
                name, time = gemm(row)
            elif file["kind"] == "conv":
                name, time = conv(row, file.get("fused", False))
            elif file["kind"] == "memory":
                name, time = memory(row, per_byte)
            else:
                continue
            times[name] = time
    pathlib.Path(out).write_text(json.dumps(times, indent=1) + "\n")


main()
