// SPDX-License-Identifier: Apache-2.0
// How passes find the blocks they work on: by tags.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"
#include "stria/pass/pass_context.h"
#include "stria/pass/tensor_names.h"
#include "stria/stripe/block.h"
#include "stria/stripe/walk.h"

namespace stria {

// invalid_argument if a tag is in `exclude` and in `reqs`, the option at `path` ("/a_reqs"): no
// block could match.
Status check_not_excluded(std::string_view path, const std::vector<std::string>& reqs,
                          const std::vector<std::string>& exclude);

// Calls visit(block, around) for each block that has all tags of `reqs` (none = every block),
// outermost first. The inside of a selected block is not searched. `around`: the tensors of the
// block around it. The visitor may change the block, or replace it.
Status for_each_selected(
    stripe::Program& program, const std::vector<std::string>& reqs,
    const std::function<Status(stripe::Block& block, const TensorNames& around)>& visit);

// As the first, for passes that cut, copy, locate or wrap what they select. The sections #program,
// #main and #prologue stay as they are: they are searched, and if `reqs` selects one, it is counted
// as skipped.
Status for_each_selected_below_sections(
    stripe::Program& program, const std::vector<std::string>& reqs, PassContext& context,
    const std::function<Status(stripe::Block& block, const TensorNames& around)>& visit);

// As the first, with the place of the block: the blocks around it and the ranges of the indices.
void for_each_selected_place(
    stripe::Program& program, const std::vector<std::string>& reqs,
    const std::function<void(stripe::Block& block, const stripe::Place& place)>& visit);

// As the first, for passes that change a block's buffers. The buffers of the #program block are the
// program's interface, so that block is left alone and counted as skipped.
Status for_each_selected_inside(stripe::Program& program, const std::vector<std::string>& reqs,
                                PassContext& context,
                                const std::function<void(stripe::Block& block)>& visit);

// As the first, for kernels alone: the blocks that are statements of #prologue and #main and have
// `reqs`.
Status for_each_kernel(
    stripe::Program& program, const std::vector<std::string>& reqs,
    const std::function<Status(stripe::Block& kernel, const TensorNames& around)>& visit);

}  // namespace stria
