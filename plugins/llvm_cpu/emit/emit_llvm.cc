// SPDX-License-Identifier: Apache-2.0
#include "emit/emit_llvm.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "emit/lane_math.h"
#include "stria/base/status.h"
#include "stria/semtree/tree/expr.h"

namespace stria::llvm_cpu {
namespace {

using namespace stria::semtree;
using llvm::Intrinsic::ID;

const char* const kMathFunctions[] = {"exp",   "log",   "pow",   "sin",  "cos",  "tan",
                                      "asin",  "acos",  "atan",  "sinh", "cosh", "tanh",
                                      "asinh", "acosh", "atanh", "fmod"};

// How the x86-64 vector ABI names a function: _ZGV<width letter>N<lanes>v[v]_<name>.
std::string vector_symbol(const std::string& callee, DataType type, int bytes) {
  const char letter = bytes == 64 ? 'e' : bytes == 32 ? 'd' : 'b';
  return fmt::format("_ZGV{}N{}{}_{}{}", letter, bytes / byte_size(type),
                     callee == "pow" ? "vv" : "v", callee, type == DataType::fp32 ? "f" : "");
}

class Emitter {
 public:
  Emitter(const semtree::Function& function, const EmitOptions& options, llvm::Module& module)
      : fn_(function),
        options_(options),
        module_(module),
        context_(module.getContext()),
        b_(context_) {
    llvm::FastMathFlags flags;
    flags.setAllowContract(true);
    if (options.fast_math) {
      flags.setAllowReassoc(true);
      flags.setNoSignedZeros(true);
      flags.setAllowReciprocal(true);
      flags.setApproxFunc(true);
    }
    b_.setFastMathFlags(flags);
  }

  void run(const std::string& symbol) {
    llvm::Function* body = emit_body(symbol + ".points");
    const std::vector<size_t> streamed = streamed_params();
    llvm::Function* streaming = nullptr;
    if (!streamed.empty()) {
      stream_ = true;
      streaming = emit_body(symbol + ".streaming");
    }
    llvm::Type* ptr = b_.getPtrTy();
    auto* type =
        llvm::FunctionType::get(b_.getVoidTy(), {ptr, b_.getInt64Ty(), b_.getInt64Ty()}, false);
    auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module_);
    entry->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "", entry));
    std::vector<llvm::Value*> args;
    for (size_t i = 0; i < fn_.params.size(); ++i)
      args.push_back(b_.CreateLoad(ptr, b_.CreateConstGEP1_64(ptr, entry->getArg(0), i)));
    args.push_back(entry->getArg(1));
    args.push_back(entry->getArg(2));
    if (!streaming) {
      b_.CreateCall(body, args);
      b_.CreateRetVoid();
      return;
    }
    // Such stores need aligned addresses. Whoever waits for the kernel has to find them done.
    llvm::Value* bits = b_.getInt64(0);
    for (size_t i : streamed) bits = b_.CreateOr(bits, b_.CreatePtrToInt(args[i], b_.getInt64Ty()));
    bits = b_.CreateAnd(bits, static_cast<uint64_t>(options_.vector_bytes - 1));
    auto* aligned = llvm::BasicBlock::Create(context_, "", entry);
    auto* other = llvm::BasicBlock::Create(context_, "", entry);
    b_.CreateCondBr(b_.CreateICmpEQ(bits, b_.getInt64(0)), aligned, other);
    b_.SetInsertPoint(aligned);
    b_.CreateCall(streaming, args);
    b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
    b_.CreateRetVoid();
    b_.SetInsertPoint(other);
    b_.CreateCall(body, args);
    b_.CreateRetVoid();
  }

 private:
  // ---- types
  llvm::Type* scalar_type(DataType type) {
    switch (type) {
      case DataType::boolean: return b_.getInt1Ty();
      case DataType::fp16: return b_.getHalfTy();
      case DataType::bf16: return b_.getInt16Ty();
      case DataType::fp32: return b_.getFloatTy();
      case DataType::fp64: return b_.getDoubleTy();
      default: return b_.getIntNTy(bit_width(type));
    }
  }
  llvm::Type* with_lanes(llvm::Type* type, int lanes) {
    return lanes == 1 ? type : llvm::FixedVectorType::get(type, lanes);
  }
  llvm::Type* value_type(Type type) { return with_lanes(scalar_type(type.scalar), type.lanes); }
  // bool is a byte in memory.
  llvm::Type* memory_type(Type type) {
    return type.scalar == DataType::boolean ? with_lanes(b_.getInt8Ty(), type.lanes)
                                            : value_type(type);
  }

  // ---- function
  // The parameters that the kernel stores to past the caches.
  std::vector<size_t> streamed_params() const {
    std::vector<size_t> out;
    walk(fn_.body, [&](const Statement& statement) {
      const auto* s = std::get_if<Store>(&statement.op);
      if (!s || !s->stream) return;
      const auto param = static_cast<size_t>(s->place.memory);
      if (std::find(out.begin(), out.end(), param) == out.end()) out.push_back(param);
    });
    return out;
  }

  llvm::Function* emit_body(const std::string& name) {
    arrays_.clear();
    std::vector<llvm::Type*> types(fn_.params.size(), b_.getPtrTy());
    types.push_back(b_.getInt64Ty());
    types.push_back(b_.getInt64Ty());
    function_ = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), types, false),
                                       llvm::Function::InternalLinkage, name, module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    function_->addFnAttr(llvm::Attribute::NoInline);
    // Wide registers are used where vectors are explicit; "min-legal-vector-width" must stay
    // absent.
    function_->addFnAttr("prefer-vector-width", std::to_string(options_.vector_bytes * 8));
    for (size_t i = 0; i < fn_.params.size(); ++i) {
      llvm::Argument* arg = function_->getArg(i);
      arg->setName(fn_.params[i].name);
      arg->addAttr(llvm::Attribute::NoCapture);
      if (!fn_.params[i].writable) arg->addAttr(llvm::Attribute::ReadOnly);
      if (!shares_written_memory(i)) arg->addAttr(llvm::Attribute::NoAlias);
    }
    entry_ = llvm::BasicBlock::Create(context_, "", function_);
    b_.SetInsertPoint(entry_);
    values_.assign(fn_.vars.size(), nullptr);
    make_arrays();
    llvm::Type* index = scalar_type(fn_.index_type);
    llvm::Value* first = b_.CreateTrunc(function_->getArg(fn_.params.size()), index);
    llvm::Value* last = b_.CreateTrunc(function_->getArg(fn_.params.size() + 1), index);
    loop(fn_.parallel_var, first, last, false, fn_.body);
    b_.CreateRetVoid();
    return function_;
  }

  bool shares_written_memory(size_t i) const {
    const Parameter& param = fn_.params[i];
    return std::any_of(fn_.params.begin(), fn_.params.end(), [&](const Parameter& other) {
      return &other != &param && other.alias_group == param.alias_group &&
             (other.writable || param.writable);
    });
  }

  void make_arrays() {
    for (const Array& array : fn_.arrays) {
      auto& slots = arrays_.emplace_back();
      if (array.in_registers) continue;  // made when they are used
      slots[0] =
          b_.CreateAlloca(memory_type({array.type, 1}), b_.getInt64(array.count), array.name);
      slots[0]->setAlignment(llvm::Align(64));
    }
  }

  // Runs `body` for var = lower .. upper - 1. The loop is tested at the end of each pass, and
  // before the first pass unless `runs` says that there is one.
  void loop(int var, llvm::Value* lower, llvm::Value* upper, bool runs, const Body& body) {
    auto* turn = llvm::BasicBlock::Create(context_, fn_.vars[var].name, function_);
    auto* done = llvm::BasicBlock::Create(context_, "", function_);
    llvm::BasicBlock* before = b_.GetInsertBlock();
    if (runs) {
      b_.CreateBr(turn);
    } else {
      b_.CreateCondBr(b_.CreateICmpSLT(lower, upper), turn, done);
    }
    b_.SetInsertPoint(turn);
    llvm::PHINode* index = b_.CreatePHI(lower->getType(), 2, fn_.vars[var].name);
    index->addIncoming(lower, before);
    values_[var] = index;
    statements(body);
    llvm::Value* next = b_.CreateNSWAdd(index, llvm::ConstantInt::get(index->getType(), 1));
    index->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(next, upper), turn, done);
    b_.SetInsertPoint(done);
  }

  void statements(const Body& body) {
    transposed_.clear();
    for (const Statement& statement : body) {
      if (auto* s = std::get_if<Let>(&statement.op)) {
        values_[s->var] = expr(*s->value);
      } else if (auto* s = std::get_if<Load>(&statement.op)) {
        values_[s->var] = load(s->place);
        if (s->prefetch != 0) prefetch(s->place, s->prefetch, false);
      } else if (auto* s = std::get_if<Store>(&statement.op)) {
        store(s->place, expr(*s->value), s->stream && stream_);
        if (s->prefetch != 0) prefetch(s->place, s->prefetch, true);
      } else if (auto* s = std::get_if<For>(&statement.op)) {
        llvm::Value* lower = expr(*s->lower);
        llvm::Value* upper = expr(*s->upper);
        auto* low = llvm::dyn_cast<llvm::ConstantInt>(lower);
        auto* high = llvm::dyn_cast<llvm::ConstantInt>(upper);
        loop(s->var, lower, upper, low && high && low->getSExtValue() < high->getSExtValue(),
             s->body);
      } else if (auto* s = std::get_if<If>(&statement.op)) {
        // Steps that are fetched ahead are those of lanes.
        STRIA_CHECK(s->kept.empty(), "kernel '{}' keeps what a condition loads", fn_.name);
        llvm::Value* condition = expr(*s->condition);
        auto* then = llvm::BasicBlock::Create(context_, "", function_);
        auto* done = llvm::BasicBlock::Create(context_, "", function_);
        b_.CreateCondBr(condition, then, done);
        b_.SetInsertPoint(then);
        statements(s->then);
        b_.CreateBr(done);
        b_.SetInsertPoint(done);
      } else if (auto* s = std::get_if<Prefetch>(&statement.op)) {
        prefetch(s->place, 0, s->writes);
      } else {
        STRIA_CHECK(false, "kernel '{}' has a barrier", fn_.name);
      }
    }
    transposed_.clear();
  }

  // ---- memory
  llvm::AllocaInst* register_slot(const Place& place) {
    if (fn_.is_param(place.memory)) return nullptr;
    const Array& array = fn_.array(place.memory);
    if (!array.in_registers) return nullptr;
    llvm::AllocaInst*& slot =
        arrays_[place.memory - fn_.params.size()][place.constant / array.slot_lanes];
    if (!slot) {
      llvm::IRBuilder<> at_entry(entry_, entry_->begin());
      slot = at_entry.CreateAlloca(value_type({array.type, array.slot_lanes}), nullptr, array.name);
    }
    return slot;
  }

  // ---- one lane of each of several register slots
  // If there are as many slots as lanes, they are transposed together. Each step joins twice as
  // many rows of half as many columns. What a step has made serves several columns.
  struct Transposed {
    int block = 1;  // lanes that lie in 16 bytes
    std::vector<llvm::Value*> rows;
    std::map<std::tuple<int, int, int>, llvm::Value*> parts;
  };

  // First the blocks of 16 bytes are transposed, each in its place, by interleaving runs of 1, 2, …
  // lanes: in the end, part h has column h of each block, row by row. Then whole blocks are joined,
  // those of the upper rows first: part h * blocks + b has column h of block b. Both are single
  // operations of the processors, without a table.
  llvm::Value* transposed_part(Transposed& transposed, int step, int group, int part) {
    if (step == 0) return transposed.rows[static_cast<size_t>(group)];
    llvm::Value*& value = transposed.parts[{step, group, part}];
    if (value) return value;
    llvm::Value* upper = transposed_part(transposed, step - 1, 2 * group, part / 2);
    llvm::Value* lower = transposed_part(transposed, step - 1, 2 * group + 1, part / 2);
    const int lanes = static_cast<int>(transposed.rows.size()), block = transposed.block;
    const int run = 1 << (step - 1);  // rows of each of the two
    std::vector<int> from;
    for (int lane = 0; lane < lanes; ++lane) {
      if (run < block) {
        const int at = lane % block, column = at / (2 * run), row = at % (2 * run);
        from.push_back((row / run) * lanes + lane / block * block + part % 2 * (block / 2) +
                       column * run + row % run);
      } else {
        const int half = lanes / 2, at = lane % half;
        const int columns = lanes / run;  // lanes in a row of blocks of the same rows
        from.push_back(lane / half * lanes + at / (columns * block / 2) * columns * block +
                       part % 2 * (columns * block / 2) + at % (columns * block / 2));
      }
    }
    return value = b_.CreateShuffleVector(upper, lower, from);
  }

  llvm::Value* load_across(const Place& place) {
    const int lanes = fn_.array(place.memory).slot_lanes;
    const int lane = static_cast<int>(place.constant % lanes);
    Transposed& transposed = transposed_[{place.memory, place.constant - lane, place.stride}];
    for (int l = static_cast<int>(transposed.rows.size()); l < place.lanes; ++l) {
      Place slot{.memory = place.memory,
                 .constant = place.constant - lane + l * place.stride,
                 .lanes = lanes};
      transposed.rows.push_back(load(slot));
    }
    if (place.lanes == lanes && std::has_single_bit(static_cast<unsigned>(lanes))) {
      const auto bytes = static_cast<int>(byte_size(fn_.element_type(place.memory)));
      transposed.block = std::min(lanes, 16 / bytes);
      const int part =
          lane % transposed.block * (lanes / transposed.block) + lane / transposed.block;
      return transposed_part(transposed, std::countr_zero(static_cast<unsigned>(lanes)), 0, part);
    }
    llvm::Value* value =
        llvm::PoisonValue::get(value_type({fn_.element_type(place.memory), place.lanes}));
    for (int l = 0; l < place.lanes; ++l) {
      llvm::Value* row = transposed.rows[static_cast<size_t>(l)];
      value =
          b_.CreateInsertElement(value, lanes == 1 ? row : b_.CreateExtractElement(row, lane), l);
    }
    return value;
  }

  // Of the first lane; a vector of pointers if the offset is a vector.
  llvm::Value* address(const Place& place) {
    llvm::Value* base = fn_.is_param(place.memory)
                            ? static_cast<llvm::Value*>(function_->getArg(place.memory))
                            : arrays_[place.memory - fn_.params.size()][0];
    llvm::Type* element = memory_type({fn_.element_type(place.memory), 1});
    if (place.offset) base = b_.CreateGEP(element, base, expr(*place.offset));
    if (place.constant != 0) base = b_.CreateGEP(element, base, b_.getInt64(place.constant));
    return base;
  }
  llvm::Value* lane_addresses(const Place& place) {
    llvm::Value* base = address(place);
    if (base->getType()->isVectorTy()) return base;
    std::vector<llvm::Constant*> steps;
    const bool narrow = std::abs(place.stride) < (int64_t{1} << 30) / place.lanes;
    for (int i = 0; i < place.lanes; ++i)
      steps.push_back(narrow ? b_.getInt32(static_cast<uint32_t>(i * place.stride))
                             : b_.getInt64(i * place.stride));
    return b_.CreateGEP(memory_type({fn_.element_type(place.memory), 1}), base,
                        llvm::ConstantVector::get(steps));
  }
  llvm::Align alignment(const Place& place) {
    return llvm::Align(byte_size(fn_.element_type(place.memory)));
  }
  bool scattered(const Place& place) {
    return place.lanes > 1 && (place.stride != 1 || (place.offset && place.offset->type.lanes > 1));
  }

  llvm::Value* load(const Place& place) {
    const Type type{fn_.element_type(place.memory), place.lanes};
    if (!fn_.is_param(place.memory) && fn_.array(place.memory).in_registers && place.lanes > 1 &&
        place.stride != 1)
      return load_across(place);
    if (llvm::AllocaInst* slot = register_slot(place))
      return b_.CreateLoad(slot->getAllocatedType(), slot);
    llvm::Type* memory = memory_type(type);
    llvm::Value* value;
    llvm::Value* mask = place.mask ? expr(*place.mask) : nullptr;
    if (scattered(place)) {
      value = b_.CreateMaskedGather(memory, lane_addresses(place), alignment(place), mask,
                                    mask ? llvm::Constant::getNullValue(memory) : nullptr);
    } else if (mask) {
      value = b_.CreateMaskedLoad(memory, address(place), alignment(place), mask,
                                  llvm::Constant::getNullValue(memory));
    } else {
      value = b_.CreateAlignedLoad(memory, address(place), alignment(place));
    }
    return type.scalar == DataType::boolean
               ? b_.CreateICmpNE(value, llvm::Constant::getNullValue(memory))
               : value;
  }

  // Prefetches the lines of the lanes, `ahead` elements further on.
  void prefetch(const Place& place, int64_t ahead, bool writes) {
    constexpr int64_t kLine = 64;
    llvm::Type* element = memory_type({fn_.element_type(place.memory), 1});
    const int64_t bytes = byte_size(fn_.element_type(place.memory));
    for (int64_t at = 0; at < place.lanes * bytes; at += kLine)
      b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                         {b_.CreateGEP(element, address(place), b_.getInt64(ahead + at / bytes)),
                          b_.getInt32(writes ? 1 : 0), b_.getInt32(3), b_.getInt32(1)});
  }

  void store(const Place& place, llvm::Value* value, bool past_caches) {
    if (llvm::AllocaInst* slot = register_slot(place)) {
      transposed_.clear();
      b_.CreateStore(value, slot);
      return;
    }
    const Type type{fn_.element_type(place.memory), place.lanes};
    if (type.scalar == DataType::boolean) value = b_.CreateZExt(value, memory_type(type));
    llvm::Value* mask = place.mask ? expr(*place.mask) : nullptr;
    if (scattered(place)) {
      b_.CreateMaskedScatter(value, lane_addresses(place), alignment(place), mask);
    } else if (mask) {
      b_.CreateMaskedStore(value, address(place), alignment(place), mask);
    } else {
      llvm::StoreInst* store = b_.CreateAlignedStore(value, address(place), alignment(place));
      if (past_caches) {
        const int64_t bytes = place.lanes * byte_size(fn_.element_type(place.memory));
        store->setAlignment(llvm::Align(std::min<int64_t>(bytes & -bytes, options_.vector_bytes)));
        store->setMetadata(
            llvm::LLVMContext::MD_nontemporal,
            llvm::MDNode::get(context_, llvm::ConstantAsMetadata::get(b_.getInt32(1))));
      }
    }
  }

  // ---- expressions
  llvm::Value* expr(const Expr& e) {
    switch (e.kind) {
      case ExprKind::constant: return splat(constant(e.value), e.type.lanes);
      case ExprKind::variable: return values_[e.var];
      case ExprKind::iota: {
        std::vector<llvm::Constant*> lanes;
        for (int i = 0; i < e.type.lanes; ++i)
          lanes.push_back(llvm::ConstantInt::get(scalar_type(e.type.scalar), i));
        return llvm::ConstantVector::get(lanes);
      }
      case ExprKind::broadcast: return splat(expr(*e.args[0]), e.type.lanes);
      case ExprKind::lane:
        return b_.CreateExtractElement(expr(*e.args[0]), static_cast<uint64_t>(e.value.i));
      case ExprKind::convert:
        return convert(expr(*e.args[0]), e.args[0]->type.scalar, e.type.scalar, e.type.lanes);
      case ExprKind::reinterpret: return b_.CreateBitCast(expr(*e.args[0]), value_type(e.type));
      case ExprKind::call: return call(e);
      case ExprKind::reduce: return reduce(e);
      case ExprKind::operation: break;
    }
    if (const std::optional<FloatExtreme> extreme = as_float_extreme(e);
        extreme && (e.type.scalar == DataType::fp32 || e.type.scalar == DataType::fp64))
      return larger_or_smaller(*extreme);
    std::vector<llvm::Value*> x;
    for (const ExprRef& arg : e.args) x.push_back(expr(*arg));
    llvm::FastMathFlags saved = b_.getFastMathFlags();
    llvm::FastMathFlags flags = saved;
    if (e.reassociate) {
      // The order of a sum decides the sign of a zero, so that is free too.
      flags.setAllowReassoc(true);
      flags.setNoSignedZeros(true);
    }
    b_.setFastMathFlags(flags);
    llvm::Value* value = operation(e, x);
    b_.setFastMathFlags(saved);
    return value;
  }

  // One operation of the processor, and a test for NaN that the next step need not wait for.
  llvm::Value* larger_or_smaller(const FloatExtreme& extreme) {
    llvm::FastMathFlags flags = b_.getFastMathFlags();
    flags.setNoSignedZeros(true);
    const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
    b_.setFastMathFlags(flags);
    return b_.CreateBinaryIntrinsic(
        extreme.op == Op::max ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum,
        expr(*extreme.a), expr(*extreme.b));
  }

  llvm::Constant* constant(const Scalar& value) {
    llvm::Type* type = scalar_type(value.type);
    if (value.type == DataType::bf16) {
      uint16_t bits = 0;
      store_scalar(value.type, &bits, 0, value);
      return b_.getInt16(bits);
    }
    if (is_float(value.type)) return llvm::ConstantFP::get(type, value.f);
    return llvm::ConstantInt::get(type, static_cast<uint64_t>(value.i), true);
  }

  llvm::Value* splat(llvm::Value* value, int lanes) {
    return lanes == 1 ? value : b_.CreateVectorSplat(lanes, value);
  }

  llvm::Value* operation(const Expr& e, const std::vector<llvm::Value*>& x) {
    const DataType type = e.args.back()->type.scalar;
    const bool real = is_float(type);
    const bool is_signed = is_signed_integer(type);
    const auto math = [&](ID id) { return b_.CreateUnaryIntrinsic(id, x[0]); };
    switch (e.op) {
      case Op::neg: return real ? b_.CreateFNeg(x[0]) : b_.CreateNeg(x[0]);
      case Op::bit_not:
      case Op::logical_not: return b_.CreateNot(x[0]);
      case Op::abs:
        return real ? math(llvm::Intrinsic::fabs)
                    : b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x[0], b_.getFalse());
      case Op::sqrt: return math(llvm::Intrinsic::sqrt);
      case Op::floor: return math(llvm::Intrinsic::floor);
      case Op::ceil: return math(llvm::Intrinsic::ceil);
      case Op::round_even: return math(llvm::Intrinsic::roundeven);
      case Op::round_away: return math(llvm::Intrinsic::round);
      case Op::trunc: return math(llvm::Intrinsic::trunc);
      case Op::add: return real ? b_.CreateFAdd(x[0], x[1]) : b_.CreateAdd(x[0], x[1]);
      case Op::sub: return real ? b_.CreateFSub(x[0], x[1]) : b_.CreateSub(x[0], x[1]);
      case Op::mul: return real ? b_.CreateFMul(x[0], x[1]) : b_.CreateMul(x[0], x[1]);
      case Op::div:
        if (type == DataType::fp32 && e.type.lanes > 1 && e.args[1]->kind == ExprKind::broadcast)
          return divided_by_one(x[0], x[1]);
        return real        ? b_.CreateFDiv(x[0], x[1])
               : is_signed ? b_.CreateSDiv(x[0], x[1])
                           : b_.CreateUDiv(x[0], x[1]);
      case Op::rem:
        return real        ? b_.CreateFRem(x[0], x[1])
               : is_signed ? b_.CreateSRem(x[0], x[1])
                           : b_.CreateURem(x[0], x[1]);
      case Op::floor_div: {
        // Truncated quotient, one less where the remainder is negative.
        llvm::Value* quotient = b_.CreateSDiv(x[0], x[1]);
        llvm::Value* remainder = b_.CreateSRem(x[0], x[1]);
        llvm::Value* below =
            b_.CreateICmpSLT(remainder, llvm::Constant::getNullValue(remainder->getType()));
        return b_.CreateAdd(quotient, b_.CreateSExt(below, quotient->getType()));
      }
      case Op::min:
        return b_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin,
                                        x[0], x[1]);
      case Op::max:
        return b_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax,
                                        x[0], x[1]);
      case Op::bit_and: return b_.CreateAnd(x[0], x[1]);
      case Op::bit_or: return b_.CreateOr(x[0], x[1]);
      case Op::bit_xor: return b_.CreateXor(x[0], x[1]);
      case Op::shift_left: return b_.CreateShl(x[0], x[1]);
      case Op::shift_right:
        return is_signed ? b_.CreateAShr(x[0], x[1]) : b_.CreateLShr(x[0], x[1]);
      case Op::eq: return real ? b_.CreateFCmpOEQ(x[0], x[1]) : b_.CreateICmpEQ(x[0], x[1]);
      case Op::ne: return real ? b_.CreateFCmpUNE(x[0], x[1]) : b_.CreateICmpNE(x[0], x[1]);
      case Op::lt:
        return real        ? b_.CreateFCmpOLT(x[0], x[1])
               : is_signed ? b_.CreateICmpSLT(x[0], x[1])
                           : b_.CreateICmpULT(x[0], x[1]);
      case Op::le:
        return real        ? b_.CreateFCmpOLE(x[0], x[1])
               : is_signed ? b_.CreateICmpSLE(x[0], x[1])
                           : b_.CreateICmpULE(x[0], x[1]);
      case Op::fma:
        return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {x[0]->getType()}, {x[0], x[1], x[2]});
      case Op::select: return b_.CreateSelect(x[0], x[1], x[2]);
    }
    return nullptr;
  }

  // fp32 lanes by a number that all of them share, which loops often leave as it is: multiplied by
  // its reciprocal, off by 1.5 ULP. Very large and very small numbers are brought to where that is
  // a normal number, which a power of two makes good.
  llvm::Value* divided_by_one(llvm::Value* x, llvm::Value* divisor) {
    llvm::Value* number = b_.CreateExtractElement(divisor, uint64_t{0});
    llvm::Type* type = number->getType();
    const auto constant = [&](double value) { return llvm::ConstantFP::get(type, value); };
    llvm::Value* size = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, number);
    llvm::Value* factor =
        b_.CreateSelect(b_.CreateFCmpOGE(size, constant(0x1p126)), constant(0x1p-4), constant(1));
    factor = b_.CreateSelect(b_.CreateFCmpOLT(size, constant(0x1p-125)), constant(0x1p25), factor);
    llvm::Value* reciprocal = b_.CreateFDiv(constant(1), b_.CreateFMul(number, factor));
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements();
    return b_.CreateFMul(b_.CreateFMul(x, b_.CreateVectorSplat(lanes, reciprocal)),
                         b_.CreateVectorSplat(lanes, factor));
  }

  // The largest or smallest lane, NaN if any is. NaN is looked for once, not at each step.
  llvm::Value* extreme(llvm::Value* x, bool largest) {
    llvm::Value* any_nan = b_.CreateOrReduce(b_.CreateFCmpUNO(x, x));
    llvm::Value* value = extreme_but_nan(x, largest);
    return b_.CreateSelect(any_nan, llvm::ConstantFP::getNaN(value->getType()), value);
  }
  llvm::Value* extreme_but_nan(llvm::Value* x, bool largest) {
    llvm::FastMathFlags flags = b_.getFastMathFlags();
    flags.setNoNaNs(true);
    const llvm::IRBuilder<>::FastMathFlagGuard guard(b_);
    b_.setFastMathFlags(flags);
    return largest ? b_.CreateFPMaxReduce(x) : b_.CreateFPMinReduce(x);
  }

  llvm::Value* reduce(const Expr& e) {
    llvm::Value* x = expr(*e.args[0]);
    const DataType type = e.type.scalar;
    const bool real = is_float(type);
    const bool is_signed = is_signed_integer(type);
    llvm::FastMathFlags saved = b_.getFastMathFlags();
    llvm::FastMathFlags flags = saved;
    flags.setAllowReassoc(true);
    flags.setNoSignedZeros(true);
    b_.setFastMathFlags(flags);
    llvm::Value* value = nullptr;
    switch (e.op) {
      case Op::add:
        value = real ? b_.CreateFAddReduce(llvm::ConstantFP::get(scalar_type(type), -0.0), x)
                     : b_.CreateAddReduce(x);
        break;
      case Op::mul:
        value = real ? b_.CreateFMulReduce(llvm::ConstantFP::get(scalar_type(type), 1.0), x)
                     : b_.CreateMulReduce(x);
        break;
      case Op::max: value = real ? extreme(x, true) : b_.CreateIntMaxReduce(x, is_signed); break;
      case Op::min: value = real ? extreme(x, false) : b_.CreateIntMinReduce(x, is_signed); break;
      case Op::bit_or: value = b_.CreateOrReduce(x); break;
      case Op::bit_and: value = b_.CreateAndReduce(x); break;
      default: STRIA_CHECK(false, "no reduction by '{}'", semtree::name_of(e.op));
    }
    b_.setFastMathFlags(saved);
    return value;
  }

  // ---- conversions (core/type/scalar.h)
  llvm::Value* convert(llvm::Value* x, DataType from, DataType to, int lanes) {
    if (from == to) return x;
    llvm::Type* type = value_type({to, lanes});
    llvm::Value* zero = llvm::Constant::getNullValue(x->getType());
    if (from == DataType::bf16) {
      llvm::Type* wide = with_lanes(b_.getInt32Ty(), lanes);
      llvm::Value* bits = b_.CreateShl(b_.CreateZExt(x, wide), 16);
      return convert(b_.CreateBitCast(bits, value_type({DataType::fp32, lanes})), DataType::fp32,
                     to, lanes);
    }
    if (from == DataType::fp16 && to != DataType::fp64 && to != DataType::fp32)
      return convert(b_.CreateFPExt(x, value_type({DataType::fp32, lanes})), DataType::fp32, to,
                     lanes);
    if (to == DataType::boolean)
      return is_float(from) ? b_.CreateFCmpUNE(x, zero) : b_.CreateICmpNE(x, zero);
    if (!is_float(from) && !is_float(to)) return b_.CreateIntCast(x, type, is_signed_integer(from));
    if (is_float(from) && !is_float(to))
      return b_.CreateIntrinsic(
          is_signed_integer(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
          {type, x->getType()}, {x});
    if (!is_float(from)) return integer_to_float(x, from, to, lanes);
    if (to == DataType::bf16)
      return round_to_bf16(from == DataType::fp64 ? round_to_odd(x, lanes) : x, lanes);
    if (to == DataType::fp16)
      return b_.CreateFPTrunc(from == DataType::fp64 ? round_to_odd(x, lanes) : x, type);
    return b_.CreateFPCast(x, type);
  }

  llvm::Value* integer_to_float(llvm::Value* x, DataType from, DataType to, int lanes) {
    const bool is_signed = is_signed_integer(from);
    const auto cast = [&](llvm::Value* value, DataType type) {
      llvm::Type* wanted = value_type({type, lanes});
      return is_signed ? b_.CreateSIToFP(value, wanted) : b_.CreateUIToFP(value, wanted);
    };
    if (to == DataType::fp32 || to == DataType::fp64) return cast(x, to);
    // Whatever fp32 rounds is beyond the largest fp16.
    if (to == DataType::fp16)
      return b_.CreateFPTrunc(cast(x, DataType::fp32), value_type({to, lanes}));
    if (bit_width(from) == 64) {
      // fp64 must not round: of large numbers the low 11 bits become one sticky bit.
      llvm::Type* type = x->getType();
      llvm::Value* low = b_.CreateAnd(x, llvm::ConstantInt::get(type, 0x7ff));
      llvm::Value* sticky =
          b_.CreateZExt(b_.CreateICmpNE(low, llvm::Constant::getNullValue(type)), type);
      llvm::Value* kept = b_.CreateAnd(x, llvm::ConstantInt::getSigned(type, ~int64_t{0x7ff}));
      llvm::Value* shortened = b_.CreateOr(kept, b_.CreateShl(sticky, 11));
      const int64_t exact = int64_t{1} << 53;
      llvm::Value* moved = is_signed ? b_.CreateAdd(x, llvm::ConstantInt::get(type, exact)) : x;
      llvm::Value* small =
          b_.CreateICmpULE(moved, llvm::ConstantInt::get(type, is_signed ? 2 * exact : exact));
      x = b_.CreateSelect(small, x, shortened);
    }
    return round_to_bf16(round_to_odd(cast(x, DataType::fp64), lanes), lanes);
  }

  // fp64 -> fp32 so that rounding the result once more to 16 bits is as if it were the only
  // rounding: toward zero, with the last bit set if anything was lost.
  llvm::Value* round_to_odd(llvm::Value* x, int lanes) {
    llvm::Type* narrow = value_type({DataType::fp32, lanes});
    llvm::Type* bits = with_lanes(b_.getInt32Ty(), lanes);
    llvm::Value* nearest = b_.CreateFPTrunc(x, narrow);
    llvm::Value* back = b_.CreateFPExt(nearest, x->getType());
    llvm::Value* lost = b_.CreateFCmpONE(back, x);
    llvm::Value* grew = b_.CreateFCmpOGT(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                         b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x));
    llvm::Value* number = b_.CreateBitCast(nearest, bits);
    llvm::Value* toward_zero = b_.CreateSub(number, b_.CreateZExt(grew, bits));
    llvm::Value* odd = b_.CreateOr(toward_zero, llvm::ConstantInt::get(bits, 1));
    return b_.CreateBitCast(b_.CreateSelect(lost, odd, number), narrow);
  }

  // fp32 -> the upper 16 bits, nearest, ties to even; NaN stays NaN.
  llvm::Value* round_to_bf16(llvm::Value* x, int lanes) {
    llvm::Type* wide = with_lanes(b_.getInt32Ty(), lanes);
    llvm::Value* bits = b_.CreateBitCast(x, wide);
    llvm::Value* upper = b_.CreateLShr(bits, 16);
    llvm::Value* even = b_.CreateAnd(upper, llvm::ConstantInt::get(wide, 1));
    llvm::Value* half = b_.CreateAdd(even, llvm::ConstantInt::get(wide, 0x7fff));
    llvm::Value* rounded = b_.CreateLShr(b_.CreateAdd(bits, half), 16);
    llvm::Value* quiet = b_.CreateOr(upper, llvm::ConstantInt::get(wide, 0x40));
    llvm::Value* chosen = b_.CreateSelect(b_.CreateFCmpUNO(x, x), quiet, rounded);
    return b_.CreateTrunc(chosen, with_lanes(b_.getInt16Ty(), lanes));
  }

  // ---- mathematical functions
  llvm::FunctionCallee external(const std::string& name, llvm::Type* type, size_t arity) {
    auto* signature = llvm::FunctionType::get(type, std::vector<llvm::Type*>(arity, type), false);
    llvm::FunctionCallee callee = module_.getOrInsertFunction(name, signature);
    auto* function = llvm::cast<llvm::Function>(callee.getCallee());
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr(llvm::Attribute::WillReturn);
    function->setDoesNotAccessMemory();
    return callee;
  }

  llvm::Value* call(const Expr& e) {
    std::vector<llvm::Value*> args;
    for (const ExprRef& arg : e.args) args.push_back(expr(*arg));
    // Such vectors come with fused multiply-adds.
    if (e.type.scalar == DataType::fp32 && e.type.lanes > 1 && options_.vector_bytes >= 32 &&
        e.type.lanes * byte_size(DataType::fp32) % options_.vector_bytes == 0) {
      if (e.callee == "exp" && options_.vector_bytes == 64) return exp_of_lanes(b_, args[0]);
      if (e.callee == "tanh") return tanh_of_lanes(b_, args[0]);
    }
    if (e.callee == "log" && e.type.scalar == DataType::fp32 && e.type.lanes > 1 &&
        options_.vector_math) {
      // The vector library's fp32 logarithm is off by up to 4 ULP, one more than the builtin may
      // be.
      args[0] = b_.CreateFPExt(args[0], value_type({DataType::fp64, e.type.lanes}));
      return b_.CreateFPTrunc(call(e.callee, {DataType::fp64, e.type.lanes}, args),
                              value_type(e.type));
    }
    llvm::Value* result = call(e.callee, e.type, args);
    if (e.callee == "pow") {
      // 1^y and x^0 are 1 for every NaN; the library's are NaN for signalling ones.
      llvm::Constant* one = llvm::ConstantFP::get(value_type(e.type), 1);
      llvm::Constant* zero = llvm::ConstantFP::get(value_type(e.type), 0);
      llvm::Value* certain =
          b_.CreateOr(b_.CreateFCmpOEQ(args[0], one), b_.CreateFCmpOEQ(args[1], zero));
      result = b_.CreateSelect(certain, one, result);
    }
    return result;
  }

  llvm::Value* call(const std::string& function, Type result_type,
                    const std::vector<llvm::Value*>& args) {
    const DataType type = result_type.scalar;
    const int lanes = result_type.lanes;
    int bytes = options_.vector_bytes;
    while (bytes > 16 && bytes / 2 >= lanes * byte_size(type)) bytes /= 2;
    const int chunk =
        options_.vector_math && lanes > 1 ? static_cast<int>(bytes / byte_size(type)) : 1;
    const std::string name = chunk > 1 ? vector_symbol(function, type, bytes)
                                       : function + (type == DataType::fp32 ? "f" : "");
    llvm::FunctionCallee callee = external(name, value_type({type, chunk}), args.size());
    if (lanes == chunk) return b_.CreateCall(callee, args);
    llvm::Value* result = llvm::PoisonValue::get(value_type(result_type));
    for (int start = 0; start < lanes; start += chunk) {
      std::vector<llvm::Value*> part;
      for (llvm::Value* arg : args)
        part.push_back(chunk == 1 ? b_.CreateExtractElement(arg, start)
                                  : slice(arg, start, chunk, lanes));
      llvm::Value* value = b_.CreateCall(callee, part);
      for (int i = 0; i < chunk && start + i < lanes; ++i)
        result = b_.CreateInsertElement(
            result, chunk == 1 ? value : b_.CreateExtractElement(value, i), start + i);
    }
    return result;
  }

  // Lanes start .. start + count - 1; beyond the end the last one repeats.
  llvm::Value* slice(llvm::Value* vector, int start, int count, int lanes) {
    std::vector<int> from;
    for (int i = 0; i < count; ++i) from.push_back(std::min(start + i, lanes - 1));
    return b_.CreateShuffleVector(vector, from);
  }

  const semtree::Function& fn_;
  const EmitOptions& options_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  bool stream_ = false;  // the body stores past the caches where it says so
  std::vector<llvm::Value*> values_;
  std::vector<std::map<int64_t, llvm::AllocaInst*>> arrays_;  // by slot; on the stack: slot 0
  // By array, first element and stride, while nothing is stored and no other body begins.
  std::map<std::tuple<int, int64_t, int64_t>, Transposed> transposed_;
};

}  // namespace

void emit_function(const semtree::Function& function, const std::string& symbol,
                   const EmitOptions& options, llvm::Module& module) {
  Emitter(function, options, module).run(symbol);
}

std::vector<std::string> math_symbols() {
  std::vector<std::string> names;
  for (const char* name : kMathFunctions)
    for (const char* suffix : {"f", ""}) names.push_back(std::string(name) + suffix);
  return names;
}

std::vector<std::string> vector_math_symbols(int vector_bytes) {
  std::vector<std::string> names;
  for (const char* name : kMathFunctions)
    for (int bytes = 16; bytes <= vector_bytes; bytes *= 2)
      for (DataType type : {DataType::fp32, DataType::fp64})
        if (std::string(name) != "fmod") names.push_back(vector_symbol(name, type, bytes));
  return names;
}

}  // namespace stria::llvm_cpu
