// SPDX-License-Identifier: Apache-2.0
#include "stria/exec/plan.h"

#include <algorithm>
#include <map>
#include <optional>

#include "stria/base/arena.h"
#include "stria/base/text.h"
#include "stria/hal/boundary/error.h"
#include "stria/stripe/walk.h"

namespace stria::exec {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

// The name of a part's refinement -> the tensor and where in it the refinement's view starts.
using PartNames = std::map<std::string, PlannedArgument, std::less<>>;

class Planner {
 public:
  Planner(const stripe::Program& program, const std::vector<hal::KernelInfo>& kernels)
      : program_(program), kernels_(kernels) {}

  Result<Plan> make() {
    plan_.program = program_.entry.name.empty() ? "program" : program_.entry.name;
    const stripe::Block* main = program_.main();
    if (main == nullptr) return invalid_argument("'{}' has no block tagged #main", plan_.program);
    STRIA_RETURN_IF_ERROR(add_program_tensors(*main, program_.prologue()));
    if (const stripe::Block* prologue = program_.prologue()) {
      STRIA_ASSIGN(PartNames names, add_part(*prologue));
      STRIA_RETURN_IF_ERROR(
          add_kernels(hal::ProgramPart::prologue, *prologue, names, plan_.prologue));
    }
    STRIA_ASSIGN(PartNames names, add_part(*main));
    STRIA_RETURN_IF_ERROR(add_kernels(hal::ProgramPart::main, *main, names, plan_.main));
    place_derived();
    return std::move(plan_);
  }

 private:
  Result<size_t> add_tensor(const stripe::Refinement& ref, TensorRole role) {
    if (ref.dir != stripe::RefDir::none)
      return invalid_argument("'{}': the program tensor '{}' is no allocation", plan_.program,
                              ref.into);
    PlannedTensor tensor;
    tensor.name = ref.into;
    tensor.role = role;
    tensor.shape = ref.shape;
    tensor.bytes = static_cast<uint64_t>(ref.shape.span_bytes());
    plan_.tensors.push_back(std::move(tensor));
    return plan_.tensors.size() - 1;
  }

  Status add_program_tensors(const stripe::Block& main, const stripe::Block* prologue) {
    for (const stripe::Refinement& ref : program_.entry.refs) {
      STRIA_ASSIGN(entry_[ref.into], add_tensor(ref, TensorRole::input));
    }
    auto tensor_of = [&](const stripe::Refinement& ref) -> Result<size_t> {
      auto it = entry_.find(ref.from);
      if (it == entry_.end())
        return invalid_argument("'{}': '{}' names the tensor '{}', which the program does not have",
                                plan_.program, ref.into, ref.from);
      return it->second;
    };
    if (prologue != nullptr) {
      for (const stripe::Refinement& ref : prologue->refs) {
        if (ref.dir == stripe::RefDir::none) continue;
        STRIA_ASSIGN(size_t tensor, tensor_of(ref));
        if (ref.dir == stripe::RefDir::in) {
          plan_.tensors[tensor].prologue_reads = true;
        } else {
          plan_.tensors[tensor].role = TensorRole::derived;
        }
      }
    }
    std::vector<bool> listed(plan_.tensors.size());
    auto list = [&](size_t tensor, std::vector<size_t>& where) {
      if (!listed[tensor]) where.push_back(tensor);
      listed[tensor] = true;
    };
    for (const stripe::Refinement& ref : main.refs) {
      if (ref.dir == stripe::RefDir::none || ref.dir == stripe::RefDir::in) continue;
      STRIA_ASSIGN(size_t tensor, tensor_of(ref));
      if (plan_.tensors[tensor].role == TensorRole::derived || plan_.tensors[tensor].prologue_reads)
        return invalid_argument("'{}': both #prologue and #main use '{}', and #main writes it",
                                plan_.program, plan_.tensors[tensor].name);
      plan_.tensors[tensor].role = TensorRole::output;
      plan_.tensors[tensor].dir = ref.dir;
      list(tensor, plan_.outputs);
    }
    for (const stripe::Block* part : {&main, prologue}) {
      if (part == nullptr) continue;
      for (const stripe::Refinement& ref : part->refs) {
        if (ref.dir != stripe::RefDir::in) continue;
        STRIA_ASSIGN(size_t tensor, tensor_of(ref));
        if (plan_.tensors[tensor].role == TensorRole::input) list(tensor, plan_.inputs);
      }
    }
    return Status();
  }

  // Adds the part's temporaries; returns what its kernels may name.
  Result<PartNames> add_part(const stripe::Block& part) {
    PartNames names;
    for (const stripe::Refinement& ref : part.refs) {
      PlannedArgument argument;
      if (ref.dir == stripe::RefDir::none) {
        STRIA_ASSIGN(argument.tensor, add_tensor(ref, TensorRole::temporary));
      } else {
        argument.tensor = entry_.at(ref.from);
        const Affine flat = ref.flat_access();
        if (!flat.is_constant() || flat.constant() < 0)
          return invalid_argument(
              "'{}': the view '{}' of '{}' starts at {}, not at a fixed element", plan_.program,
              ref.into, ref.from, flat.to_string());
        argument.offset = static_cast<uint64_t>(flat.constant() * byte_size(ref.shape.type));
      }
      names[ref.into] = argument;
    }
    return names;
  }

  // What a kernel takes: name in the part, direction.
  using Signature = std::vector<std::pair<std::string, hal::Direction>>;

  static hal::Direction direction_of(stripe::RefDir dir) {
    if (dir == stripe::RefDir::in) return hal::Direction::in;
    return dir == stripe::RefDir::out ? hal::Direction::out : hal::Direction::inout;
  }

  // "(out R, in A)"
  static std::string to_string(const Signature& signature) {
    std::vector<std::string> parts;
    for (const auto& [name, direction] : signature)
      parts.push_back(fmt::format("{} {}",
                                  direction == hal::Direction::in    ? "in"
                                  : direction == hal::Direction::out ? "out"
                                                                     : "inout",
                                  name));
    return fmt::format("({})", join(parts, ", "));
  }

  // What a kernel for the statement has to take.
  Result<Signature> signature_of(const stripe::Block& part, size_t statement) const {
    Signature out;
    const stripe::Statement& stmt = part.stmts[statement];
    if (const stripe::Block* block = stmt.block()) {
      for (const stripe::Refinement* ref : stripe::kernel_arguments(*block))
        out.emplace_back(ref->from, direction_of(ref->dir));
    } else if (const auto* special = stmt.special()) {
      for (const std::string& name : special->outputs) out.emplace_back(name, hal::Direction::out);
      for (const std::string& name : special->inputs) out.emplace_back(name, hal::Direction::in);
    } else {
      return invalid_argument("'{}': statement {} of '{}' is neither a block nor a special",
                              plan_.program, statement, part.name);
    }
    return out;
  }

  // The same for a kernel that runs the whole part.
  static Signature signature_of(const stripe::Block& part) {
    Signature out;
    for (const stripe::Refinement* ref : stripe::kernel_arguments(part))
      out.emplace_back(ref->into, direction_of(ref->dir));
    return out;
  }

  // Is the library's kernel the one that is due? `done`: how many of the part's came before it.
  Status check_kernel(const hal::KernelInfo& info, const stripe::Block& block, size_t done,
                      const PartNames& names) const {
    const bool whole = info.statement == STRIA_WHOLE_PART;
    const std::string what =
        whole ? fmt::format("'{}': the library's kernel '{}' for all of '{}'", plan_.program,
                            info.name, block.name)
              : fmt::format("'{}': the library's kernel '{}' for statement {} of '{}'",
                            plan_.program, info.name, info.statement, block.name);
    if (whole ? done != 0 : info.statement != done || done >= block.stmts.size())
      return make_error(hal::kPluginFault,
                        "{}, which has {} statements, comes where {}: each statement has one "
                        "kernel, in their order, or all have one together",
                        what, block.stmts.size(),
                        done < block.stmts.size()
                            ? fmt::format("that for statement {} is due", done)
                            : "none is due any more");
    Signature expected, listed;
    if (whole) {
      expected = signature_of(block);
    } else {
      STRIA_ASSIGN(expected, signature_of(block, info.statement));
    }
    for (const hal::ArgumentInfo& argument : info.arguments) {
      auto it = names.find(argument.name);
      if (it == names.end())
        return make_error(hal::kPluginFault,
                          "{} has an argument '{}', which is no refinement of '{}'", what,
                          argument.name, block.name);
      // A kernel for all of the part may ask for its temporaries or not.
      if (whole && plan_.tensors[it->second.tensor].role == TensorRole::temporary) continue;
      listed.emplace_back(argument.name, argument.direction);
    }
    if (listed != expected)
      return make_error(hal::kPluginFault, "{} takes {}, the program wants {}", what,
                        to_string(listed), to_string(expected));
    return Status();
  }

  Status add_kernels(hal::ProgramPart part, const stripe::Block& block, const PartNames& names,
                     PlannedPart& out) {
    std::vector<std::vector<hal::Direction>> directions;
    size_t done = 0;  // statements that have their kernel
    for (size_t i = 0; i < kernels_.size(); ++i) {
      const hal::KernelInfo& info = kernels_[i];
      if (info.part != part) continue;
      STRIA_RETURN_IF_ERROR(check_kernel(info, block, done, names));
      done = info.statement == STRIA_WHOLE_PART ? block.stmts.size() : done + 1;
      PlannedKernel kernel;
      kernel.library_index = i;
      kernel.name = info.name;
      kernel.interpreted = info.interpreted;
      directions.emplace_back();
      for (const hal::ArgumentInfo& argument : info.arguments) {
        kernel.arguments.push_back(names.find(argument.name)->second);
        directions.back().push_back(argument.direction);
      }
      out.kernels.push_back(std::move(kernel));
    }
    if (done < block.stmts.size())
      return make_error(hal::kPluginFault,
                        "'{}': the library has no kernel for statement {} of '{}', which has {}",
                        plan_.program, done, block.name, block.stmts.size());
    STRIA_RETURN_IF_ERROR(place_temporaries(out, directions));
    order_kernels(out, directions);
    return Status();
  }

  Status place_temporaries(PlannedPart& part,
                           const std::vector<std::vector<hal::Direction>>& directions) {
    std::vector<size_t> piece_of(plan_.tensors.size(), kNone);
    std::vector<size_t> tensor_of;
    std::vector<ArenaPiece> pieces;
    for (size_t k = 0; k < part.kernels.size(); ++k) {
      const PlannedKernel& kernel = part.kernels[k];
      // Reads first, so that a kernel's own write does not count as the one it reads from.
      for (bool writes : {false, true}) {
        for (size_t a = 0; a < kernel.arguments.size(); ++a) {
          const size_t t = kernel.arguments[a].tensor;
          const PlannedTensor& tensor = plan_.tensors[t];
          if (tensor.role != TensorRole::temporary) continue;
          if (writes != (directions[k][a] == hal::Direction::out)) continue;
          if (piece_of[t] == kNone) {
            if (!writes)
              return invalid_argument(
                  "'{}': kernel '{}' reads '{}', which no kernel before it writes", plan_.program,
                  kernel.name, tensor.name);
            piece_of[t] = pieces.size();
            tensor_of.push_back(t);
            pieces.push_back({tensor.bytes, k, k, 0});
          }
          pieces[piece_of[t]].last_use = k;
        }
      }
    }
    part.arena_bytes = place_pieces(pieces, kArenaAlignment);
    part.live_bytes = peak_live_bytes(pieces, kArenaAlignment);
    for (size_t i = 0; i < pieces.size(); ++i)
      plan_.tensors[tensor_of[i]].offset = pieces[i].offset;
    return Status();
  }

  // Who used a tensor last: what a later use has to wait for.
  struct Users {
    std::optional<uint32_t> writer;
    std::vector<uint32_t> readers;  // since that write
  };

  void order_kernels(PlannedPart& part,
                     const std::vector<std::vector<hal::Direction>>& directions) {
    std::map<size_t, Users> users;
    // Which temporary lies where in the arena: start -> (end, tensor).
    std::map<uint64_t, std::pair<uint64_t, size_t>> occupied;
    for (size_t k = 0; k < part.kernels.size(); ++k) {
      PlannedKernel& kernel = part.kernels[k];
      std::vector<uint32_t>& after = kernel.after;
      auto wait_for = [&](const Users& u) {
        if (u.writer) after.push_back(*u.writer);
        after.insert(after.end(), u.readers.begin(), u.readers.end());
      };
      for (size_t a = 0; a < kernel.arguments.size(); ++a) {
        const size_t t = kernel.arguments[a].tensor;
        const bool first_use = users.find(t) == users.end();
        const PlannedTensor& tensor = plan_.tensors[t];
        if (directions[k][a] == hal::Direction::in) {
          if (users[t].writer) after.push_back(*users[t].writer);
          continue;
        }
        wait_for(users[t]);
        if (first_use && tensor.role == TensorRole::temporary && tensor.bytes > 0)
          for (size_t evicted : occupy(occupied, tensor.offset, tensor.offset + tensor.bytes, t))
            wait_for(users[evicted]);
      }
      for (size_t a = 0; a < kernel.arguments.size(); ++a) {
        Users& u = users[kernel.arguments[a].tensor];
        if (directions[k][a] == hal::Direction::in) {
          u.readers.push_back(static_cast<uint32_t>(k));
        } else {
          u = {static_cast<uint32_t>(k), {}};
        }
      }
      std::sort(after.begin(), after.end());
      after.erase(std::unique(after.begin(), after.end()), after.end());
    }
  }

  // Takes [begin, end) for tensor `t`; returns the tensors that lay there.
  static std::vector<size_t> occupy(std::map<uint64_t, std::pair<uint64_t, size_t>>& occupied,
                                    uint64_t begin, uint64_t end, size_t t) {
    std::vector<size_t> evicted;
    auto it = occupied.upper_bound(begin);
    if (it != occupied.begin()) --it;
    while (it != occupied.end() && it->first < end) {
      const uint64_t other_begin = it->first;
      const auto [other_end, other] = it->second;
      if (other_end <= begin) {
        ++it;
        continue;
      }
      evicted.push_back(other);
      it = occupied.erase(it);
      if (other_begin < begin) occupied[other_begin] = {begin, other};
      if (end < other_end) it = occupied.insert({end, {other_end, other}}).first;
    }
    occupied[begin] = {end, t};
    return evicted;
  }

  void place_derived() {
    for (PlannedTensor& tensor : plan_.tensors) {
      if (tensor.role != TensorRole::derived) continue;
      tensor.offset = plan_.derived_bytes;
      plan_.derived_bytes +=
          (tensor.bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
    }
  }

  const stripe::Program& program_;
  const std::vector<hal::KernelInfo>& kernels_;
  Plan plan_;
  std::map<std::string, size_t, std::less<>> entry_;
};

}  // namespace

Result<Plan> make_plan(const stripe::Program& program,
                       const std::vector<hal::KernelInfo>& kernels) {
  return Planner(program, kernels).make();
}

}  // namespace stria::exec
