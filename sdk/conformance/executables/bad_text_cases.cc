// SPDX-License-Identifier: Apache-2.0
#include "executables/bad_text_cases.h"

#include <array>

#include "executables/executable_case.h"
#include "executables/sums.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kWrong = "the caller's program, value or shape is wrong: mend it";
constexpr std::string_view kTruncated = "truncated or corrupt data";
constexpr std::string_view kVersion = "version or build mismatch";
constexpr std::string_view kNothingWritten = "On failure no output parameter has been written.";

// What a refusal of bad text may be called.
const std::vector<stria_code>& refusals() {
  static const std::vector<stria_code> codes = {STRIA_INVALID_ARGUMENT, STRIA_INCOMPATIBLE,
                                                STRIA_UNSUPPORTED, STRIA_DATA_LOSS,
                                                STRIA_OUT_OF_RANGE};
  return codes;
}

// The slot may say it at once, or the event later.
Status refuses(const Subject& subject, const Compiler& compiler, const std::string& text) {
  stria_build_params params{};
  params.size = sizeof params;
  params.stripe = hal::to_c(text);
  params.options = hal::to_c("{}");
  stria_library* library = nullptr;
  stria_event* event = nullptr;
  const SlotAnswer at_once = answer_of(
      subject.tables().compiler.build(compiler.get(), &params, nullptr, 0, &library, &event));
  if (at_once.code != STRIA_OK) {
    if (library || event)
      return broken_rule(Rule::no_output,
                         "compiler.build fails and has written its output parameters all the same");
    return expect_code(at_once, refusals(), "compiler.build of such a text");
  }
  if (!library || !event)
    return broken_rule(rule_of(Slot::compiler_build),
                       "compiler.build says that it succeeded and gives no {}",
                       library ? "event" : "library");
  const Library held(library, subject.tables().library.release);
  const Event done(event, subject.tables().event.release);
  STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait_for_end(done));
  const SlotAnswer status = answer_of(subject.tables().event.status(done.get()));
  STRIA_RETURN_IF_ERROR(expect_code(status, refusals(), "the build of such a text"));
  const auto drop = [](void*, const stria_kernel_info*) {};
  return expect_code(answer_of(subject.tables().library.kernels(held.get(), drop, nullptr)),
                     {status.code}, "library.kernels after that build failed");
}

Finding refuses(Subject& subject, const std::function<std::string(const std::string&)>& change) {
  STRIA_ASSIGN(const Compilation program, sum_program(subject, DataType::i32, 37));
  const std::string text = change(program.device_text);
  if (text == program.device_text)
    return Finding::skip("the device's Stripe has nothing to change in this way");
  STRIA_ASSIGN(const Compiler compiler, subject.make_compiler());
  return refuses(subject, compiler, text);
}

// With the first `from` replaced; the text itself if it has none.
std::string with(const std::string& text, std::string_view from, std::string_view to) {
  std::string out = text;
  const size_t at = out.find(from);
  if (at != std::string::npos) out.replace(at, from.size(), to);
  return out;
}

// With another first line.
std::string of_version(const std::string& text, std::string_view version) {
  return fmt::format("stripe {}{}", version, text.substr(text.find('\n')));
}

std::string of_bytes(size_t count) {
  const Bytes bytes = pattern(count, 5);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string wide(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c;
    out += '\0';
  }
  return out;
}

// Blocks in blocks: who reads them by calling itself needs a limit.
std::string deep(int depth) {
  std::string out = "stripe 1.0\n";
  for (int i = 0; i < depth; ++i) out += "0: block [] (\n) {\n";
  return out;
}

struct Change {
  const char* name;
  std::string (*change)(const std::string&);
  Level level = Level::robust;
};

constexpr Change kForeign[] = {
    {"empty", [](const std::string&) { return std::string(); }, Level::right},
    {"blanks", [](const std::string&) { return std::string(" \n\t\n  \n"); }},
    {"first_line_alone", [](const std::string&) { return std::string("stripe 1.0\n"); },
     Level::right},
    {"zeros", [](const std::string&) { return std::string(64, '\0'); }},
    {"random_bytes", [](const std::string&) { return of_bytes(4096); }, Level::right},
    {"shared_object",
     [](const std::string&) { return "\x7f" + ("ELF\x02\x01\x01" + std::string(57, '\0')); }},
    {"json",
     [](const std::string&) { return std::string("{\"stripe\": [1, 0], \"main\": {}}\n"); }},
    {"tile",
     [](const std::string&) {
       return std::string("function (A[N], B[N]) -> (R) { R = A + B; }\n");
     }},
    {"c_source", [](const std::string&) { return std::string("int main(void) { return 0; }\n"); }},
    {"spirv",
     [](const std::string&) { return std::string("\x03\x02\x23\x07\x00\x00\x01\x00", 8); }},
    {"utf16", [](const std::string& text) { return wide(text); }},
    {"byte_order_of_utf8_twice",
     [](const std::string& text) { return "\xef\xbb\xbf\xef\xbb\xbf" + text; }},
    {"one_long_word", [](const std::string&) { return std::string(1 << 20, 'x'); }},
    {"many_brackets",
     [](const std::string&) { return "stripe 1.0\n" + std::string(100'000, '('); }},
    {"blocks_without_end", [](const std::string&) { return deep(50'000); }},
};

constexpr Change kCorrupt[] = {
    {"unknown_type", [](const std::string& text) { return with(text, " i32(", " i31("); },
     Level::right},
    {"size_of_letters", [](const std::string& text) { return with(text, "i32(37:", "i32(xy:"); }},
    {"size_beyond_64_bits",
     [](const std::string& text) { return with(text, "i32(37:", "i32(99999999999999999999:"); }},
    {"keyword_with_a_zero_byte",
     [](const std::string& text) { return with(text, "block", std::string_view("bl\0ck", 5)); }},
    {"keyword_of_other_letters",
     [](const std::string& text) {
       return with(text, "block",
                   "bl\xc3\xb6"
                   "ck");
     }},
    {"bracket_missing", [](const std::string& text) { return with(text, ")", ""); }, Level::right},
    {"brace_of_another_kind", [](const std::string& text) { return with(text, "{", "["); }},
    {"brace_too_many", [](const std::string& text) { return text + "}\n"; }},
    {"words_behind_the_end", [](const std::string& text) { return text + "and more\n"; }},
    {"twice", [](const std::string& text) { return text + text; }},
    {"function_without_operands",
     [](const std::string& text) { return with(text, "add.i32(", "add.i32)"); }},
    {"unknown_function",
     [](const std::string& text) { return with(text, "add.i32(", "no_such_function.i32("); }},
};

constexpr const char* kVersions[] = {
    "2.0", "1.999999", "0.1", "one.zero", "1", "99999999999999999999.0", "-1.0", "1.0.0"};

// A compiler that has refused builds what is right, and refuses again.
Finding goes_on(Subject& subject) {
  STRIA_ASSIGN(const Compilation program, sum_program(subject, DataType::i32, 37));
  STRIA_ASSIGN(const Compiler compiler, subject.make_compiler());
  for (uint32_t round = 0; round < 3; ++round) {
    STRIA_RETURN_IF_ERROR(refuses(subject, compiler, std::string("no Stripe")));
    STRIA_RETURN_IF_ERROR(
        refuses(subject, compiler, program.device_text.substr(0, program.device_text.size() / 2)));
    Sums sums;
    sums.type = DataType::i32;
    sums.count = 37;
    STRIA_ASSIGN(Building building, begin_build(subject, compiler, program.device_text));
    STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(building.done));
    STRIA_ASSIGN(sums.built, finish(subject, program, std::move(building.library)));
    STRIA_ASSIGN(const SumTensors tensors, sums.tensors(subject, round));
    STRIA_ASSIGN(const Event done, run_sum(subject, sums, tensors));
    STRIA_RETURN_IF_ERROR(DeviceWork(subject).wait(done));
    STRIA_RETURN_IF_ERROR(tensors.check(subject));
  }
  return {};
}

}  // namespace

void add_bad_text_cases(CaseMaker& maker) {
  for (const Change& one : kForeign)
    add_executable_case(maker, fmt::format("bad_text.foreign.{}", one.name), one.level, kWrong,
                        [&one](Subject& subject) { return refuses(subject, one.change); });
  for (const Change& one : kCorrupt)
    add_executable_case(maker, fmt::format("bad_text.corrupt.{}", one.name), one.level, kTruncated,
                        [&one](Subject& subject) { return refuses(subject, one.change); });
  for (const int percent : {2, 5, 10, 25, 50, 75, 90, 97})
    add_executable_case(maker, fmt::format("bad_text.truncated.{}_percent", percent),
                        percent == 50 || percent == 97 ? Level::right : Level::robust, kTruncated,
                        [percent](Subject& subject) {
                          return refuses(subject, [percent](const std::string& text) {
                            return text.substr(0, text.size() * static_cast<size_t>(percent) / 100);
                          });
                        });
  add_executable_case(
      maker, "bad_text.truncated.last_brace", Level::right, kTruncated, [](Subject& subject) {
        return refuses(subject,
                       [](const std::string& text) { return text.substr(0, text.rfind('}')); });
      });
  for (const std::string_view version : kVersions)
    add_executable_case(maker, fmt::format("bad_text.version.{}", version),
                        version == "2.0" || version == "1.999999" ? Level::right : Level::robust,
                        kVersion, [version](Subject& subject) {
                          return refuses(subject, [version](const std::string& text) {
                            return of_version(text, version);
                          });
                        });
  add_executable_case(maker, "bad_text.compiler_goes_on", Level::right, kNothingWritten, goes_on);
}

}  // namespace stria::conformance
