// SPDX-License-Identifier: Apache-2.0
#include "stria/lower/lower.h"

#include "stria/lower/lowering.h"
#include "stria/lower/packed_ends.h"
#include "stria/stripe/tags.h"

namespace stria {
namespace {

// A statement may need several.
constexpr size_t kMaxKernels = 300'000;

// Why the statement cannot be lowered, with its place in the program.
Status at_statement(const tile::BoundProgram& program, const tile::BoundStatement& statement,
                    const Status& status) {
  Diagnostics errors(program.source);
  errors.error(statement.span,
               status.code() == StatusCode::unknown
                   ? fmt::format("the index sets of this statement could not be decided: {}",
                                 status.message())
                   : status.message());
  int call = statement.call;
  for (int named = 0; call >= 0 && named < 3; ++named) {
    const tile::BoundCall& inlined = program.calls[static_cast<size_t>(call)];
    errors.note(inlined.span, fmt::format("in this call of '{}'", inlined.function));
    call = inlined.caller;
  }
  return errors.status(status.code());
}

}  // namespace

Result<stripe::Program> lower(const tile::BoundProgram& given, std::vector<Diagnostic>* warnings) {
  using namespace lower_detail;
  const std::optional<PackedEnds> packed = packed_ends(given);
  const tile::BoundProgram& program = packed ? packed->program : given;
  Lowering lowering(program, warnings);
  if (packed)
    for (const PackedStep& step : packed->unpack)
      STRIA_RETURN_IF_ERROR(lower_unpack(lowering, step));
  for (const tile::BoundStatement& statement : program.statements) {
    lowering.begin_statement(statement);
    Status status = std::visit(
        [&](const auto& form) {
          using Form = std::decay_t<decltype(form)>;
          if constexpr (std::is_same_v<Form, tile::BoundContraction>)
            return lower_contraction(lowering, statement, form);
          if constexpr (std::is_same_v<Form, tile::BoundElementwise>)
            return lower_elementwise(lowering, statement, form);
          if constexpr (std::is_same_v<Form, tile::BoundReshape>)
            return lower_reshape(lowering, statement, form);
          if constexpr (std::is_same_v<Form, tile::BoundGather>)
            return lower_gather(lowering, statement, form);
          if constexpr (std::is_same_v<Form, tile::BoundScatter>)
            return lower_scatter(lowering, statement, form);
          if constexpr (std::is_same_v<Form, tile::BoundPrng>)
            return lower_prng(lowering, statement, form);
        },
        statement.form);
    if (status.ok() && lowering.kernel_count() > kMaxKernels)
      status = make_error(StatusCode::out_of_range, "the program needs more than {} kernels",
                          kMaxKernels);
    if (!status.ok()) return at_statement(program, statement, status);
  }
  lowering.begin_statement({});
  if (packed)
    for (const PackedStep& step : packed->pack) STRIA_RETURN_IF_ERROR(lower_pack(lowering, step));

  stripe::Block main;
  main.name = "main";
  main.tags = {stripe::tag::kMain};
  stripe::Program out;
  out.entry.name = program.name;
  out.entry.tags = {stripe::tag::kProgram};
  for (tile::TensorId id : program.inputs) {
    out.entry.refs.push_back(lowering.whole(stripe::RefDir::none, id));
    main.refs.push_back(lowering.whole(stripe::RefDir::in, id));
  }
  for (tile::TensorId id : program.outputs) {
    out.entry.refs.push_back(lowering.whole(stripe::RefDir::none, id));
    main.refs.push_back(lowering.whole(stripe::RefDir::out, id));
  }
  main.refs.reserve(program.tensors.size());
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    tile::TensorId id = static_cast<tile::TensorId>(i);
    const tile::BoundTensor& tensor = program.tensors[i];
    // A tensor without elements that nobody outside sees has no kernel and no place; one that is
    // written as a part of another has no place of its own.
    if (!tensor.is_input && !tensor.is_output && lowering.has_elements(id) &&
        lowering.joined().place(id) == id)
      main.refs.push_back(lowering.whole(stripe::RefDir::none, id));
  }
  main.stmts = lowering.take_kernels();
  out.entry.stmts.emplace_back(std::move(main));
  return out;
}

}  // namespace stria
