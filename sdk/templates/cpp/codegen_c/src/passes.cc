// SPDX-License-Identifier: Apache-2.0
#include "passes.h"

#include <cstdint>
#include <string>

#include "stria/sdk/pass_options.h"
#include "stria/sdk/reader.h"

namespace acme_plugin {
namespace {

namespace sdk = stria::sdk;

// The points of a block; more than `most` if it has many.
int64_t points_of(const stria_block& block, int64_t most) {
  int64_t points = 1;
  for (const stria_index& index : sdk::indices(block)) {
    points = index.range > most ? most + 1 : points * index.range;
    if (points > most) break;
  }
  return points;
}

// Marks the short loops in a block, or the block itself; returns how many.
int64_t mark(sdk::ReaderProgram& program, const stria_block& block, int64_t most) {
  int64_t count = 0;
  bool innermost = true;
  for (const stria_statement& statement : sdk::statements(block)) {
    if (statement.block == nullptr) continue;
    innermost = false;
    count += mark(program, *statement.block, most);
  }
  const int64_t points = points_of(block, most);
  // What runs in another way than as a loop stays as it is.
  if (!innermost || points < 2 || points > most || block.location_count > 0 ||
      sdk::find_tag(block, "parallel") != nullptr)
    return count;
  sdk::check(sdk::set_tag(program, block, "acme_short", points));
  return count + 1;
}

}  // namespace

std::vector<sdk::NamedText> short_loops(std::string_view stripe, std::string_view options) {
  sdk::PassOptions read(options);
  const int64_t most = read.integer("points", 8, 2, 64);
  read.finish();
  sdk::ReaderProgram program;
  sdk::check(sdk::read_program("program", stripe, &program));
  int64_t count = 0;
  for (const stria_kernel_block& kernel : sdk::kernels(*program))
    count += mark(program, *kernel.block, most);
  std::string text;
  sdk::check(sdk::print(program, &text));
  return {{"stripe", text}, {"loops", std::to_string(count) + " short loops are marked"}};
}

}  // namespace acme_plugin
