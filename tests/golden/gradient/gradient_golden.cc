// SPDX-License-Identifier: Apache-2.0
// Stage gradient: Tile text to the Tile text of its derivative (RUN: wrt=A,B of=R function=f
// name=g keep=yes twice=A, the inputs that the derivative is differentiated by again). What is
// printed must be canonical. Notes stand before it as comments.
#include "golden.h"
#include "stria/base/text.h"
#include "stria/tile/gradient/gradient.h"
#include "stria/tile/syntax/parser.h"
#include "stria/tile/syntax/print.h"

namespace {

std::vector<std::string> list_of(const std::string& text) {
  return text.empty() ? std::vector<std::string>{} : stria::split(text, ',');
}

stria::Result<std::string> derivative(const stria::golden::Case& test) {
  STRIA_ASSIGN(stria::tile::Program program, stria::tile::parse(test.input));
  stria::tile::GradientOptions options;
  options.function = test.option("function");
  options.wrt = list_of(test.option("wrt"));
  options.of = test.option("of");
  options.keep_results = !test.option("keep").empty();
  options.name = test.option("name");
  std::vector<stria::Diagnostic> notes;
  STRIA_ASSIGN(stria::tile::Program made, stria::tile::gradient(program, options, &notes));
  const std::string again = test.option("twice");
  if (!again.empty()) {
    STRIA_ASSIGN(made, stria::tile::gradient(made, {"", list_of(again), "", false, ""}, &notes));
  }
  std::string text = stria::tile::print(made);
  STRIA_ASSIGN(stria::tile::Program read, stria::tile::parse({"printed text", text}));
  if (stria::tile::print(read) != text)
    return stria::internal_error("the text is not canonical:\n{}", text);
  std::string out;
  for (const stria::Diagnostic& note : notes) out += "# " + note.message + "\n";
  return out + text;
}

}  // namespace

int main(int argc, char** argv) {
  return stria::golden::run_stage(argc, argv, "gradient", derivative);
}
