// SPDX-License-Identifier: Apache-2.0
// The reference pages of passes, docs/passes.md and docs/passes/<name>.md. They are made of what
// the passes say about themselves, and of what they do to a program.
#pragma once

#include <string>
#include <vector>

#include "stria/pass/pipeline.h"

namespace stria {

// What a page has besides the option table.
struct PassExample {
  std::string text;    // Markdown: what the pass does, requires, ensures, and why it runs where
  std::string why;     // what the example shows; "" = there is no example
  std::string steps;   // of a pipeline
  std::string before;  // Stripe
  std::string after;   // the report of each step as a comment, then Stripe
};

// Markdown: what the pass does, its options, a program before and after it.
std::string pass_page(const PassInfo& pass, const PassExample& example);

// Markdown: each pass's sentence, and where its page is.
std::string passes_page(const std::vector<PassInfo>& passes);

}  // namespace stria
