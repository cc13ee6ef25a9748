// SPDX-License-Identifier: Apache-2.0
// A run of the suite as texts: for a terminal, for machines, for CI systems, for a browser.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "suite/case.h"
#include "suite/runner.h"
#include "suite/verdict.h"

namespace stria::conformance {

struct Report {
  std::string plugin, version, vendor, directory;
  std::string device;   // "0: Acme 300 rev B"; empty: none was opened
  std::string suite;    // the version of stria
  std::string machine;  // processor, cores, memory, system
  std::string day;      // YYYY-MM-DD
  std::string sha256;   // of the shared object; empty if it cannot be read
  double seconds = 0;
  bool isolated = false;  // the plugin ran in a process of its own
  std::string device_id;  // the one that was asked for; empty: none was
  double patience = 1;    // times each case's limit
  // Of the programs that cases ran; and those of them that the plugin leaves to the host.
  uint64_t kernels = 0, interpreted_kernels = 0;
  // Why, as the plugin says, with the number of kernels; the most frequent first.
  std::vector<std::pair<std::string, uint64_t>> interpreted;
  const std::vector<Case>* all = nullptr;
  std::vector<CaseResult> results;
  Verdict verdict;
};

// "0: Acme 300 rev B, in a process of its own"; "" if none was opened.
std::string device_text(const Report& report);
// A sentence that a failure breaks, and where it stands.
struct Quoted {
  std::string_view sentence;
  std::string_view source;
};
// What the case is about; or the rule that was found broken on the way there; or both, that rule
// first, where a slot's refusal may be either.
std::vector<Quoted> rules_of(const Case& of, const CaseResult& result);
// "stria conform '/opt/acme' --level 2 --only M.copy.odd_17"
std::string command_for(const Report& report, const CaseResult& result);
// A line: "level 2 (right): 312 passed, 2 failed, …".
std::string summary_of(const Report& report);

// A table of the groups, then each case that is not good with its sentence and its command.
std::string text_report(const Report& report, bool all_cases);
std::string json_report(const Report& report);
// As CI systems read it: a suite for each group, a test case for each case.
std::string junit_report(const Report& report);
// A page that asks for nothing from anywhere.
std::string html_report(const Report& report);
// {"schemaVersion": 1, "label": …, "message": …, "color": …}, as badge services read it.
std::string badge(const Report& report);

}  // namespace stria::conformance
