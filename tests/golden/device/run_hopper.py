#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles gemm_hopper.cu with NVRTC, runs it on a GPU of compute capability 9.0, compares every
output with cuBLAS, and times the two in turns.

    run_hopper.py [FOLDER]      FOLDER has gemm_hopper.cu and gemm_hopper.json (default: this one)

Needs PyTorch with CUDA; NVRTC is that of PyTorch or of the system. Inputs are N(0, 1) in fp16.
"""
import ctypes
import glob
import json
import pathlib
import statistics
import sys

import torch


def nvrtc():
    roots = [str(pathlib.Path(torch.__file__).parent.parent)]
    names = [path for root in roots
             for path in sorted(glob.glob(root + "/**/libnvrtc.so.*", recursive=True))
             if "builtins" not in path] + ["libnvrtc.so.13", "libnvrtc.so.12"]
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    sys.exit("run_hopper.py: no libnvrtc")


def check(status, what):
    if status != 0:
        sys.exit(f"run_hopper.py: {what}: error {status}")


def compile_source(text):
    library = nvrtc()
    program = ctypes.c_void_p()
    check(library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"gemm_hopper.cu", 0,
                                     None, None), "nvrtcCreateProgram")
    options = (ctypes.c_char_p * 2)(b"--gpu-architecture=sm_90a", b"--std=c++17")
    status = library.nvrtcCompileProgram(program, 2, options)
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    if log.value.strip():
        print(log.value.decode())
    check(status, "nvrtcCompileProgram")
    check(library.nvrtcGetCUBINSize(program, ctypes.byref(size)), "nvrtcGetCUBINSize")
    cubin = ctypes.create_string_buffer(size.value)
    check(library.nvrtcGetCUBIN(program, cubin), "nvrtcGetCUBIN")
    return cubin.raw


class Map(ctypes.Structure):
    _fields_ = [("words", ctypes.c_uint64 * 16)]


def tensor_map(cuda, tensor, spec):
    # CUtensorMap is aligned to 64 bytes.
    memory = ctypes.create_string_buffer(128 + 64)
    at = (ctypes.addressof(memory) + 63) // 64 * 64
    sizes = (ctypes.c_uint64 * 2)(*spec["sizes"])
    strides = (ctypes.c_uint64 * 1)(spec["row_bytes"])
    box = (ctypes.c_uint32 * 2)(*spec["box"])
    steps = (ctypes.c_uint32 * 2)(1, 1)
    half, none, swizzle_128, l2_128 = 6, 0, 3, 2
    check(cuda.cuTensorMapEncodeTiled(ctypes.c_void_p(at), half, 2,
                                      ctypes.c_void_p(tensor.data_ptr()), sizes, strides, box,
                                      steps, none, swizzle_128, l2_128, none),
          "cuTensorMapEncodeTiled")
    return memory, at


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    launch = json.loads((folder / "gemm_hopper.json").read_text())
    torch.manual_seed(1)
    sizes = {spec["tensor"]: spec["sizes"] for spec in launch["maps"]}
    k, m = sizes["A"]
    n = sizes["B"][1]
    a = torch.randn(m, k, device="cuda").half()
    b = torch.randn(n, k, device="cuda").half()
    c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.half)
    cubin = compile_source((folder / "gemm_hopper.cu").read_text())
    cuda = ctypes.CDLL("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuModuleLoadData(ctypes.byref(module), cubin), "cuModuleLoadData")
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, launch["name"].encode()),
          "cuModuleGetFunction")
    check(cuda.cuFuncSetAttribute(function, 8, launch["shared_bytes"]), "cuFuncSetAttribute")
    maps = [tensor_map(cuda, {"A": a, "B": b}[spec["tensor"]], spec) for spec in launch["maps"]]
    pointer = ctypes.c_void_p(c.data_ptr())
    arguments = (ctypes.c_void_p * (len(maps) + 1))(*[at for _, at in maps],
                                                     ctypes.addressof(pointer))

    def ours():
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        check(cuda.cuLaunchKernel(function, *launch["grid"], launch["threads"], 1, 1,
                                  launch["shared_bytes"], stream, arguments, None),
              "cuLaunchKernel")

    peer = torch.empty_like(c)

    def theirs():
        torch.matmul(a, b.t(), out=peer)

    ours()
    theirs()
    torch.cuda.synchronize()
    wanted = torch.matmul(a.double(), b.double().t()) if m * n <= 1 << 24 else peer.double()
    # The sum's error in fp32 and one rounding to fp16.
    bound = 2.0 ** -11 * wanted.abs() + (k + 1) * 2.0 ** -24 * torch.matmul(a.abs().float(),
                                                                             b.abs().float().t())
    wrong = ~((c.double() - wanted).abs() <= bound)
    print(f"{m} x {n} x {k}: {int(wrong.sum())} of {m * n} outputs are out of their bounds; "
          f"cuBLAS: {int((~((peer.double() - wanted).abs() <= bound)).sum())}")
    times = {ours: [], theirs: []}
    for _ in range(9):
        for run in (ours, theirs):
            for _ in range(3):
                run()
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            for _ in range(20):
                run()
            end.record()
            end.synchronize()
            times[run].append(begin.elapsed_time(end) / 20)
    mine, other = (statistics.median(times[run]) for run in (ours, theirs))
    flop = 2e-9 * m * n * k
    print(f"{torch.cuda.get_device_name()}: {mine:.4f} ms ({flop / mine:.0f} TFLOP/s), cuBLAS "
          f"{other:.4f} ms ({flop / other:.0f} TFLOP/s): {other / mine:.3f} of cuBLAS")
    return 1 if wrong.any() else 0


if __name__ == "__main__":
    sys.exit(main())
