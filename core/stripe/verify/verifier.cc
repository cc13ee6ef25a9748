// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/verify/verifier.h"

#include "stria/base/text.h"
#include "stria/stripe/text/lexer.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/findings.h"

namespace stria::stripe {

void Findings::add(const Place& place, const std::string& message) {
  if (!full()) messages_.push_back(place.path() + ": " + message);
}

void Findings::add(const Place& place, size_t statement, const std::string& message) {
  if (full()) return;
  add(place, fmt::format("statement {} `{}`: {}", statement,
                         print_line(place.block->stmts[statement]), message));
}

void Findings::add(const Place& place, const Refinement& ref, const std::string& message) {
  if (full()) return;
  add(place, fmt::format("refinement `{}`: {}", print_line(ref), message));
}

bool Findings::full() const { return messages_.size() >= kMaxErrors; }

Status Findings::status() const {
  if (empty()) return Status();
  return Status(StatusCode::invalid_argument, join(messages_, "\n"));
}

Status verify(const Program& program, const VerifyOptions& options, VerifyReport* report) {
  VerifyReport unused;
  if (!report) report = &unused;
  *report = VerifyReport();
  Findings findings;
  check_structure(program, options, findings);
  if (findings.empty()) check_agents(program, findings);
  if (findings.empty()) check_order(program, options, findings);
  if (findings.empty()) check_arenas(program, options, findings);
  if (findings.empty()) check_standing(program, findings);
  if (findings.empty() && !(options.accesses == AccessRules::none()))
    check_accesses(program, options, findings, *report);
  return findings.status();
}

}  // namespace stria::stripe
