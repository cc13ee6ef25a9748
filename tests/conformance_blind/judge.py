#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `stria conform` on the plugin with each of its mistakes, and prints which cases found it.

  judge.py BUILD [NAME …]       BUILD is a build folder; all mistakes, or these
  judge.py BUILD --set SET      those of the plugin in this folder (first), in second/, third/, or all
  judge.py BUILD --json FILE    what each found, for a comparison

A mistake counts as found if a case of its level or below fails. Whether that is for the right reason is for a reader: the
first failures are printed with their rules. Exit code 1 if a mistake was not found, or the right plugin fails."""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


# Of each set: the name of its plugin, and the folder of its mistakes.
SETS = {"first": ("blind", HERE), "second": ("second", HERE / "second"),
        "third": ("third", HERE / "third")}


def copy_with(build, of_set, mistake, folder):
    """A folder of the set's plugin with this mistake, or with none."""
    name, source = SETS[of_set]
    plugin = folder / name
    shutil.copytree(build / "lib/stria/blind" / name, plugin)
    if mistake:
        (plugin / "mistake").write_text(mistake)
        overlay = source / "overlays" / mistake
        if overlay.is_dir():
            shutil.copytree(overlay, plugin, dirs_exist_ok=True)
    subprocess.run(["chmod", "-R", "go-w", str(folder)], check=True)
    return plugin


def conform(build, of_set, mistake, level, only):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        plugin = copy_with(build, of_set, mistake, folder)
        command = [build / "bin/stria", "conform", plugin, "--level", str(level), "--json"]
        for what in only:
            command += ["--only", what]
        environment = dict(os.environ, XDG_CACHE_HOME=str(folder / "cache"))
        ended = subprocess.run(command, capture_output=True, text=True, env=environment)
        try:
            report = json.loads(ended.stdout)
        except ValueError:
            sys.exit(f"{mistake or 'none of ' + of_set}: no report, exit code {ended.returncode}: {ended.stderr}")
    return [c for c in report["cases"] if c["ending"] in ("FAIL", "CRASH", "HANG", "LEAK")]


# All groups but K, which builds thousands of kernels.
WITHOUT_KERNELS = list("PNEMQXTCFRHV")


def found_by(build, of_set, mistake, only):
    """Cases that fail. What one group finds, all of them find: the dear one comes last."""
    level = mistake["level"]
    if not only and mistake["name"] and mistake["group"] not in ("numbers", "kernels"):
        cases = conform(build, of_set, mistake["name"], level, WITHOUT_KERNELS)
        if cases:
            return cases
    return conform(build, of_set, mistake["name"], level, only)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--set", dest="of_set", choices=[*SETS, "all"], default="all")
    parser.add_argument("--only", action="append", default=[], help="as of stria conform")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    none = {"name": "", "level": 4, "what": "no mistake"}
    chosen = []
    for of_set, (_, source) in SETS.items():
        if arguments.of_set not in (of_set, "all"):
            continue
        mistakes = [none] + json.loads((source / "mistakes.json").read_text())
        chosen += [(of_set, m) for m in mistakes if not arguments.names or (m["name"] or "none") in arguments.names]
    unknown = set(arguments.names) - {m["name"] or "none" for _, m in chosen}
    if unknown:
        parser.error(f"no such mistake: {', '.join(sorted(unknown))}")
    found, missed, all_cases = 0, [], {}
    for of_set, mistake in chosen:
        cases = found_by(build, of_set, mistake, arguments.only)
        name = mistake["name"] or f"none of {of_set}"
        all_cases[name] = [c["case"] for c in cases]
        right = bool(cases) == bool(mistake["name"])
        print(f"{'found ' if cases else 'nothing'} {name}: {mistake['what']}")
        for c in cases[:4]:
            print(f"    {c['ending']} {c['case']}: {c['text'][:160]}\n        \"{c['rule'][:150]}\"")
        if len(cases) > 4:
            print(f"    and {len(cases) - 4} more")
        sys.stdout.flush()
        found += right
        if not right:
            missed.append(name)
    print(f"{found} of {len(chosen)} as they should be; not: {', '.join(missed) or 'none'}")
    if arguments.json:
        arguments.json.write_text(json.dumps(all_cases, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
