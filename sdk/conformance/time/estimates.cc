// SPDX-License-Identifier: Apache-2.0
#include "time/estimates.h"

#include "stria/hal/boundary/error.h"

namespace stria::conformance {

Result<stria_estimate> estimate(const Subject& s, const stria_estimate_table& table,
                                const std::string& stripe) {
  stria_build_params params{};
  params.size = sizeof params;
  params.stripe = hal::to_c(stripe);
  params.options = hal::to_c("{}");
  stria_estimate out{};
  out.size = sizeof out;
  if (stria_error* error = table.estimate(s.device(), &params, &out))
    return hal::take_error(error, hal::Reader::author).with_context("estimate.estimate");
  return out;
}

Case& add_estimate_case(CaseMaker& maker, std::string_view name, Level level,
                        std::string_view sentence,
                        std::function<Finding(Subject&, const stria_estimate_table&)> run) {
  Case& c = maker.add('R', fmt::format("estimate.{}", name), level, sentence,
                      [run = std::move(run)](Subject& s) -> Finding {
                        const auto* table = static_cast<const stria_estimate_table*>(
                            s.extension(STRIA_ESTIMATE, STRIA_ESTIMATE_VERSION));
                        if (!table) return Finding::skip("the plugin has no table stria.estimate");
                        if (table->size < sizeof *table || !table->estimate)
                          return broken_rule(Rule::struct_size,
                                             "its table stria.estimate has {} bytes, not {}",
                                             table->size, sizeof *table);
                        const Finding finding = run(s, *table);
                        if (finding.code() == StatusCode::unsupported)
                          return Finding::unsupported(finding.text());
                        // The table of a plugin in another process is always there, as is that
                        // of the C++ helper: who estimates nothing has none.
                        if (finding.code() == StatusCode::unimplemented)
                          return Finding::skip(finding.text());
                        return finding;
                      });
  c.source = "stria/experimental.h";
  return c;
}

}  // namespace stria::conformance
