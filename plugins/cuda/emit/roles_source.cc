// SPDX-License-Identifier: Apache-2.0
#include "cuda/emit/roles_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "cuda/emit/hopper_instructions.h"
#include "stria/stripe/agents.h"
#include "stria/stripe/tags.h"

namespace stria::cuda {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

constexpr int64_t kWarp = 32, kWarpGroup = 128;
constexpr int64_t kSwizzleBytes = 1024;  // alignment of what has the swizzle of 128 bytes

// Where a view begins in its allocation, over variables of the source.
struct View {
  const Refinement* allocation = nullptr;
  std::vector<Affine> start;  // one form for each dimension
};

struct Scope {
  std::map<std::string, View> views;
  std::map<std::string, Affine> indices;
};

std::string text_of(const Affine& form) {
  std::string out;
  for (const auto& [name, factor] : form.terms()) {
    out += out.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    const int64_t size = factor < 0 ? -factor : factor;
    out += size == 1 ? name : fmt::format("{}*{}", size, name);
  }
  if (out.empty()) return std::to_string(form.constant());
  if (form.constant() != 0)
    out += fmt::format(" {} {}", form.constant() < 0 ? '-' : '+', std::abs(form.constant()));
  return out;
}

Affine offset_of(const View& view) {
  Affine out;
  for (size_t d = 0; d < view.start.size(); ++d)
    out += view.start[d] * view.allocation->shape.dims[d].stride;
  return out;
}

const std::string& unit_of(const Refinement& allocation) {
  static const std::string none;
  return allocation.location.empty() ? none : allocation.location.path.back().name;
}

class Printer {
 public:
  explicit Printer(const stripe::Program& program) : program_(program) {}

  Result<RolesSource> run() {
    const Block* main = program_.main();
    if (main == nullptr || main->stmts.size() != 1 || !main->stmts[0].block())
      return unsupported("a program of one kernel is printed");
    Scope outer;
    for (const Refinement& ref : program_.entry.refs) {
      outer.views[ref.into] = {&ref, std::vector<Affine>(ref.shape.rank())};
      tensors_.push_back(&ref);
    }
    STRIA_ASSIGN(Scope section, enter(*main, outer));
    STRIA_RETURN_IF_ERROR(kernel(*main->stmts[0].block(), section));
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    body_ += std::string(static_cast<size_t>(2 * depth_), ' ') +
             fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  std::string fresh(const std::string& name) { return fmt::format("{}_{}", name, variables_++); }

  // The views and indices of a block. Indices with ranges have got their values before, in
  // `values`.
  Result<Scope> enter(const Block& block, const Scope& outer,
                      const std::map<std::string, Affine>& values = {}) {
    Scope out;
    for (const stripe::Index& index : block.idxs) {
      Affine value = index.affine ? index.affine->substitute(outer.indices) : Affine();
      if (const auto at = values.find(index.name); at != values.end()) value += at->second;
      out.indices[index.name] = value;
    }
    for (const Refinement& ref : block.refs) {
      if (ref.dir == RefDir::none) {
        if (block.tags.has(stripe::tag::kProgram)) continue;
        out.views[ref.into] = {&ref, std::vector<Affine>(ref.shape.rank())};
        continue;
      }
      View view = outer.views.at(ref.from);
      for (size_t d = 0; d < view.start.size(); ++d)
        view.start[d] += ref.access[d].substitute(out.indices);
      out.views[ref.into] = std::move(view);
    }
    return out;
  }

  // Loops over the indices that are in no location.
  Result<std::map<std::string, Affine>> loops(const Block& block,
                                              std::map<std::string, Affine> values) {
    if (!block.constraints.empty())
      return unsupported("block {}: constraints are not printed", block.name);
    for (const stripe::Index& index : block.idxs) {
      if (index.range == 1 || values.contains(index.name)) continue;
      const std::string name = fresh(index.name);
      if (block.tags.has(stripe::tag::kUnroll)) line("#pragma unroll");
      line("for (int {0} = 0; {0} < {1}; ++{0}) {{", name, index.range);
      ++depth_;
      ++open_loops_;
      values[index.name] = Affine::of(name);
    }
    return values;
  }
  void close_loops(int before) {
    for (; open_loops_ > before; --open_loops_) {
      --depth_;
      line("}}");
    }
  }

  // The values of the located indices, if `number` is the number of the unit: form = number.
  Status locate(const Block& block, const Affine& form, const std::string& number,
                std::map<std::string, Affine>& values) {
    std::vector<std::pair<int64_t, std::string>> terms;
    for (const auto& [name, factor] : form.terms()) terms.emplace_back(factor, name);
    std::sort(terms.begin(), terms.end());
    int64_t step = 1;
    const std::string from =
        form.constant() == 0 ? number : fmt::format("({} - {})", number, form.constant());
    for (const auto& [factor, name] : terms) {
      const int64_t range = block.find_index(name)->range;
      if (factor != step)
        return unsupported("block {}: {} does not number its units one after the other", block.name,
                           form.to_string());
      const std::string variable = fresh(name);
      line("const int {} = {}{};", variable, from,
           terms.size() == 1 ? "" : fmt::format(" / {} % {}", step, range));
      values[name] = Affine::of(variable);
      step *= range;
    }
    return Status();
  }

  Status kernel(const Block& block, const Scope& outer) {
    out_.name = block.name.empty() ? "kernel" : "k0_" + block.name;
    depth_ = 1;
    std::map<std::string, Affine> values;
    if (!block.location.empty()) {
      const std::vector<Affine>& units = block.location.path.back().units;
      if (units.size() > 3) return unsupported("block {}: more than three numbers", block.name);
      for (size_t i = 0; i < units.size(); ++i) {
        if (units[i].terms().size() != 1 || units[i].terms()[0].second != 1)
          return unsupported("block {}: a group's number is an index", block.name);
        const std::string& name = units[i].terms()[0].first;
        const size_t axis = units.size() - 1 - i;  // the last number moves fastest
        out_.grid[axis] = block.find_index(name)->range;
        const std::string variable = fresh(name);
        line("const int {} = blockIdx.{};", variable, "xyz"[axis]);
        values[name] = Affine::of(variable);
      }
    }
    STRIA_ASSIGN(Scope scope, enter(block, outer, values));
    for (const Refinement& ref : block.refs)
      if (ref.dir == RefDir::none) STRIA_RETURN_IF_ERROR(shared(ref));
    if (block.stmts.size() != 1 || !block.stmts[0].block() ||
        !block.stmts[0].block()->tags.has(stripe::tag::kRoles))
      return unsupported("block {}: a kernel of one #roles block is printed", block.name);
    const Block& roles = *block.stmts[0].block();
    STRIA_ASSIGN(Scope inside, enter(roles, scope));
    std::string other;  // what stands before the roles, and then they
    std::swap(body_, other);
    line(
        "const int group = threadIdx.x / {}, warp = threadIdx.x / {} % 4, lane = threadIdx.x % {};",
        kWarpGroup, kWarp, kWarp);
    for (const Statement& stmt : roles.stmts) STRIA_RETURN_IF_ERROR(role(*stmt.block(), inside));
    // Who arrives at each barrier is known only now.
    std::swap(body_, other);
    STRIA_RETURN_IF_ERROR(barriers());
    body_ += other;
    for (const TensorMap& map : out_.maps)
      if (std::count(out_.pointers.begin(), out_.pointers.end(), map.tensor) > 0)
        return unsupported("'{}': copies in bulk do not see what lanes have stored", map.tensor);
    finish();
    return Status();
  }

  Status shared(const Refinement& ref) {
    if (unit_of(ref) != "SHARED")
      return unsupported("'{}' is in {}: a kernel allocates in SHARED", ref.into, unit_of(ref));
    const int64_t align = ref.swizzle ? kSwizzleBytes : 16;
    out_.shared_bytes = (out_.shared_bytes + align - 1) / align * align;
    address_[&ref] = out_.shared_bytes;
    int64_t elements = 1;
    for (const Dim& dim : ref.shape.dims) elements += (dim.size - 1) * dim.stride;
    out_.shared_bytes += elements * byte_size(ref.shape.type);
    if (ref.swizzle && !(*ref.swizzle == stripe::Swizzle{3, 3, 6}))
      return unsupported("'{}': only the swizzle of 128 bytes, (3, 3, 6) of halves", ref.into);
    if (holds_phases(ref)) phases_.push_back(&ref);
    return Status();
  }

  // Each warp of a role arrives for itself.
  Status barriers() {
    line("if (threadIdx.x == 0) {{");
    for (const Refinement* ref : phases_) {
      const bool by_role = by_role_.contains(ref);
      if (by_role == by_copies_.contains(ref))
        return unsupported("'{}': either roles or copies arrive at a barrier", ref->into);
      int64_t count = 1;
      for (size_t d = 0; d + 1 < ref->shape.dims.size(); ++d) count *= ref->shape.dims[d].size;
      line("  for (int i = 0; i < {}; ++i) stria_init(shared + {} + 8 * i, {});", count,
           address_[ref],
           *ref->tags.integer(stripe::tag::kArrivals) * (by_role ? kWarpGroup / kWarp : 1));
    }
    line("  asm volatile(\"fence.mbarrier_init.release.cluster;\");");
    line("}}");
    line("__syncthreads();");
    return Status();
  }

  Status role(const Block& block, const Scope& outer) {
    const stripe::LocationUnit& unit = block.location.path.front();
    if (block.location.path.size() != 1 || unit.name != "WARPGROUP" || unit.units.size() != 1)
      return unsupported("block {}: a role is at WARPGROUP[number]", block.name);
    int64_t count = 1;
    for (const auto& [name, factor] : unit.units[0].terms()) count *= block.find_index(name)->range;
    const int64_t first = unit.units[0].constant();
    out_.threads = std::max(out_.threads, (first + count) * kWarpGroup);
    line("if (group >= {} && group < {}) {{{}", first, first + count,
         block.comments.empty() ? "" : "  // " + block.comments[0]);
    ++depth_;
    if (const auto registers = block.tags.integer(stripe::tag::kRegisters))
      line("asm volatile(\"setmaxnreg.{}.sync.aligned.u32 {};\");",
           *registers < kRegistersAtFirst ? "dec" : "inc", *registers);
    std::map<std::string, Affine> values;
    STRIA_RETURN_IF_ERROR(locate(block, unit.units[0], "group", values));
    const int before = open_loops_;
    STRIA_ASSIGN(values, loops(block, values));
    STRIA_ASSIGN(Scope scope, enter(block, outer, values));
    for (const Refinement& ref : block.refs)
      if (ref.dir == RefDir::none && !holds_phases(ref)) STRIA_RETURN_IF_ERROR(registers(ref));
    STRIA_RETURN_IF_ERROR(statements(block, scope));
    close_loops(before);
    --depth_;
    line("}}");
    return Status();
  }

  // Sums of a matrix unit, of which each lane has its slots.
  Status registers(const Refinement& ref) {
    if (unit_of(ref) != "REG" || ref.shape.type != DataType::fp32)
      return unsupported("'{}': roles hold sums in REG", ref.into);
    line("float {}[{}];", ref.into, ref.shape.element_count() / kWarpGroup);
    return Status();
  }

  Status statements(const Block& block, const Scope& scope) {
    for (const Statement& stmt : block.stmts) {
      const Block* inner = stmt.block();
      if (is_wait(stmt)) {
        STRIA_RETURN_IF_ERROR(wait(scope.views.at(stmt.special()->inputs[0])));
      } else if (is_arrive(stmt)) {
        const View& at = scope.views.at(stmt.special()->outputs[0]);
        by_role_.insert(at.allocation);
        line("__syncwarp();");
        line("if (lane == 0) stria_arrive({});", barrier_text(at));
      } else if (inner && inner->tags.has(stripe::tag::kAsync)) {
        STRIA_RETURN_IF_ERROR(async(*inner, scope));
      } else if (inner && inner->location.empty()) {
        const int before = open_loops_;
        STRIA_ASSIGN(auto values, loops(*inner, {}));
        STRIA_ASSIGN(Scope inside, enter(*inner, scope, values));
        STRIA_RETURN_IF_ERROR(statements(*inner, inside));
        close_loops(before);
      } else if (inner) {
        STRIA_RETURN_IF_ERROR(lanes(*inner, scope));
      } else {
        return unsupported("block {}: beside lanes stand blocks, waits and arrivals", block.name);
      }
    }
    return Status();
  }

  std::string barrier_text(const View& view) const {
    return fmt::format("shared + {} + 8 * ({})", address_.at(view.allocation),
                       text_of(offset_of(view)));
  }

  Status wait(const View& view) {
    const Affine& phase = view.start.back();
    if (unit_of(*view.allocation) != "GROUPS") {
      line("stria_wait({}, ({}) & 1);", barrier_text(view), text_of(phase));
      return Status();
    }
    // Groups end in order: those behind the phase may still be under way.
    const auto last = committed_.find(view.allocation);
    if (last == committed_.end() || !(last->second - phase).is_constant())
      return unsupported("'{}': it is not known how many groups are under way",
                         view.allocation->into);
    line("asm volatile(\"wgmma.wait_group.sync.aligned {};\" ::: \"memory\");",
         (last->second - phase).constant());
    return Status();
  }

  Status async(const Block& block, const Scope& outer) {
    STRIA_ASSIGN(Scope scope, enter(block, outer));
    const View* signal = nullptr;
    for (const Refinement& ref : block.refs)
      if (is_written(ref) && holds_phases(*scope.views.at(ref.into).allocation))
        signal = &scope.views.at(ref.into);
    if (signal == nullptr) return unsupported("block {}: it arrives nowhere", block.name);
    const std::string& unit = block.location.path.back().name;
    if (unit == "TMA") return copy(block, scope, *signal);
    if (unit != "TENSOR" || !block.tags.has(stripe::tag::kInOrder))
      return unsupported("block {}: asynchronous are TMA, and TENSOR in order", block.name);
    line("asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");");
    STRIA_RETURN_IF_ERROR(products(block, scope));
    line("asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");");
    committed_[signal->allocation] = signal->start.back();
    return Status();
  }

  // A copy of a box from a tensor, element by element in the same order.
  Status copy(const Block& block, const Scope& scope, const View& signal) {
    const Block* body = block.stmts.size() == 1 ? block.stmts[0].block() : nullptr;
    const stripe::Load* load =
        body && body->stmts.size() == 2 ? std::get_if<stripe::Load>(&body->stmts[0].op) : nullptr;
    const stripe::Store* store = load ? std::get_if<stripe::Store>(&body->stmts[1].op) : nullptr;
    if (!store || store->from != load->into || body->idxs.size() != 2)
      return unsupported("block {}: a bulk copy has two dimensions", block.name);
    const Refinement& from = *body->find_ref(load->from);
    const Refinement& to = *body->find_ref(store->into);
    const View& source = scope.views.at(from.from);
    const View& target = scope.views.at(to.from);
    const Refinement& tensor = *source.allocation;
    const size_t rank = to.access.size();
    for (size_t d = 0; d < 2; ++d)
      if (!(from.access[d] == Affine::of(body->idxs[d].name)) || rank < 2 ||
          !(to.access[rank - 2 + d] == Affine::of(body->idxs[d].name)))
        return unsupported("block {}: a bulk copy keeps the order of elements", block.name);
    TensorMap map{tensor.into,
                  {tensor.shape.dims[1].size, tensor.shape.dims[0].size},
                  tensor.shape.dims[0].stride * byte_size(tensor.shape.type),
                  {body->idxs[1].range, body->idxs[0].range}};
    if (!target.allocation->swizzle || map.box[0] * byte_size(tensor.shape.type) != 128 ||
        map.box[1] > 256)
      return unsupported("block {}: a bulk copy has rows of 128 bytes, 256 at most, swizzled",
                         block.name);
    const auto same = [&](const TensorMap& one) { return one.tensor == map.tensor; };
    if (std::none_of(out_.maps.begin(), out_.maps.end(), same)) out_.maps.push_back(map);
    by_copies_.insert(signal.allocation);
    const int64_t bytes = map.box[0] * map.box[1] * byte_size(tensor.shape.type);
    line("if (threadIdx.x % {} == 0)", kWarpGroup);
    line("  stria_copy(shared + {} + {} * ({}), &map_{}, {}, {}, {}, {});",
         address_.at(target.allocation), byte_size(tensor.shape.type), text_of(offset_of(target)),
         tensor.into, text_of(source.start[1]), text_of(source.start[0]), barrier_text(signal),
         bytes);
    return Status();
  }

  Status products(const Block& block, const Scope& scope) {
    for (const Statement& stmt : block.stmts) {
      const Block* inner = stmt.block();
      if (!inner) return unsupported("block {}: products are blocks", block.name);
      const stripe::TagValue* name = inner->tags.find(stripe::tag::kStencil);
      if (!name) {
        const int before = open_loops_;
        STRIA_ASSIGN(auto values, loops(*inner, {}));
        STRIA_ASSIGN(Scope inside, enter(*inner, scope, values));
        STRIA_RETURN_IF_ERROR(products(*inner, inside));
        close_loops(before);
        continue;
      }
      STRIA_ASSIGN(const Wgmma product, find_wgmma(std::get<std::string>(*name)));
      columns_.insert(product.columns);
      std::map<std::string, View> operands;
      for (const Refinement& ref : inner->refs) operands[ref.into] = scope.views.at(ref.from);
      for (const char* operand : {"A", "B", "C"})
        if (!operands.contains(operand))
          return unsupported("block {}: a product has A, B and C", block.name);
      if (!holds_sums(*operands["C"].allocation))
        return unsupported("'{}' is not held as {} leaves it", operands["C"].allocation->into,
                           std::get<std::string>(*name));
      const auto descriptor = [&](const View& view) {
        return fmt::format("stria_descriptor(shared + {} + 2 * ({}))", address_.at(view.allocation),
                           text_of(offset_of(view)));
      };
      line("stria_product_{}({}, {}, {});", product.columns, operands["C"].allocation->into,
           descriptor(operands["A"]), descriptor(operands["B"]));
    }
    return Status();
  }

  Status lanes(const Block& block, const Scope& outer) {
    std::map<std::string, Affine> values;
    line("{{{}", block.comments.empty() ? "" : "  // " + block.comments[0]);
    ++depth_;
    for (const stripe::LocationUnit& unit : block.location.path) {
      const bool is_warp = unit.name == "WARP";
      if ((!is_warp && unit.name != "LANE") || unit.units.size() != 1)
        return unsupported("block {}: lanes are at WARP[number]/LANE[number]", block.name);
      STRIA_RETURN_IF_ERROR(locate(block, unit.units[0], is_warp ? "warp" : "lane", values));
    }
    for (const auto& [name, value] : values) lane_variables_.insert(value.terms()[0].first);
    const int before = open_loops_;
    STRIA_ASSIGN(values, loops(block, values));
    STRIA_ASSIGN(Scope scope, enter(block, outer, values));
    STRIA_RETURN_IF_ERROR(leaf(block, scope));
    close_loops(before);
    --depth_;
    line("}}");
    return Status();
  }

  // Statements of a lane.
  Status leaf(const Block& block, const Scope& scope) {
    for (const Statement& stmt : block.stmts) {
      if (const Block* inner = stmt.block(); inner && inner->tags.has(stripe::tag::kVector)) {
        STRIA_RETURN_IF_ERROR(pair(*inner, scope));
      } else if (inner) {
        const int before = open_loops_;
        STRIA_ASSIGN(auto values, loops(*inner, {}));
        STRIA_ASSIGN(Scope inside, enter(*inner, scope, values));
        STRIA_RETURN_IF_ERROR(leaf(*inner, inside));
        close_loops(before);
      } else if (const auto* constant = std::get_if<stripe::Constant>(&stmt.op)) {
        line("const float {} = {:#.9g}f;", scalar(constant->into), constant->value.to_double());
      } else if (const auto* load = std::get_if<stripe::Load>(&stmt.op)) {
        STRIA_ASSIGN(const std::string from, element(scope.views.at(load->from)));
        if (scope.views.at(load->from).allocation->shape.type != DataType::fp32)
          return unsupported("block {}: lanes load fp32", block.name);
        line("const float {} = {};", scalar(load->into), from);
      } else if (const auto* store = std::get_if<stripe::Store>(&stmt.op)) {
        if (block.find_ref(store->into)->agg)
          return unsupported("block {}: lanes store and do not aggregate", block.name);
        STRIA_ASSIGN(const std::string to, element(scope.views.at(store->into)));
        const bool half = scope.views.at(store->into).allocation->shape.type == DataType::fp16;
        const std::string& value = scalars_.at(store->from);
        line("{} = {};", to, half ? "stria_half(" + value + ")" : value);
      } else {
        return unsupported("block {}: lanes load, store and have constants", block.name);
      }
    }
    return Status();
  }

  // Two halves beside each other, stored at once.
  Status pair(const Block& block, const Scope& outer) {
    const auto* load =
        block.stmts.size() == 2 ? std::get_if<stripe::Load>(&block.stmts[0].op) : nullptr;
    const auto* store = load ? std::get_if<stripe::Store>(&block.stmts[1].op) : nullptr;
    if (!store || store->from != load->into || block.idxs[0].range != 2)
      return unsupported("block {}: vectors are two halves that are stored", block.name);
    std::string values[2], first;
    Affine places[2];
    for (int64_t v = 0; v < 2; ++v) {
      STRIA_ASSIGN(Scope scope, enter(block, outer, {{block.idxs[0].name, Affine(v)}}));
      STRIA_ASSIGN(values[v], element(scope.views.at(load->from)));
      const View& to = scope.views.at(store->into);
      places[v] = offset_of(to);
      if (v > 0) continue;
      STRIA_ASSIGN(first, element(to));
      if (to.allocation->shape.type != DataType::fp16 || unit_of(*to.allocation) == "REG" ||
          !is_even(places[0]))
        return unsupported("block {}: vectors are two halves of a tensor, at an even place",
                           block.name);
    }
    if (!(places[1] - places[0] == Affine(1)))
      return unsupported("block {}: the halves of a vector lie beside each other", block.name);
    line("*reinterpret_cast<unsigned*>(&{}) = stria_halves({}, {});", first, values[0], values[1]);
    return Status();
  }

  static bool is_even(const Affine& form) {
    bool even = form.constant() % 2 == 0;
    for (const auto& [name, factor] : form.terms()) even &= factor % 2 == 0;
    return even;
  }

  std::string scalar(const std::string& name) { return scalars_[name] = fresh(name); }

  Result<std::string> element(const View& view) {
    const Refinement& ref = *view.allocation;
    if (unit_of(ref) == "REG") return fmt::format("{}[{}]", ref.into, slot_text(view));
    if (std::find(tensors_.begin(), tensors_.end(), &ref) == tensors_.end())
      return unsupported("'{}': lanes touch registers and tensors", ref.into);
    if (std::find(out_.pointers.begin(), out_.pointers.end(), ref.into) == out_.pointers.end())
      out_.pointers.push_back(ref.into);
    return fmt::format("{}[{}]", ref.into, text_of(offset_of(view)));
  }

  // The slot does not depend on which lane it is: the verifier has proved that the lane holds it
  // (S12), and each lane of a block has the same slots.
  std::string slot_text(const View& view) const {
    const stripe::BitFieldForm* slot = nullptr;
    for (const auto& [owner, form] : view.allocation->location.path.back().owners)
      if (owner == "slot") slot = &form;
    std::string out = std::to_string(slot->constant);
    for (const stripe::BitField& field : slot->fields) {
      Affine at = view.start[static_cast<size_t>(field.dim)];
      for (const std::string& lane : lane_variables_) at = at.substitute({{lane, Affine()}});
      out += fmt::format(" + {} * ((({}) >> {}) & {})", field.factor, text_of(at), field.low_bit,
                         (int64_t{1} << field.bits) - 1);
    }
    return out;
  }

  void finish() {
    std::vector<std::string> parameters;
    for (const TensorMap& map : out_.maps)
      parameters.push_back("const __grid_constant__ stria_map map_" + map.tensor);
    for (const std::string& name : out_.pointers)
      for (const Refinement* tensor : tensors_)
        if (tensor->into == name)
          parameters.push_back(
              fmt::format("{}* __restrict__ {}",
                          tensor->shape.type == DataType::fp16 ? "unsigned short" : "float", name));
    out_.text = hopper_preamble();
    for (const int64_t columns : columns_) out_.text += wgmma_function(columns);
    // Dynamic shared memory begins where the runtime likes.
    out_.text += fmt::format(
        "\nextern \"C\" __global__ void __launch_bounds__({}, 1)\n{}({})\n{{\n"
        "  extern __shared__ __align__(1024) unsigned char stria_shared[];\n"
        "  const unsigned shared = stria_address(stria_shared);\n",
        out_.threads, out_.name, fmt::join(parameters, ", "));
    out_.text += body_ + "}\n";
  }

  const stripe::Program& program_;
  RolesSource out_;
  std::string body_;
  int depth_ = 0, open_loops_ = 0, variables_ = 0;
  std::vector<const Refinement*> tensors_, phases_;
  std::map<const Refinement*, int64_t> address_;     // in shared memory
  std::set<const Refinement*> by_role_, by_copies_;  // who arrives at a barrier
  std::map<const Refinement*, Affine> committed_;    // the last phase of groups
  std::map<std::string, std::string> scalars_;
  std::set<std::string> lane_variables_;
  std::set<int64_t> columns_;
};

}  // namespace

Result<RolesSource> print_roles(const stripe::Program& program) { return Printer(program).run(); }

}  // namespace stria::cuda
