#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at the page of `stria conform --html` as a person's browser does.

  page_test.py STRIA FOLDER…   the command, and folders of plugins

For each plugin: every case of the JSON report stands on the page once, with its ending; the browser reports no
error; and it asks nobody for anything but the page. Exit code 1 if not, 77 if there is no Chromium."""
import collections
import html.parser
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

LIMIT_S = 120
# As the network log writes that no page has made a request.
NOBODY = "not an origin"


class Page(html.parser.HTMLParser):
    """What the browser made of the page: the ending and name of each case, and the counts of the groups."""

    def __init__(self):
        super().__init__()
        self.cases, self.words, self.row = [], [], None
        self.in_groups = False
        self.counts = 0

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "table":
            self.in_groups = attributes.get("id") == "groups"
        if (tag, attributes.get("class")) in (("tr", "case"), ("details", "failure")):
            self.row = []
        if self.in_groups and tag == "td" and attributes.get("class", "").startswith("count"):
            self.row = ["count"]

    def handle_data(self, data):
        if self.row is None or not data.strip():
            return
        self.row.append(data.strip())
        if self.row[0] == "count":
            self.counts += int(self.row[1])
            self.row = None
        elif len(self.row) == 2:
            self.cases.append(tuple(self.row))
            self.row = None


def browse(browser, page, folder):
    """The page after the browser has read it, what it complained of, and whom it asked."""
    network = folder / "network.json"
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
        "--disable-extensions", "--disable-dev-shm-usage", f"--user-data-dir={folder / 'profile'}",
        "--enable-logging=stderr", f"--log-net-log={network}", "--dump-dom", page.as_uri()
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    # Of the page; what the browser says of the machine that it runs on is not about it.
    complaints = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    # Requests have an origin if a page makes them; the browser's own have none.
    events = json.loads(network.read_text())["events"]
    asked = {
        event["params"]["url"]
        for event in events
        if "url" in event.get("params", {}) and event["params"].get("initiator", NOBODY) != NOBODY
    }
    return run.stdout, complaints, {url for url in asked if not url.startswith(("file:", "data:"))}


def look(stria, browser, plugin, folder):
    page = folder / "report.html"
    run = subprocess.run([stria, "conform", plugin, "--level", "1", "--no-record", "--json", "--html",
                          page],
                         capture_output=True, text=True, timeout=LIMIT_S)
    report = json.loads(run.stdout)
    wanted = collections.Counter((one["ending"], one["case"]) for one in report["cases"])
    text, complaints, asked = browse(browser, page, folder)
    seen = Page()
    seen.feed(text)
    wrong = []
    if not wanted:
        wrong.append("no case ran")
    if collections.Counter(seen.cases) != wanted:
        missing = wanted - collections.Counter(seen.cases)
        wrong.append(f"{len(seen.cases)} cases stand on the page, {sum(wanted.values())} ran: {list(missing)[:3]} …")
    if seen.counts != sum(wanted.values()):
        wrong.append(f"its groups count {seen.counts} cases, {sum(wanted.values())} ran")
    wrong += [f"the browser says: {line}" for line in complaints]
    wrong += [f"the page asks for {url}" for url in sorted(asked)]
    print(f"{pathlib.Path(plugin).name}: {len(seen.cases)} cases on {page.stat().st_size >> 10} KiB")
    for line in wrong:
        print(f"  {line}")
    return not wrong


def sees_what_is_wrong(browser, folder):
    """Whether this test would notice: a page that asks for a picture, and whose script fails."""
    page = folder / "wrong.html"
    page.write_text("<img src='http://127.0.0.1:9/none.png'><script>no_such_function()</script>")
    _, complaints, asked = browse(browser, page, folder)
    if complaints and asked:
        return True
    print(f"of a page that is wrong this test sees {complaints} and {asked}")
    return False


def main():
    stria, plugins = sys.argv[1], sys.argv[2:]
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if not browser:
        print("no chromium on this machine")
        return 1 if os.environ.get("STRIA_TEST_NEEDS_DRIVERS") else 77
    with tempfile.TemporaryDirectory() as name:
        right = sees_what_is_wrong(browser, pathlib.Path(name))
    for plugin in plugins:
        with tempfile.TemporaryDirectory() as name:
            right &= look(stria, browser, plugin, pathlib.Path(name))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
