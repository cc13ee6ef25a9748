// SPDX-License-Identifier: Apache-2.0
// stria/sdk/reader.h where there are no exceptions.
#include "stria/sdk/reader.h"

#include "plain.h"

namespace stria::reader_test {

int64_t count_statements(const stria_block& block) {
  int64_t count = 0;
  for (const stria_statement& statement : sdk::statements(block))
    count += statement.block != nullptr ? count_statements(*statement.block) : 1;
  return count;
}

std::string describe(const std::string& text) {
  sdk::ReaderProgram program;
  if (const sdk::ReaderError error = sdk::read_program("text", text, &program))
    return std::string(error.message());
  sdk::CSource source;
  std::string out, code;
  if (const sdk::ReaderError error = source.create()) return std::string(error.message());
  uint64_t number = 0;
  for (const stria_kernel_block& kernel : sdk::kernels(*program)) {
    out += std::string(sdk::text_of(kernel.name)) + ":";
    for (const stria_kernel_argument& argument : sdk::arguments(kernel))
      out += " " + std::string(sdk::text_of(argument.name));
    sdk::ReaderTree tree;
    sdk::ReaderError error = sdk::build_tree(program, number++, &tree);
    if (!error) error = source.add(tree);
    out += error ? " " + std::string(error.message())
                 : " " + std::string(sdk::text_of(tree->symbol)) + ", " +
                       std::to_string(tree->trip_count) + " points";
    out += "\n";
  }
  if (const sdk::ReaderError error = source.print(&code)) return std::string(error.message());
  return out + std::to_string(count_statements(*program->entry)) + " statements\n" + code;
}

}  // namespace stria::reader_test
