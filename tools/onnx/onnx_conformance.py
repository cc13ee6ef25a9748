#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the operator tests that onnx_cases.py wrote on a device, and says how many pass.

    onnx_conformance.py --device reference --cases FOLDER [--only test_conv*] [--jobs 2] [--json OUT]

A case that ends the process, or takes longer than --limit, is a crash or a timeout of that case
alone: the others go on in a new process.
"""
import argparse
import collections
import fnmatch
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading


def run_batch(runner, device, folders, limit, done):
    """Runs the cases; what is left after a crash goes into another process."""
    left = list(folders)
    while left:
        process = subprocess.Popen([runner, "--device", device, *map(str, left)],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        started = None
        timer = None
        late = threading.Event()

        def stop():
            late.set()
            process.kill()
        for line in process.stdout:
            if timer:
                timer.cancel()
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if entry["result"] == "started":
                started = entry["case"]
                timer = threading.Timer(limit, stop)
                timer.start()
                continue
            done(entry)
            started = None
            left.pop(0)
        if timer:
            timer.cancel()
        code = process.wait()
        if started is None and code == 0:
            return
        if started is None:
            sys.exit(f"onnx_conformance.py: {runner} ended with {code} before a case began")
        done({"case": started, "result": "timeout" if late.is_set() else "crashed",
              "reason": f"exit status {code}"})
        left.pop(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    parser.add_argument("--device", required=True)
    parser.add_argument("--cases", type=pathlib.Path, required=True)
    parser.add_argument("--runner", default=str(root / "build/release/tests/onnx/onnx_case"))
    parser.add_argument("--only", default="*", help="names of cases, with * and ?")
    parser.add_argument("--limit", type=float, default=60, help="seconds for a case")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--verbose", action="store_true", help="print what does not pass")
    arguments = parser.parse_args()
    # A build's own plugins, unless the user has others.
    plugins = pathlib.Path(arguments.runner).resolve().parents[2] / "lib/stria/plugins"
    os.environ.setdefault("STRIA_PLUGIN_PATH", str(plugins))
    folders = sorted(path for path in arguments.cases.iterdir()
                     if fnmatch.fnmatch(path.name, arguments.only))
    batches = queue.Queue()
    for begin in range(0, len(folders), 50):
        batches.put(folders[begin:begin + 50])
    results = {}
    lock = threading.Lock()

    def done(entry):
        with lock:
            results[entry["case"]] = entry
            if sys.stderr.isatty():
                print(f"\r{len(results)}/{len(folders)}", end="", file=sys.stderr)

    def work():
        while True:
            try:
                batch = batches.get_nowait()
            except queue.Empty:
                return
            run_batch(arguments.runner, arguments.device, batch, arguments.limit, done)
    threads = [threading.Thread(target=work) for _ in range(arguments.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = collections.Counter(entry["result"] for entry in results.values())
    if arguments.verbose:
        for name, entry in sorted(results.items()):
            if entry["result"] != "passed":
                print(f"{name}: {entry['result']}: {entry.get('reason', '')[:300]}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1, sort_keys=True))
    print(f"{arguments.device}: {counts['passed']} of {len(folders)} passed; " +
          ", ".join(f"{count} {name}" for name, count in sorted(counts.items())
                    if name != "passed"))


if __name__ == "__main__":
    main()
