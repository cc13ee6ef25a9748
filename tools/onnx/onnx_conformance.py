#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases that onnx_cases.py wrote on devices, and says what passes, by operator and device.

    onnx_conformance.py --cases FOLDER --device llvm_cpu [--device vulkan:1 …] [--expected FILE]

A device is a selector of stria, or `onnxruntime`: ONNX Runtime, under the same rules, if the Python
that runs this has it. A case that ends its process or takes longer than --limit is a crash or a
timeout of that case alone: those of its --batch that are left go on in another process.
With --expected each result is compared with a list (expected_results.py has the rules), and the
exit status is 1 if one differs; ONNX Runtime is not judged.
"""
import argparse
import hashlib
import json
import os
import pathlib
import sys
import time

from case_process import Runner, RunnerError
from expected_results import matches, read_expected, unused_devices, wrong_results
from results_table import results_table

PEER = "onnxruntime"
PLUGINS = ("reference", "llvm_cpu", "opencl", "vulkan", "sim")


def sample_of(cases, count):
    """`count` cases in an order that each new case leaves as it is: by a hash of the name, the
    first of each operator before all others. Whole networks take minutes and are left out."""
    order = sorted((name for name in cases if cases[name]["suite"] != "light"),
                   key=lambda name: hashlib.sha256(name.encode()).digest())
    first = {}
    for name in order:
        first.setdefault(cases[name]["operator"], name)
    chosen = list(first.values())
    return sorted([*chosen, *(name for name in order if name not in set(chosen))][:count])


def environment_of(plugin, runner):
    """The build's own plugin and no other, which would be asked for its devices; unless the user
    has some of his own."""
    folder = pathlib.Path(runner).resolve().parents[2] / "lib/stria/plugins"
    own = folder / plugin
    return {"STRIA_PLUGIN_PATH": str(own if own.is_dir() else folder), **os.environ}


def run_device(device, names, arguments):
    """{"name": of the device, "seconds", "results": {case: entry}}"""
    here = pathlib.Path(__file__).resolve().parent
    plugin = device.partition(":")[0]
    command = [arguments.runner, "--device", device]
    if device == PEER:
        command = [sys.executable, str(here / "onnx_runtime_case.py")]
    # What takes longer to begin than most cases take to run has many in a process.
    batch = arguments.batch or (25 if plugin in (PEER, "opencl") else 1)
    results = {}

    def done(entry):
        results[entry["case"]] = entry
        if sys.stderr.isatty():
            print(f"\r{device} {len(results)}/{len(names)} ", end="", file=sys.stderr)
    folders = [arguments.cases / name for name in names]
    begin = time.monotonic()
    runner = Runner(command, environment_of(plugin, arguments.runner), arguments.limit, done)
    runner.run([folders[k:k + batch] for k in range(0, len(folders), batch)], arguments.jobs)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if set(results) != set(names):
        raise RunnerError(f"{device}: no result of {sorted(set(names) - set(results))}")
    return {"name": runner.device_name, "seconds": round(time.monotonic() - begin, 1),
            "results": {name: results[name] for name in names}}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    parser.add_argument("--device", required=True, action="append")
    parser.add_argument("--cases", type=pathlib.Path, required=True)
    parser.add_argument("--runner", default=str(root / "build/release/tests/onnx/onnx_case"))
    parser.add_argument("--suite", default="*", help="node, simple, pytorch or light; with *")
    parser.add_argument("--only", default="*", help="names of cases, with *")
    parser.add_argument("--sample", type=int, help="this many of them, each operator first once")
    parser.add_argument("--limit", type=float, default=120, help="seconds for a case")
    parser.add_argument("--batch", type=int, help="cases of a process")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--expected", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path, help="also write the table here")
    parser.add_argument("--verbose", action="store_true", help="print each case that does not pass")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    spec = json.loads((arguments.cases / "cases.json").read_text())
    cases = {name: case for name, case in spec["cases"].items()
             if matches(arguments.only, name) and matches(arguments.suite, case["suite"])}
    whole = len(cases) == len(spec["cases"]) and not arguments.sample
    names = sample_of(cases, arguments.sample) if arguments.sample else sorted(cases)
    if not names:
        sys.exit(f"onnx_conformance.py: no case is named {arguments.only}, "
                 f"suite {arguments.suite}")
    try:
        entries = read_expected(arguments.expected, spec["cases"]) if arguments.expected else None
        runs = {device: run_device(device, names, arguments) for device in arguments.device}
    except (RunnerError, ValueError) as error:
        sys.exit(f"onnx_conformance.py: {error}")
    table = results_table(spec, runs)
    if arguments.json:
        arguments.json.write_text(json.dumps({**spec, "devices": runs}, indent=1) + "\n")
    if arguments.table:
        arguments.table.write_text(table)
    print(table)
    if arguments.verbose:
        for device, run in runs.items():
            for name, entry in run["results"].items():
                if entry["result"] != "passed":
                    print(f"{device}: {name}: {entry['result']}: {entry.get('reason', '')[:300]}")
    if entries is None:
        return 0
    judged = {device.partition(":")[0]: run for device, run in runs.items() if device != PEER}
    wrong = wrong_results(entries, judged)
    if whole and set(PLUGINS) <= set(judged):
        wrong += unused_devices(entries, judged)
    print("\n".join([*wrong, f"{len(wrong)} results are not as expected"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
