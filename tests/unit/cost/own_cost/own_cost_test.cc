// SPDX-License-Identifier: Apache-2.0
// A new cost is a file and a line in a list; nothing else knows of it. `autotile` offers its
// options, chooses by it, explains it, sets its tags and tells its errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/passes/all_passes.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"

namespace stria {
namespace {

using testing::HasSubstr;

constexpr const char* kProgram = R"(
0: #program block [] (
    none new@0x0 A[0, 0] fp32(64:64, 64:1)
    none new@0x0 B[0, 0] fp32(64:64, 64:1)
    none new@0x0 C[0, 0] fp32(64:64, 64:1)
) {
  0: #main block [] (
      in A[0, 0] fp32(64:64, 64:1)
      in B[0, 0] fp32(64:64, 64:1)
      out C[0, 0] fp32(64:64, 64:1)
  ) {
    0: #contraction #kernel block [i:64, j:64, k:64] ( // kernel_0
        in A[i, k] fp32(1:64, 1:1)
        in B[k, j] fp32(1:64, 1:1)
        out C[i, j]:add.fp32 fp32(1:64, 1:1)
    ) {
      0: $A = load(A)
      1: $B = load(B)
      2: $C = mul.fp32($A, $B)
      3: C = store($C)
    }
  }
}
)";

// The program after autotile with these options, or the error.
std::string tiled(const std::string& options, const char* machine = R"({"clock_mhz": 1})",
                  std::vector<std::string>* notes = nullptr) {
  const HardwareModel model = *load_hardware_model({"model", machine});
  auto pipeline = parse_pipeline({"pipeline", "[{\"autotile\": {" + options + "}}]"}, {}, model,
                                 passes::pass_registry());
  if (!pipeline.ok()) return pipeline.status().message();
  stripe::Program program = *stripe::parse({"test", kProgram});
  PipelineOptions how;
  how.verify_each = true;
  how.explain = "autotile";
  const auto reports = run_pipeline(program, *pipeline, model, how);
  if (!reports.ok()) return reports.status().message();
  if (notes) *notes = (*reports)[0].notes;
  return stripe::print(program);
}

TEST(OwnCost, ChoosesAndMarksTiles) {
  std::vector<std::string> notes;
  const std::string text =
      tiled(R"("cost": "widest", "width": 16, "explain_top": 1)", R"({"clock_mhz": 1})", &notes);
  EXPECT_THAT(text, HasSubstr("#width=16 block [k:4]"));
  EXPECT_THAT(text, HasSubstr("#seen in B[k, j] fp32(1:64, 1:1)"));
  EXPECT_THAT(testing::PrintToString(notes), HasSubstr("cost widest"));
  EXPECT_THAT(testing::PrintToString(notes), HasSubstr("width=16"));
}

TEST(OwnCost, ItsErrorsAreTold) {
  EXPECT_THAT(tiled(R"("cost": "widest")", "{}"), HasSubstr("/cost: 'widest' needs a clock"));
  EXPECT_THAT(tiled(R"("cost": "widest", "width": 0)"),
              HasSubstr("is over the width: 1 points of 0, 1 too many"));
  EXPECT_THAT(tiled(R"("cost": "widest", "width": -1)"), HasSubstr("/width: -1 is less than 0"));
  EXPECT_THAT(tiled(R"("width": 8)"),
              HasSubstr("/width: with the cost 'traffic' there is no such option; widest has it"));
}

TEST(OwnCost, HelpListsItsOptions) {
  const PassRegistry registry = passes::pass_registry();
  EXPECT_THAT(rows_as_text(registry.find("autotile")->options(), 0),
              HasSubstr("with cost: \"widest\": the tile that is as wide as can be\n"
                        "  width: integer, default 8. points along the last index, at most\n"));
}

}  // namespace
}  // namespace stria
