// SPDX-License-Identifier: Apache-2.0
// Expressions of the template language that hardware models and pipelines are written in (a subset
// of Jinja): literals, names, a.b, a[i], calls of range(), arithmetic, comparison, and/or/not, `x
// if c else y`, `x is defined`, and filters. An internal part of template_text.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/template/template_text.h"

namespace stria {

struct TemplateExpression {
  enum class Kind {
    literal,      // value
    name,         // text
    attribute,    // children[0] . text
    item,         // children[0] [ children[1] ]
    call,         // text ( children )
    filter,       // children[0] | text ( children[1…] )
    unary,        // text children[0]: "-", "not"
    binary,       // children[0] text children[1]
    conditional,  // children[0] if children[1] else children[2]
    defined,      // children[0] is defined
    list,         // [ children ]
  };
  Kind kind = Kind::literal;
  SourceSpan span;
  std::string text;
  std::shared_ptr<const nlohmann::json> value;
  std::vector<TemplateExpression> children;
  int height = 1;  // longest way to a leaf, in nodes: readers recurse
};

// Parses source[begin, end) as one expression. Failures are rendered with file, line and column.
Result<TemplateExpression> parse_template_expression(const SourceText& source, size_t begin,
                                                     size_t end);

// Those of a whole template, in its order: of outputs, sets, loops and conditions.
Result<std::vector<TemplateExpression>> template_expressions(const SourceText& source);

// Looks names up from the innermost scope outwards.
class TemplateScope {
 public:
  using Reads = std::map<std::string, TemplateReads>;
  // Both are borrowed. `values` must be an object. `reads` says what the values of names were
  // computed from; null: `values` are the caller's.
  TemplateScope(const TemplateScope* outer, const nlohmann::json& values, const Reads* reads)
      : outer_(outer), values_(&values), reads_(reads) {}
  const nlohmann::json* find(const std::string& name) const;
  std::vector<std::string> names() const;
  // Adds what `name` was computed from to `reads`: for a value of the caller's that is `path`.
  void add_reads(const std::string& name, const std::string& path, TemplateReads& reads) const;

 private:
  const TemplateScope* outer_;
  const nlohmann::json* values_;
  const Reads* reads_;
};

// What the expressions of one rendering may take together: a template of a few lines could double a
// list until memory or patience ends. Counted in steps: each node evaluated, each entry and each
// four bytes of text that is made or read as a whole.
class TemplateWork {
 public:
  static constexpr uint64_t kMaxSteps = uint64_t{1} << 19;
  // False once that is too much.
  bool spend(uint64_t steps) {
    spent_ = steps > kMaxSteps ? kMaxSteps + 1 : spent_ + steps;
    return spent_ <= kMaxSteps;
  }

 private:
  uint64_t spent_ = 0;  // at most twice the limit
};

// Value of the expression, never null: shared with the scope where it is a part of what a name
// means, so valid only as long as that is unchanged. A name that is not set is an error unless
// `default` or `is defined` meets it. out_of_range if `work` ends, or lists are nested too deep.
// Adds to `reads` what the value was computed from.
Result<std::shared_ptr<const nlohmann::json>> evaluate_template_expression(
    const SourceText& source, const TemplateExpression& expression, const TemplateScope& scope,
    TemplateWork& work, TemplateReads& reads);

// As Jinja's truth: false, 0, "", [], {} and null are false.
bool template_truth(const nlohmann::json& value);
// As `{{ }}` prints: strings bare, numbers shortest, lists and objects as JSON.
std::string template_print(const nlohmann::json& value);

}  // namespace stria
