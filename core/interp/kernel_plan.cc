// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/kernel_plan.h"

#include <algorithm>

#include "stria/interp/engine.h"
#include "stria/interp/plan.h"
#include "stria/stripe/walk.h"

namespace stria::interp {

using stripe::RefDir;

Result<KernelPlan> KernelPlan::make(const stripe::Block& section, size_t statement) {
  if (statement >= section.stmts.size())
    return invalid_argument("block {} has {} statements, there is no kernel {}", section.name,
                            section.stmts.size(), statement);
  const stripe::Statement& stmt = section.stmts[statement];
  // What the kernel uses of the section: its name and how.
  std::vector<std::pair<std::string, RefDir>> uses;
  KernelPlan out;
  if (const stripe::Block* kernel = stmt.block()) {
    for (const stripe::Refinement* ref : stripe::kernel_arguments(*kernel))
      uses.emplace_back(ref->from, ref->dir);
    out.name_ = kernel->name;
  } else if (auto* special = stmt.special()) {
    for (const std::string& name : special->outputs) uses.emplace_back(name, RefDir::out);
    for (const std::string& name : special->inputs) uses.emplace_back(name, RefDir::in);
    out.name_ = special->name;
  } else {
    return invalid_argument("statement {} of block {} is neither a block nor a special", statement,
                            section.name);
  }
  if (out.name_.empty()) out.name_ = fmt::format("kernel_{}", statement);

  // A root block of its own: one allocation per argument, which a run binds to the caller's memory.
  // Two arguments may name one tensor; each has its own allocation then.
  stripe::Block root;
  root.name = section.name;
  root.stmts.push_back(stmt);
  root.stmts[0].deps.clear();
  std::vector<std::string> names;
  for (const auto& [name, dir] : uses) {
    const stripe::Refinement* tensor = section.find_ref(name);
    if (!tensor)
      return invalid_argument("kernel {} uses '{}', which block {} does not have", out.name_, name,
                              section.name);
    out.arguments_.push_back({name, tensor->shape, dir});
    stripe::Refinement argument;
    argument.into = fmt::format("{}", names.size());
    argument.shape = tensor->shape;
    argument.access.assign(tensor->shape.rank(), Affine());
    names.push_back(argument.into);
    root.refs.push_back(std::move(argument));
  }
  size_t output = 0, input = 0;
  for (const auto& use : uses) input += use.second != RefDir::in;
  auto next = [&](bool is_input) { return names[is_input ? input++ : output++]; };
  if (stripe::Block* kernel = root.stmts[0].block()) {
    for (stripe::Refinement& ref : kernel->refs)
      if (ref.dir != RefDir::none) ref.from = next(ref.dir == RefDir::in);
  } else {
    auto& special = *root.stmts[0].special();
    for (std::string& name : special.outputs) name = next(false);
    for (std::string& name : special.inputs) name = next(true);
  }
  STRIA_ASSIGN(Plan plan, make_plan(root));
  out.plan_ = std::make_shared<const Plan>(std::move(plan));
  return out;
}

namespace {

// Makes elements of the buffer valid all of whose bytes are written.
void read_written(Buffer& buffer, const unsigned char* written) {
  const int64_t size = byte_size(buffer.type);
  for (int64_t at = buffer.lowest; at < buffer.end; ++at) {
    const unsigned char* bytes = written + at * size;
    buffer.set_valid(at, std::all_of(bytes, bytes + size, [](unsigned char b) { return b != 0; }));
  }
}

// What has become of elements. Those that are as they were are left alone: another argument may
// have the same memory.
void keep_written(const Buffer& buffer, const std::vector<bool>& before, unsigned char* written) {
  const int64_t size = byte_size(buffer.type);
  for (int64_t at = buffer.lowest; at < buffer.end; ++at)
    if (const bool now = buffer.is_valid(at);
        now != before[static_cast<size_t>(at - buffer.lowest)])
      std::fill_n(written + at * size, size, static_cast<unsigned char>(now));
}

}  // namespace

Status KernelPlan::run(void* const* arguments, const InterpOptions& options) const {
  const std::vector<unsigned char*> all(arguments_.size(), nullptr);
  return run(arguments, all.data(), options);
}

Status KernelPlan::run(void* const* arguments, unsigned char* const* written,
                       const InterpOptions& options) const {
  Engine<false> engine(*plan_, options);
  std::vector<std::vector<bool>> before(arguments_.size());
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!arguments[i] && arguments_[i].shape.element_count() > 0)
      return invalid_argument("kernel {}: argument {} ({}) has no memory", name_, i,
                              arguments_[i].name);
    const bool partly = written[i] != nullptr;
    Buffer buffer = Buffer::wrap(arguments[i], arguments_[i].shape, partly, false);
    if (partly) {
      buffer.of_caller = false;
      read_written(buffer, written[i]);
      if (arguments_[i].dir != RefDir::in)
        for (int64_t at = buffer.lowest; at < buffer.end; ++at)
          before[i].push_back(buffer.is_valid(at));
    }
    engine.bind(i, std::move(buffer));
  }
  STRIA_RETURN_IF_ERROR(engine.run());
  for (size_t i = 0; i < arguments_.size(); ++i)
    if (written[i] && arguments_[i].dir != RefDir::in)
      keep_written(engine.buffer_of(i), before[i], written[i]);
  return {};
}

}  // namespace stria::interp
