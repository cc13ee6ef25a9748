// SPDX-License-Identifier: Apache-2.0
#include "unroll_short.h"

#include <cstdint>
#include <string>

#include "stria/sdk/pass_options.h"
#include "stria/sdk/reader.h"

namespace own_pass {
namespace {

namespace sdk = stria::sdk;

constexpr const char* kHint = "unroll_hint";

class UnrollShort {
 public:
  UnrollShort(sdk::ReaderProgram& program, int64_t points) : program_(program), points_(points) {}

  int64_t count() const { return count_; }

  // The block and those inside it.
  void visit(const stria_block& block) {
    bool innermost = true;
    for (const stria_statement& statement : sdk::statements(block)) {
      if (statement.block == nullptr) continue;
      innermost = false;
      visit(*statement.block);
    }
    if (innermost && is_short(block) && is_plain(block)) {
      sdk::check(sdk::set_tag(program_, block, kHint));
      ++count_;
    }
  }

 private:
  bool is_short(const stria_block& block) const {
    int64_t points = 1;
    for (const stria_index& index : sdk::indices(block)) {
      if (index.range > points_) return false;
      points *= index.range;
      if (points > points_) return false;
    }
    return points > 1;
  }
  // What runs in another way than as a loop stays as it is, and so does what has the hint.
  static bool is_plain(const stria_block& block) {
    for (const char* tag : {"parallel", "vector", "unroll", "stencil", kHint})
      if (sdk::find_tag(block, tag) != nullptr) return false;
    return block.location_count == 0;
  }

  sdk::ReaderProgram& program_;
  const int64_t points_;
  int64_t count_ = 0;
};

}  // namespace

std::vector<sdk::NamedText> unroll_short(std::string_view stripe, std::string_view options) {
  sdk::PassOptions read(options);
  const int64_t points = read.integer("points", 8, 2, 64);
  read.finish();

  sdk::ReaderProgram program;
  sdk::check(sdk::read_program("device program", stripe, &program));
  UnrollShort pass(program, points);
  for (const stria_kernel_block& kernel : sdk::kernels(*program)) pass.visit(*kernel.block);
  std::string text;
  sdk::check(sdk::print(program, &text));
  return {{"stripe", text}, {"blocks", std::to_string(pass.count()) + " got the hint"}};
}

}  // namespace own_pass
