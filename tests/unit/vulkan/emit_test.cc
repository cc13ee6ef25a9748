// SPDX-License-Identifier: Apache-2.0
// The builder of SPIR-V modules, the disassembler, and what is refused because a device lacks it.
#include <gtest/gtest.h>

#include <string>

#include "emit/module.h"
#include "emit/program.h"
#include "emit/requirements.h"
#include "stria/semtree/tree/expr.h"

namespace stria::vulkan {
namespace {

using semtree::Function;

Features everything() {
  Features out;
  out.device = "Made-up GPU";
  out.fp64 = out.fp16 = out.int64 = out.int16 = out.int8 = out.storage16 = out.storage8 = true;
  return out;
}

// R[point] = A[point] for four points.
KernelCode copy_kernel(DataType type) {
  KernelCode out;
  out.name = "copy";
  Function& f = out.function;
  f.index_type = DataType::i32;
  f.params = {{"R", type, false, true, 4, 0}, {"A", type, true, false, 4, 1}};
  f.vars = {{"point", {DataType::i32, 1}}, {"a", {type, 1}}};
  f.parallel_var = 0;
  f.trip_count = out.groups[0] = 4;
  semtree::Place at;
  at.offset = semtree::variable(0, {DataType::i32, 1});
  at.memory = 1;
  f.body.push_back({semtree::Load{1, at}});
  at.memory = 0;
  f.body.push_back({semtree::Store{at, semtree::variable(1, {type, 1})}});
  return out;
}

// Kernels of one program have one pipeline if they are equal but for names.
TEST(SpirvEmitter, WithoutNamesKernelsThatDoTheSameAreEqual) {
  const auto words = [](const char* name, const char* tensor, DataType type) {
    KernelCode code = copy_kernel(type);
    code.name = code.symbol = name;
    code.function.params[1].name = tensor;
    auto out = emit(code, everything());
    EXPECT_TRUE(out.ok()) << out.status().to_string();
    return *out;
  };
  const auto one = words("step_0", "A", DataType::fp32),
             other = words("step_1", "B2", DataType::fp32);
  EXPECT_NE(one, other);
  EXPECT_EQ(without_names(one), without_names(other));
  EXPECT_NE(without_names(one), without_names(words("step_0", "A", DataType::i32)));
  // No module: nothing to do, and no crash.
  EXPECT_TRUE(without_names({}).empty());
  EXPECT_EQ(without_names(std::vector<uint32_t>{1, 2, 3, 4, 5, 0xffff0011}).size(), 6u);
}

std::string text_of(const Module& module) {
  Result<std::string> text = disassemble(module.words());
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text ? *text : "";
}

size_t count(const std::string& text, const std::string& part) {
  size_t out = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++out;
  return out;
}

void begin_main(Module& module) {
  const Id main = module.begin_function(module.void_type(), {}, nullptr);
  module.entry_point(main, "main");
}
void end_main(Module& module) {
  module.add(spv::Op::OpReturn, {});
  module.end_function();
}

TEST(SpirvModule, DeclaresEachThingOnce) {
  Module module(0x00010500);
  begin_main(module);
  EXPECT_EQ(module.int_type(32), module.int_type(32));
  EXPECT_NE(module.int_type(32), module.int_type(16));
  EXPECT_EQ(module.int_constant(32, 7), module.int_constant(32, 7));
  EXPECT_NE(module.int_constant(32, 7), module.int_constant(64, 7));
  // Zeros of both signs are different bits.
  EXPECT_NE(module.float_constant(32, 0.0), module.float_constant(32, -0.0));
  const Id word = module.int_type(32);
  const auto group = spv::StorageClass::Workgroup;
  EXPECT_EQ(module.pointer_type(group, word, 4), module.pointer_type(group, word, 4));
  EXPECT_NE(module.pointer_type(group, word, 4), module.pointer_type(group, word, 8));
  for (int i = 0; i < 2; ++i) {
    module.capability(spv::Capability::Shader);
    module.decorate(word, spv::Decoration::Aliased);
    module.execution_mode(spv::ExecutionMode::LocalSize, {8, 1, 1});
  }
  end_main(module);
  const std::string text = text_of(module);
  EXPECT_EQ(count(text, "OpCapability Shader"), 1u);
  EXPECT_EQ(count(text, "Aliased"), 1u);
  EXPECT_EQ(count(text, "LocalSize 8 1 1"), 1u);
  EXPECT_EQ(count(text, "OpTypeInt 32 0"), 1u);
}

TEST(SpirvModule, SectionsAreInOrder) {
  Module module(0x00010600);
  begin_main(module);
  module.add(spv::Op::OpIAdd, module.int_type(32),
             {module.int_constant(32, 1), module.int_constant(32, 2)});
  module.local(module.pointer_type(spv::StorageClass::Function, module.int_type(32)));
  module.extension("SPV_made_up");
  module.execution_mode(spv::ExecutionMode::LocalSize, {1, 1, 1});
  module.capability(spv::Capability::Shader);
  end_main(module);
  const std::string text = text_of(module);
  size_t before = 0;
  for (const char* part : {"SPIR-V 1.6", "OpCapability", "OpExtension", "OpMemoryModel",
                           "OpEntryPoint", "OpExecutionMode", "OpTypeInt", "OpFunction ", "OpLabel",
                           "OpVariable", "OpIAdd", "OpReturn", "OpFunctionEnd"}) {
    const size_t at = text.find(part);
    ASSERT_NE(at, std::string::npos) << part << " in\n" << text;
    EXPECT_GE(at, before) << part << " in\n" << text;
    before = at;
  }
}

TEST(SpirvModule, AFunctionMayBeWrittenInsideAnother) {
  Module module(0x00010500);
  begin_main(module);
  std::vector<Id> params;
  const Id word = module.int_type(32);
  const Id twice = module.begin_function(word, {word}, &params);
  const Id sum = module.add(spv::Op::OpIAdd, word, {params[0], params[0]});
  module.add(spv::Op::OpReturnValue, {sum});
  module.end_function();
  module.add(spv::Op::OpFunctionCall, word, {twice, module.int_constant(32, 3)});
  end_main(module);
  const std::string text = text_of(module);
  // The call is in the function that was begun first.
  EXPECT_LT(text.find("OpFunctionCall"), text.find("OpFunctionEnd"));
  EXPECT_GT(text.find("OpIAdd"), text.find("OpFunctionEnd"));
}

TEST(SpirvText, RefusesWhatIsNoModule) {
  for (const std::vector<uint32_t>& words :
       {std::vector<uint32_t>{}, std::vector<uint32_t>{1, 2, 3, 4, 5},
        std::vector<uint32_t>{spv::MagicNumber, 0x10500, 0, 9, 0, 0x00000013},     // no words
        std::vector<uint32_t>{spv::MagicNumber, 0x10500, 0, 9, 0, 0x00070013},     // too many
        std::vector<uint32_t>{spv::MagicNumber, 0x10500, 0, 9, 0, 0x0001fffe},     // no operation
        std::vector<uint32_t>{spv::MagicNumber, 0x10500, 0, 9, 0, 0x00010013}}) {  // too few
    Result<std::string> text = disassemble(words);
    ASSERT_FALSE(text.ok()) << *text;
    EXPECT_EQ(text.status().code(), StatusCode::invalid_argument);
  }
}

TEST(SpirvEmitter, GivesTheSameWordsEachTime) {
  for (const DataType type : {DataType::fp32, DataType::fp16, DataType::boolean, DataType::i64}) {
    auto first = emit(copy_kernel(type), everything()),
         second = emit(copy_kernel(type), everything());
    ASSERT_TRUE(first.ok()) << first.status().message();
    EXPECT_EQ(*first, *second);
  }
}

TEST(SpirvEmitter, NamesWhatTheDeviceLacks) {
  struct Case {
    DataType type;
    bool Features::* feature;
    const char* name;
  };
  for (const Case& test : {Case{DataType::fp64, &Features::fp64, "shaderFloat64"},
                           Case{DataType::u64, &Features::int64, "shaderInt64"},
                           Case{DataType::bf16, &Features::storage16, "storageBuffer16BitAccess"},
                           Case{DataType::i16, &Features::int16, "shaderInt16"},
                           Case{DataType::boolean, &Features::storage8, "storageBuffer8BitAccess"},
                           Case{DataType::u8, &Features::int8, "shaderInt8"}}) {
    Features features = everything();
    features.*test.feature = false;
    auto words = emit(copy_kernel(test.type), features);
    ASSERT_FALSE(words.ok()) << test.name;
    EXPECT_EQ(words.status().code(), StatusCode::unsupported);
    const std::string message(words.status().message());
    for (const std::string& part : {std::string("'copy'"), std::string(name_of(test.type)),
                                    std::string("'Made-up GPU'"), std::string(test.name)})
      EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
    EXPECT_TRUE(emit(copy_kernel(test.type), everything()).ok());
  }
}

TEST(SpirvEmitter, RefusesIndicesOf64BitsAndInstructions) {
  Features features = everything();
  features.int64 = false;
  KernelCode kernel = copy_kernel(DataType::fp32);
  kernel.function.index_type = DataType::i64;
  auto words = emit(kernel, features);
  ASSERT_FALSE(words.ok());
  EXPECT_NE(std::string(words.status().message()).find("shaderInt64"), std::string::npos);
  kernel = copy_kernel(DataType::fp32);
  kernel.function.body.push_back({semtree::Instruction{"mma.m16n8k16", {}}});
  words = emit(kernel, everything());
  ASSERT_FALSE(words.ok());
  EXPECT_NE(std::string(words.status().message()).find("'mma.m16n8k16'"), std::string::npos);
}

TEST(SpirvEmitter, CountsWhatAGroupReallyShares) {
  Function f;
  f.arrays = {{"a", DataType::u8, 100, false, 1, true}, {"b", DataType::fp32, 10, false, 1, true}};
  Features features = everything();
  EXPECT_EQ(shared_layout(f, features).end, 128 + 64);
  EXPECT_EQ(shared_layout(f, features).begins, (std::vector<int64_t>{0, 128}));
  features.int8 = false;  // each byte takes a word
  EXPECT_EQ(shared_layout(f, features).end, 448 + 64);
  EXPECT_TRUE(check_device(f, features, 512).ok());
  const Status status = check_device(f, features, 511);
  EXPECT_EQ(status.code(), StatusCode::out_of_range);
  EXPECT_NE(std::string(status.message()).find("512"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace stria::vulkan
