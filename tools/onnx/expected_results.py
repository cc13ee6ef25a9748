# SPDX-License-Identifier: Apache-2.0
"""The list of results that are expected and not `passed`, and the verdict on a run.

An entry: {"cases": [names, with *], "devices": [of these, with *], "result": "unsupported",
"reason": "what the runner says, with *", "why": "for people"}. A device is written as plugin and
name, `vulkan llvmpipe (LLVM 15.0.6, 256 bits)`. Each case of an entry must have this result on each
of its devices: one that passes is as wrong as one that fails in another way.
"""
import json
import re

RESULTS = ("failed", "unsupported", "error", "crashed", "timeout")


def matches(pattern, text):
    """`*` is any text; nothing else is special."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def any_matches(patterns, text):
    return any(matches(pattern, text) for pattern in patterns)


def read_expected(path, cases):
    """The entries; ValueError for one that says nothing of any of `cases`."""
    entries = json.loads(path.read_text())
    for number, entry in enumerate(entries):
        where = f"{path.name}, entry {number + 1}"
        if set(entry) != {"cases", "devices", "result", "reason", "why"}:
            raise ValueError(f"{where}: has {sorted(entry)}")
        if entry["result"] not in RESULTS:
            raise ValueError(f"{where}: result '{entry['result']}' is none of {', '.join(RESULTS)}")
        for pattern in entry["cases"]:
            if not any(matches(pattern, case) for case in cases):
                raise ValueError(f"{where}: no case is named {pattern}")
    return entries


def wrong_result(entries, device, got):
    """'' if a case's result is the expected one, else what is wrong."""
    said = got["result"]
    if said != "passed":
        said += f": {got.get('reason', '')[:300]}"
    mine = [entry for entry in entries
            if any_matches(entry["cases"], got["case"]) and any_matches(entry["devices"], device)]
    if len(mine) > 1:
        return "stands in more than one entry"
    if not mine:
        return "" if got["result"] == "passed" else said
    wanted = mine[0]
    if got["result"] == wanted["result"] and matches(wanted["reason"], got.get("reason", "")):
        return ""
    return f"{said}; expected {wanted['result']}: {wanted['reason']}"


def wrong_results(entries, devices):
    """Lines on what is not as expected. `devices`: {plugin: {"name", "results"}}."""
    lines = []
    for plugin, run in devices.items():
        device = f"{plugin} {run['name']}"
        for case, got in sorted(run["results"].items()):
            if text := wrong_result(entries, device, got):
                lines.append(f"{plugin}: {case}: {text}")
    return lines


def unused_devices(entries, devices):
    """Lines on device patterns that fit no device; for a run of all devices."""
    names = [f"{plugin} {run['name']}" for plugin, run in devices.items()]
    return [f"entry {number + 1}: no device is named {pattern}"
            for number, entry in enumerate(entries) for pattern in entry["devices"]
            if not any(matches(pattern, name) for name in names)]
