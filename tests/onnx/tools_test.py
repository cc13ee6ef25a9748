#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/onnx finds what is wrong: runners that crash or hang, and results that are not expected."""
import json
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/onnx/onnx_conformance.py"

# A runner whose cases do what their names say.
RUNNER = """#!{python}
import json, os, pathlib, sys, time
def say(**words): print(json.dumps(words), flush=True)
if sys.argv[2] == "absent" or "gone" in sys.argv[3]: sys.exit("no such device")
say(result="device", name="a " + sys.argv[2])
for folder in sys.argv[3:]:
    case = pathlib.Path(folder).name
    say(case=case, result="started")
    if "hang" in case: time.sleep(60)
    if "crash" in case: sys.exit("a cry")
    if "fail" in case: say(case=case, result="failed", reason="element 3: 1 for [2]")
    else: say(case=case, result="passed")
sys.exit(9 if "leak" in folder else 0)
"""


class ConformanceTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.runner = self.folder / "build/tests/onnx/runner"
        self.runner.parent.mkdir(parents=True)
        self.runner.write_text(RUNNER.replace("{python}", sys.executable))
        self.runner.chmod(self.runner.stat().st_mode | stat.S_IXUSR)

    def run_tool(self, cases, expected, *options, devices=("one",)):
        """The exit status, stdout and stderr together, and the results of the first device."""
        index = {name: {"suite": "node", "operator": name.split("_")[0]} for name in cases}
        spec = {"onnx": "0", "models": "0", "tensors": "0", "cases": index}
        (self.folder / "cases.json").write_text(json.dumps(spec))
        (self.folder / "expected.json").write_text(json.dumps(expected))
        (self.folder / "out.json").unlink(missing_ok=True)
        words = [word for device in devices for word in ("--device", device)]
        done = subprocess.run(
            [sys.executable, TOOL, "--cases", self.folder, "--runner", self.runner, "--expected",
             self.folder / "expected.json", "--json", self.folder / "out.json", *words, *options],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        results, out = {}, self.folder / "out.json"
        if out.exists():
            run = json.loads(out.read_text())["devices"][devices[0]]
            results = {name: entry["result"] for name, entry in run["results"].items()}
        return done.returncode, done.stdout, results

    def entry(self, **changes):
        return {"cases": ["b_fail"], "devices": ["one *"], "result": "failed",
                "reason": "*1 for [2]", "why": "a test", **changes}

    def test_what_passes(self):
        code, text, results = self.run_tool(["a", "b"], [])
        self.assertEqual((code, results), (0, {"a": "passed", "b": "passed"}), text)

    def test_an_expected_failure(self):
        code, text, _ = self.run_tool(["a", "b_fail"], [self.entry()])
        self.assertEqual(code, 0, text)

    def test_a_failure_that_is_not_expected(self):
        code, text, _ = self.run_tool(["a", "b_fail"], [])
        self.assertEqual(code, 1)
        self.assertIn("one: b_fail: failed: element 3: 1 for [2]", text)

    def test_a_pass_that_is_not_expected(self):
        code, text, _ = self.run_tool(["a", "b_fail"], [self.entry(cases=["*"])])
        self.assertEqual(code, 1)
        self.assertIn("one: a: passed; expected failed", text)

    def test_another_reason_result_or_device(self):
        for change in ({"reason": "element 3"}, {"result": "unsupported"}, {"devices": ["two *"]}):
            code, text, _ = self.run_tool(["a", "b_fail"], [self.entry(**change)])
            self.assertEqual(code, 1, text)
            self.assertIn("1 results are not as expected", text)

    def test_two_entries_for_a_case(self):
        code, text, _ = self.run_tool(["a", "b_fail"], [self.entry(), self.entry()])
        self.assertEqual(code, 1)
        self.assertIn("more than one entry", text)

    def test_an_entry_of_no_case_even_where_few_run(self):
        code, text, _ = self.run_tool(["a", "b_fail"], [self.entry(cases=["c"])], "--only", "a")
        self.assertEqual(code, 1)
        self.assertIn("entry 1: no case is named c", text)

    def test_an_entry_of_no_device(self):
        devices = ("one", "reference", "llvm_cpu", "opencl", "vulkan", "sim")
        code, text, _ = self.run_tool(["a", "b_fail"], [self.entry(devices=["*", "two *"])],
                                      devices=devices)
        self.assertEqual(code, 1)
        self.assertIn("entry 1: no device is named two *", text)

    def test_an_entry_with_other_words(self):
        for change in ({"result": "broken"}, {"reasons": []}):
            code, text, _ = self.run_tool(["a", "b_fail"], [self.entry(**change)])
            self.assertEqual(code, 1)
            self.assertIn("expected.json, entry 1", text)

    def test_crashes_are_of_their_case_alone(self):
        cases = ["a", "b_crash", "c", "d_hang", "e", "f_leak"]
        wanted = {"a": "passed", "b_crash": "crashed", "c": "passed", "d_hang": "timeout",
                  "e": "passed", "f_leak": "crashed"}
        for batch in ("1", "10"):
            code, text, results = self.run_tool(cases, [], "--batch", batch, "--limit", "2")
            self.assertEqual((code, results), (1, wanted), text)
            self.assertIn("one: b_crash: crashed: exit status 1: a cry", text)

    def test_a_device_that_is_not_there(self):
        code, text, results = self.run_tool(["a"], [], devices=("absent",))
        self.assertEqual((code, results), (1, {}))
        self.assertIn("before a case began: no such device", text)

    def test_a_device_that_is_gone_for_one_process(self):
        code, text, results = self.run_tool(["a", "b_gone", "c"], [], "--batch", "1", "--jobs", "1")
        self.assertEqual((code, results), (1, {"a": "passed", "b_gone": "crashed", "c": "passed"}))
        self.assertIn("one: b_gone: crashed: exit status 1: no such device", text)

    def test_a_device_that_is_gone_for_good(self):
        cases = ["a", *(f"b_gone_{k:02}" for k in range(20))]
        code, text, results = self.run_tool(cases, [], "--batch", "1", "--jobs", "1")
        self.assertEqual((code, results), (1, {}), text)
        self.assertIn("before a case began: no such device", text)

    def test_no_case(self):
        code, text, _ = self.run_tool(["a"], [], "--only", "b")
        self.assertEqual(code, 1)
        self.assertIn("no case is named b", text)

    def test_a_sample_has_each_operator_and_grows_at_its_end(self):
        cases = [f"{operator}_{k}" for operator in "abcde" for k in range(20)]
        last = set()
        for count in (5, 10, 40):
            _, text, results = self.run_tool(cases, [], "--sample", str(count))
            self.assertEqual(len(results), count, text)
            self.assertEqual({name[0] for name in results}, set("abcde"))
            self.assertLessEqual(last, set(results))
            last = set(results)


if __name__ == "__main__":
    unittest.main()
