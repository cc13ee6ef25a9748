# SPDX-License-Identifier: Apache-2.0
"""Runs cases in processes of their own.

A runner takes case folders and prints lines of JSON: first what it runs on, then for each case
that it begins, and its result. tests/onnx/onnx_case.cc and onnx_runtime_case.py are such runners.
"""
import concurrent.futures
import json
import subprocess
import tempfile
import threading
import time


MOST_NOT_BEGUN = 8  # processes in a row, after some that began: then the device is gone


class RunnerError(Exception):
    """The runner did not begin: no such device, no such program, or the device is gone."""


class Runner:
    """`command` before the folders, under `environment`; `limit` in seconds for a case;
    `done(entry)` for each result."""

    def __init__(self, command, environment, limit, done):
        self.command, self.environment, self.limit, self.done = command, environment, limit, done
        self.device_name = None
        self.not_begun = 0  # processes in a row
        self.lock = threading.Lock()

    def run(self, batches, jobs):
        """Runs all, `jobs` processes at once."""
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(self.run_batch, batch) for batch in batches]
            for future in concurrent.futures.as_completed(futures):
                if future.exception():
                    pool.shutdown(cancel_futures=True)
                    raise future.exception()

    def run_batch(self, folders):
        """What is left after a case that ends the process goes into another process."""
        left = list(folders)
        while left:
            results = self.run_process(left)
            for entry in results:
                with self.lock:
                    self.done(entry)
            del left[:len(results)]

    def run_process(self, folders):
        """The results of the cases that this process began; at least one."""
        results, started, timed_out = [], None, threading.Event()
        known = self.device_name is not None
        with tempfile.TemporaryFile("w+", errors="replace") as messages, \
                subprocess.Popen([*self.command, *map(str, folders)], stdout=subprocess.PIPE,
                                 stderr=messages, env=self.environment, text=True,
                                 errors="replace") as process:

            def stop():
                timed_out.set()
                process.kill()

            timer = threading.Timer(self.limit, stop)
            timer.start()
            begin = time.monotonic()
            for line in process.stdout:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue
                if entry["result"] == "device":
                    self.device_name = entry["name"]
                    continue
                timer.cancel()
                if entry["result"] == "started":
                    started = entry["case"]
                    timer = threading.Timer(self.limit, stop)
                    timer.start()
                    continue
                now = time.monotonic()
                results.append({**entry, "seconds": round(now - begin, 3)})
                begin, started = now, None
            code = process.wait()
            timer.cancel()
            messages.seek(0)
            said = messages.read().strip()
        if code == 0 and started is None and len(results) == len(folders):
            return results
        begun = results or started
        self.not_begun = 0 if begun else self.not_begun + 1
        if not begun and (not known or self.not_begun > MOST_NOT_BEGUN):
            raise RunnerError(
                f"{self.command[0]} ended with {code} before a case began: {said}")
        # A process that fails at its end (a leak, a thread still there) fails its last case, and
        # one that fails at its begin, where others have begun, its first.
        case = started or (results.pop()["case"] if begun else folders[0].name)
        results.append({"case": case, "result": "timeout" if timed_out.is_set() else "crashed",
                        "reason": f"exit status {code}: {said[-2000:]}",
                        "seconds": round(time.monotonic() - begin, 3)})
        return results
