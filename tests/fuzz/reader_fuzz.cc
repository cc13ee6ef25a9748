// SPDX-License-Identifier: Apache-2.0
// Any text through stria/reader.h: an error with a message, or structures that tell all of the
// program, and for each kernel a tree and C, or an error.
#include "fuzzer.h"
#include "print_views.h"
#include "stria/base/status.h"
#include "stria/sdk/reader.h"
#include "stria/stripe/text/parser.h"

namespace stria {
namespace {

void check_round_trip(const std::string& text, const sdk::ReaderProgram& program) {
  std::string printed;
  print_views(
      &*program,
      [](void* state, const char* piece) { static_cast<std::string*>(state)->append(piece); },
      &printed);
  const Result<stripe::Program> one = stripe::parse({"text", text});
  const Result<stripe::Program> other = stripe::parse({"printed", printed});
  STRIA_CHECK(one.ok() && other.ok() && *one == *other,
              "the structures are of another program:\n{}", printed);
  STRIA_CHECK(check_views(&*program) == nullptr, "{}", check_views(&*program));
}

stria_tree_options with_lanes() {
  stria_tree_options out{};
  out.size = sizeof out;
  out.most_lanes = 64;
  out.subgroup_lanes = 32;
  return out;
}

void check_failure(const sdk::ReaderError& error) {
  STRIA_CHECK(!error.message().empty(), "a failure without a message");
  STRIA_CHECK(error.code() != STRIA_INTERNAL, "{}", error.message());
}

}  // namespace
}  // namespace stria

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stria;
  const std::string text = fuzz::text_of(data, size);
  sdk::ReaderProgram program;
  if (const sdk::ReaderError error = sdk::read_program("fuzz", text, &program)) {
    check_failure(error);
    return 0;
  }
  check_round_trip(text, program);
  sdk::CSource source;
  if (source.create()) return 0;
  for (uint64_t kernel = 0; kernel < program->kernel_count; ++kernel) {
    sdk::ReaderTree tree, lanes;
    const stria_tree_nodes* nodes = nullptr;
    const stria_tree_options options = with_lanes();
    if (!sdk::build_tree(program, kernel, &lanes, &options))
      STRIA_CHECK(!sdk::nodes_of(lanes, &nodes) && nodes, "a tree without nodes");
    std::string shown;
    sdk::ReaderError error = sdk::build_tree(program, kernel, &tree);
    if (!error) error = sdk::print(tree, &shown);
    if (!error) error = source.add(tree);
    if (error) check_failure(error);
  }
  std::string code;
  if (const sdk::ReaderError error = source.print(&code)) check_failure(error);
  return 0;
}
