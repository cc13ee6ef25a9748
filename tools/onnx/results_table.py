# SPDX-License-Identifier: Apache-2.0
"""Results by operator and device, as text."""
import collections

# What stands behind a count that is not of passed cases.
LETTERS = {"failed": "f", "unsupported": "u", "error": "e", "crashed": "c", "timeout": "t"}


def cell(results):
    """`12`, or `10 2u`: those that passed, then those that did not, with the letters of why."""
    counts = collections.Counter(entry["result"] for entry in results)
    words = [str(counts["passed"])]
    words += [f"{counts[name]}{letter}" for name, letter in LETTERS.items() if counts[name]]
    return " ".join(words)


def table_lines(head, rows):
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, *rows]:
        yield "  ".join([row[0].ljust(widths[0]),
                         *(text.rjust(width) for text, width in zip(row[1:], widths[1:]))]).rstrip()


def results_table(spec, devices):
    """`spec`: cases.json; `devices`: {plugin: {"name", "seconds", "results"}}."""
    lines = [f"tests of the package onnx {spec['onnx']}; hash of models {spec['models']}, "
             f"of tensors {spec['tensors']}", ""]
    lines += table_lines(
        ["on", "cases", "passed", "not run", *LETTERS, "share", "seconds", "device"],
        [[plugin, str(len(run["results"])), *summary(run), run["name"]]
         for plugin, run in devices.items()])
    lines += ["", "Not run: passed, and all is known before there is anything for a device to do."]
    lines += ["", "Passed by suite and operator; behind it what did not: " +
              ", ".join(f"{letter} {name}" for name, letter in LETTERS.items()), ""]
    names = next(iter(devices.values()))["results"]
    groups = collections.defaultdict(list)
    for name in names:
        case = spec["cases"][name]
        keys = {"all", f"suite {case['suite']}", case["operator"]}
        for key in keys:
            groups[key].append(name)
    order = ["all", *sorted(key for key in groups if key.startswith("suite "))]
    order += sorted((key for key in groups if key not in order), key=str.lower)
    lines += table_lines(
        ["", "cases", *devices],
        [[key, str(len(groups[key])),
          *(cell([run["results"][name] for name in groups[key]]) for run in devices.values())]
         for key in order])
    return "\n".join(lines) + "\n"


def summary(run):
    counts = collections.Counter(entry["result"] for entry in run["results"].values())
    known = sum(not entry.get("ran", True) for entry in run["results"].values())
    return [str(counts["passed"]), str(known), *(str(counts[name]) for name in LETTERS),
            f"{100 * counts['passed'] / len(run['results']):.1f}%", f"{run['seconds']:.0f}"]
