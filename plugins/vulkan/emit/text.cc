// SPDX-License-Identifier: Apache-2.0
// A module as text, one instruction a line: `%12 = OpIAdd %uint %10 %uint_4`. Types and constants
// are called what they are, other ids by their OpName or number.
#include <bit>
#include <map>
#include <set>

#include "emit/program.h"
#include "emit/text_tables.h"

namespace stria::vulkan {
namespace {

const Form* form_of(uint32_t op) {
  for (const Form& form : kForms)
    if (static_cast<uint32_t>(form.op) == op) return &form;
  return nullptr;
}

std::string spelled(char kind, uint32_t value) {
  for (const Enumerant& enumerant : kEnumerants)
    if (enumerant.kind == kind && enumerant.value == value) return std::string(enumerant.name);
  return std::to_string(value);
}

std::string text_at(std::span<const uint32_t> words, size_t* next) {
  std::string out;
  while (*next < words.size()) {
    const uint32_t word = words[(*next)++];
    for (int i = 0; i < 4; ++i) {
      const char c = static_cast<char>(word >> (8 * i) & 0xff);
      if (c == '\0') return out;
      out += c;
    }
  }
  return out;
}

class Text {
 public:
  explicit Text(std::span<const uint32_t> words) : words_(words) {}

  Result<std::string> print() {
    STRIA_RETURN_IF_ERROR(read());
    for (const auto& instruction : instructions_) name(instruction);
    std::string out = fmt::format("SPIR-V {}.{}\n", words_[1] >> 16, words_[1] >> 8 & 0xff);
    for (const auto& instruction : instructions_) out += line(instruction) + "\n";
    return out;
  }

 private:
  using Instruction = std::span<const uint32_t>;  // the first word is length and operation

  Status read() {
    if (words_.size() < 5 || words_[0] != spv::MagicNumber)
      return invalid_argument("no SPIR-V module: it begins with {:#x}",
                              words_.empty() ? 0 : words_[0]);
    for (size_t at = 5; at < words_.size();) {
      const size_t length = words_[at] >> 16;
      const uint32_t op = words_[at] & 0xffff;
      if (length == 0 || length > words_.size() - at)
        return invalid_argument(
            "the instruction at word {} of a SPIR-V module has {} words, {} are "
            "left",
            at, length, words_.size() - at);
      const Form* form = form_of(op);
      if (!form)
        return invalid_argument("word {} of a SPIR-V module: operation {} has no name here", at,
                                op);
      size_t needed = 1;
      for (size_t i = 0; i < form->words.size(); ++i)
        if (form->words[i] != 'A' && form->words.substr(i + 1, 1) != "*" && form->words[i] != '*')
          ++needed;
      if (length < needed)
        return invalid_argument("{} at word {} of a SPIR-V module has {} words, it needs {}",
                                form->name, at, length, needed);
      instructions_.push_back(words_.subspan(at, length));
      at += length;
    }
    return {};
  }

  static spv::Op op_of(Instruction instruction) {
    return static_cast<spv::Op>(instruction[0] & 0xffff);
  }

  // ---- names

  void name(uint32_t id, std::string wanted) {
    if (names_.count(id)) return;  // OpName comes first
    for (char& c : wanted)
      if (c == ' ' || c == '%' || c == '\n') c = '_';
    std::string unique = wanted;
    for (int n = 1; !taken_.insert(unique).second; ++n) unique = fmt::format("{}_{}", wanted, n);
    names_[id] = std::move(unique);
  }

  std::string plain(uint32_t id) const {
    auto at = names_.find(id);
    return at == names_.end() ? std::to_string(id) : at->second;
  }

  void name(Instruction x) {
    if (op_of(x) == khr::OpTypeCooperativeMatrixKHR)
      return name(x[1], fmt::format("matrix_{}_{}_{}_{}", plain(x[2]), plain(x[4]), plain(x[5]),
                                    plain(x[6])));
    switch (op_of(x)) {
      case spv::Op::OpName: {
        size_t at = 2;
        return name(x[1], text_at(x, &at));
      }
      case spv::Op::OpTypeVoid: return name(x[1], "void");
      case spv::Op::OpTypeBool: return name(x[1], "bool");
      case spv::Op::OpTypeInt:
        widths_[x[1]] = {x[2], false};
        return name(x[1], (x[3] == 0 ? "uint" : "int") + (x[2] == 32 ? "" : std::to_string(x[2])));
      case spv::Op::OpTypeFloat:
        widths_[x[1]] = {x[2], true};
        if (x.size() > 3) return name(x[1], "bfloat16");
        return name(x[1], x[2] == 16 ? "half" : x[2] == 32 ? "float" : "double");
      case spv::Op::OpTypeVector: return name(x[1], fmt::format("v{}{}", x[3], plain(x[2])));
      case spv::Op::OpTypeArray:
        return name(x[1], fmt::format("array_{}_{}", plain(x[2]), plain(x[3])));
      case spv::Op::OpTypeStruct: return name(x[1], "block");
      case spv::Op::OpTypePointer:
        return name(x[1], fmt::format("ptr_{}_{}", spelled('S', x[2]), plain(x[3])));
      case spv::Op::OpTypeFunction: return name(x[1], "function_" + plain(x[2]));
      case spv::Op::OpConstantTrue: return name(x[2], "true");
      case spv::Op::OpConstantFalse: return name(x[2], "false");
      case spv::Op::OpConstant: return name(x[2], plain(x[1]) + "_" + value(x[1], x.subspan(3)));
      case spv::Op::OpUndef: return name(x[2], "undef_" + plain(x[1]));
      case spv::Op::OpExtInstImport: return name(x[1], "glsl");
      case spv::Op::OpDecorate:
        if (static_cast<spv::Decoration>(x[2]) == spv::Decoration::BuiltIn && x.size() > 3)
          name(x[1], spelled('B', x[3]));
        return;
      default: return;
    }
  }

  std::string value(uint32_t type, Instruction words) const {
    auto at = widths_.find(type);
    const uint64_t bits = words[0] | (words.size() > 1 ? uint64_t{words[1]} << 32 : 0);
    if (at == widths_.end() || !at->second.is_float) return std::to_string(bits);
    if (at->second.bits == 16) return stria::to_string(load_scalar(DataType::fp16, &bits, 0));
    return at->second.bits == 64 ? fmt::format("{}", std::bit_cast<double>(bits))
                                 : fmt::format("{}", std::bit_cast<float>(words[0]));
  }

  // ---- lines

  std::string line(Instruction x) const {
    const Form& form = *form_of(x[0] & 0xffff);
    std::string result, out = std::string(form.name);
    size_t at = 1;
    uint32_t type = 0;
    for (size_t i = 0; i < form.words.size(); ++i) {
      const char kind = form.words[i];
      if (kind == '*') continue;
      const bool many = form.words.substr(i + 1, 1) == "*";
      do {
        if (at >= x.size()) break;
        if (kind == 'r') {
          result = fmt::format("%{} = ", plain(x[at++]));
          continue;
        }
        if (kind == 't') type = x[at];
        out += " " + operand(kind, type, x, &at);
      } while (many && at < x.size());
    }
    // What belongs to the last enumerant.
    for (; at < x.size(); ++at) out += fmt::format(" {}", x[at]);
    return result + out;
  }

  std::string operand(char kind, uint32_t type, Instruction x, size_t* at) const {
    switch (kind) {
      case 't':
      case 'i': return "%" + plain(x[(*at)++]);
      case 'n': return std::to_string(x[(*at)++]);
      case 's': return "\"" + text_at(x, at) + "\"";
      case 'v': {
        std::string out = value(type, x.subspan(*at));
        *at = x.size();
        return out;
      }
      case 'D': {
        std::string out = spelled('D', x[(*at)++]);
        if (out == "BuiltIn" && *at < x.size()) out += " " + spelled('B', x[(*at)++]);
        return out;
      }
      case 'A': return memory_access(x[(*at)++]);
      default: return spelled(kind, x[(*at)++]);
    }
  }

  static std::string memory_access(uint32_t mask) {
    std::string out;
    const auto add = [&](spv::MemoryAccessMask bit, const char* name) {
      if ((mask & static_cast<uint32_t>(bit)) == 0) return;
      out += (out.empty() ? "" : "|") + std::string(name);
      mask &= ~static_cast<uint32_t>(bit);
    };
    add(spv::MemoryAccessMask::Aligned, "Aligned");
    add(spv::MemoryAccessMask::NonPrivatePointer, "NonPrivatePointer");
    if (mask != 0 || out.empty()) out += (out.empty() ? "" : "|") + std::to_string(mask);
    return out;
  }

  struct Width {
    uint32_t bits = 0;
    bool is_float = false;
  };
  std::span<const uint32_t> words_;
  std::vector<Instruction> instructions_;
  std::map<uint32_t, std::string> names_;
  std::set<std::string> taken_;
  std::map<uint32_t, Width> widths_;
};

}  // namespace

Result<std::string> disassemble(std::span<const uint32_t> words) { return Text(words).print(); }

}  // namespace stria::vulkan
