// SPDX-License-Identifier: Apache-2.0
// Loaded programs on the plugin that interprets and on one with far memory and shuffled queues:
// constants bound once, temporaries, failures, memory that runs out.
#include "stria/exec/loaded_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "stria/runtime/inside.h"
#include "stria/stripe/text/parser.h"

namespace stria {
namespace {

using testing::HasSubstr;

// P = V + W once; then R = (A + P)^2 by way of a temporary T. SIZE elements, INDEX where kernel
// 'square' reads T.
constexpr const char* kPacked = R"(stripe 1.0
0: #program block [] ( // packed
    none const new@0x00000000 V[0] fp32(SIZE:1)
    none const new@0x00000000 W[0] fp32(SIZE:1)
    none const new@0x00000000 P[0] fp32(SIZE:1)
    none new@0x00000000 A[0] fp32(SIZE:1)
    none new@0x00000000 R[0] fp32(SIZE:1)
) {
  0: #prologue block [] ( // prologue
      in V[0] fp32(SIZE:1)
      in W[0] fp32(SIZE:1)
      out P[0] fp32(SIZE:1)
  ) {
    0: #kernel block [i:SIZE] ( // pack
        in V[i] fp32(1:1)
        in W[i] fp32(1:1)
        out P[i] fp32(1:1)
    ) {
      0: $v = load(V)
      1: $w = load(W)
      2: $p = add.fp32($v, $w)
      3: P = store($p)
    }
  }
  1: #main block [] ( // main
      in A[0] fp32(SIZE:1)
      in P[0] fp32(SIZE:1)
      out R[0] fp32(SIZE:1)
      none new@0x00000000 T[0] fp32(SIZE:1)
  ) {
    0: #kernel block [i:SIZE] ( // sum
        in A[i] fp32(1:1)
        in P[i] fp32(1:1)
        out T[i] fp32(1:1)
    ) {
      0: $a = load(A)
      1: $p = load(P)
      2: $t = add.fp32($a, $p)
      3: T = store($t)
    }
    1: #kernel block [i:SIZE] ( // square
        in T[INDEX] fp32(1:1)
        out R[i] fp32(1:1)
    ) {
      0: $t = load(T)
      1: $r = mul.fp32($t, $t)
      2: R = store($r)
    }
  }
}
)";

std::string packed(int64_t size, const std::string& index = "i") {
  std::string text = kPacked;
  for (size_t at; (at = text.find("SIZE")) != std::string::npos;)
    text.replace(at, 4, std::to_string(size));
  return text.replace(text.find("INDEX"), 5, index);
}

class LoadedProgramTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    RuntimeOptions options;
    options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/plugins",
                            STRIA_BINARY_DIR "/lib/stria/test_plugins"};
    options.only_plugin_paths = true;
    options.only_plugins = {GetParam()};
    auto device = Runtime(options).open(GetParam());
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = Inside::hal_device(*device);
    memory_ = exec::DeviceMemory(device_);
  }
  // `index` is where kernel 'square' reads T.
  exec::LoadedProgram load(const std::string& index) {
    const std::string text = packed(4, index);
    auto program = stripe::parse({"packed", text});
    EXPECT_TRUE(program.ok()) << program.status().to_string();
    auto loaded = exec::LoadedProgram::load(memory_, *program, text);
    EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
    return *loaded;
  }
  hal::Argument buffer(std::vector<float> values) {
    auto made = device_.allocate(values.size() * 4);
    auto mapping = made->map_discard();
    EXPECT_TRUE(mapping->ready().wait().ok());
    std::memcpy(mapping->data(), values.data(), values.size() * 4);
    EXPECT_TRUE(mapping->unmap()->wait().ok());
    return {*made, 0};
  }
  std::vector<float> read(const hal::Argument& argument) {
    auto mapping = argument.buffer.map_current();
    EXPECT_TRUE(mapping->ready().wait().ok());
    std::vector<float> values(mapping->size() / 4);
    std::memcpy(values.data(), mapping->data(), mapping->size());
    EXPECT_TRUE(mapping->unmap()->wait().ok());  // the next run writes there
    return values;
  }
  hal::Device device_;
  exec::DeviceMemory memory_;
};

TEST_P(LoadedProgramTest, ConstantsAreBoundOnce) {
  exec::LoadedProgram program = load("i");
  const hal::Argument a = buffer({1, 2, 3, 4}), w = buffer({1, 1, 0, 0}), r = buffer({0, 0, 0, 0});
  ASSERT_EQ(program.plan().inputs.size(), 3u);  // A, then V and W
  auto binding = program.bind(std::vector{hal::Argument(), w, w});
  ASSERT_TRUE(binding.ok()) << binding.status().to_string();
  for (int i = 0; i < 3; ++i) {
    auto run = binding->run(std::vector{a, w, w}, std::vector{r}, {}, {.watch_kernels = true});
    ASSERT_TRUE(run.ok()) << run.status().to_string();
    ASSERT_TRUE(run->wait().ok()) << run->wait().to_string();
    EXPECT_EQ(read(r), (std::vector<float>{9, 16, 9, 16}));
    auto times = run->times();
    ASSERT_TRUE(times.ok());
    ASSERT_EQ(times->size(), 2u);
    EXPECT_EQ((*times)[0].name, "sum");
    EXPECT_EQ((*times)[1].name, "square");
  }
}

TEST_P(LoadedProgramTest, AFailureNamesItsKernel) {
  exec::LoadedProgram program = load("i + 1");  // beyond the end at i = 3
  const hal::Argument a = buffer({1, 2, 3, 4}), w = buffer({1, 1, 0, 0}), r = buffer({0, 0, 0, 0});
  auto binding = program.bind(std::vector{hal::Argument(), w, w});
  auto run = binding->run(std::vector{a, w, w}, std::vector{r}, {}, {.watch_kernels = true});
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  Status status = run->wait();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr(std::string("kernel 'square' (2 of 2) of 'packed' on ") +
                                          GetParam() + ":"));
}

TEST_P(LoadedProgramTest, RunsInARowAreOne) {
  const hal::Argument a = buffer({1, 2, 3, 4}), w = buffer({1, 1, 0, 0}), r = buffer({0, 0, 0, 0});
  for (const char* index : {"i", "i + 1"}) {
    exec::LoadedProgram program = load(index);
    auto binding = program.bind(std::vector{hal::Argument(), w, w});
    auto run = binding->run(std::vector{a, w, w}, std::vector{r}, {},
                            {.watch_kernels = true, .in_a_row = 3});
    ASSERT_TRUE(run.ok()) << run.status().to_string();
    const Status status = run->wait();
    if (std::string_view(index) == "i + 1") {
      EXPECT_THAT(status.message(), HasSubstr("kernel 'square' (2 of 6) of 'packed' on "));
      continue;
    }
    ASSERT_TRUE(status.ok()) << status.to_string();
    EXPECT_EQ(read(r), (std::vector<float>{9, 16, 9, 16}));
    const auto times = run->times();
    ASSERT_TRUE(times.ok());
    ASSERT_EQ(times->size(), 6u);
    for (size_t k = 0; k < 6; ++k) {
      EXPECT_EQ((*times)[k].name, k % 2 ? "square" : "sum");
      EXPECT_EQ((*times)[k].statement, k % 2);
    }
  }
}

TEST_P(LoadedProgramTest, KernelsThatNobodyWatchesHaveNoTimesAndNoNames) {
  const hal::Argument a = buffer({1, 2, 3, 4}), w = buffer({1, 1, 0, 0}), r = buffer({0, 0, 0, 0});
  for (const char* index : {"i", "i + 1"}) {
    exec::LoadedProgram program = load(index);
    auto binding = program.bind(std::vector{hal::Argument(), w, w});
    auto gate = device_.create_event();
    auto run = binding->run(std::vector{a, w, w}, std::vector{r}, std::vector{*gate});
    ASSERT_TRUE(run.ok()) << run.status().to_string();
    EXPECT_EQ(run->times().status().code(), StatusCode::failed_precondition);
    ASSERT_TRUE(gate->signal().ok());
    const Status status = run->wait();
    EXPECT_TRUE(run->times()->empty());
    if (std::string_view(index) == "i") {
      EXPECT_TRUE(status.ok()) << status.to_string();
      EXPECT_EQ(read(r), (std::vector<float>{9, 16, 9, 16}));
    } else {
      EXPECT_FALSE(status.ok());
      EXPECT_THAT(status.message(), HasSubstr(std::string("'packed' on ") + GetParam() + ":"));
      EXPECT_THAT(status.message(), testing::Not(HasSubstr("(2 of 2)")));
    }
  }
}

TEST_P(LoadedProgramTest, AFailedWaitStopsTheRun) {
  exec::LoadedProgram program = load("i");
  const hal::Argument a = buffer({1, 2, 3, 4}), w = buffer({1, 1, 0, 0}), r = buffer({7, 7, 7, 7});
  auto binding = program.bind(std::vector{hal::Argument(), w, w});
  auto gate = device_.create_event();
  auto run = binding->run(std::vector{a, w, w}, std::vector{r}, std::vector{*gate});
  ASSERT_TRUE(run.ok());
  EXPECT_FALSE(run->done().is_done());
  EXPECT_EQ(run->times().status().code(), StatusCode::failed_precondition);
  ASSERT_TRUE(gate->signal(make_error(StatusCode::data_loss, "no input today")).ok());
  EXPECT_THAT(run->wait().message(), HasSubstr("no input today"));
  EXPECT_EQ(read(r), (std::vector<float>{7, 7, 7, 7}));
}

TEST_P(LoadedProgramTest, WrongNumbersOfArguments) {
  exec::LoadedProgram program = load("i");
  const hal::Argument a = buffer({1, 2, 3, 4});
  EXPECT_THAT(program.bind(std::vector{a}).status().message(),
              HasSubstr("'packed' has 3 inputs, got 1"));
  auto binding = program.bind(std::vector{a, a, a});
  EXPECT_THAT(binding->run(std::vector{a, a, a}, {}).status().message(),
              HasSubstr("1 outputs, got 0"));
}

TEST_P(LoadedProgramTest, ABuildThatFailsSaysWhy) {
  auto program = stripe::parse({"packed", packed(4, "j")});  // no index of the kernel
  EXPECT_FALSE(program.ok() && exec::LoadedProgram::load(memory_, *program, packed(4, "j")).ok());
}

INSTANTIATE_TEST_SUITE_P(Plugins, LoadedProgramTest, testing::Values("reference", "slow_device"),
                         [](const auto& info) { return std::string(info.param); });

// A device of 1 MiB.
class SmallDeviceTest : public testing::Test {
 protected:
  static constexpr int64_t kElements = 50'000;  // 200,000 bytes
  void SetUp() override {
    RuntimeOptions options;
    options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/test_plugins"};
    options.only_plugin_paths = true;
    options.plugin_options["slow_device"] = R"({"memory_bytes": 1048576})";
    auto device = Runtime(options).open("slow_device");
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
  }
  Tensor tensor(const char* name) {
    auto tensor = device_.create_tensor(DataType::fp32, {kElements}, name);
    EXPECT_TRUE(tensor.ok()) << tensor.status().to_string();
    return *tensor;
  }
  // A program with one temporary as large as its input.
  Executable twice_squared() {
    auto program = Program::from_tile(
        {"test.tile",
         "function twice_squared(A[N]) -> (R) { T = A + A; S[i : N] = +(T[i]); R = S * T; }"});
    auto executable = device_.compile(*program, {{"A", {DataType::fp32, {kElements}}}});
    EXPECT_TRUE(executable.ok()) << executable.status().to_string();
    return *executable;
  }
  Device device_;
};

// A run that cannot start has begun its prologue: who rewrites a constant waits for it.
TEST_F(SmallDeviceTest, AConstantIsNotRewrittenUnderAPrologue) {
  auto loaded = device_.load_stripe({"packed", packed(kElements)});
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  auto program = Program::from_tile({"test.tile", "function copy(A[N]) -> (R) { R = A + 0; }"});
  auto copy = device_.compile(*program, {{"A", {DataType::fp32, {kElements}}}});
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  Tensor a = tensor("A"), v = tensor("V"), w = tensor("W"), r = tensor("R");
  for (const Tensor& t : {a, v, w})
    ASSERT_TRUE(t.write_values(std::vector<float>(kElements, 1.0f)).ok());
  Event gate = *device_.create_event();
  ASSERT_TRUE(copy->run({a}, {w}, std::vector{gate}).ok());
  std::vector<Tensor> inputs;
  for (const TensorInfo& info : loaded->inputs())
    inputs.push_back(info.name == "A" ? a : info.name == "V" ? v : w);
  auto run = loaded->run(inputs, std::vector{r});
  ASSERT_EQ(run.status().code(), StatusCode::out_of_memory) << run.status().to_string();
  // The prologue waits for W, and has not read V yet.
  MappedTensor mapped = *v.map_discard();
  EXPECT_EQ(mapped.ready().wait(50'000'000).code(), StatusCode::deadline_exceeded);
  ASSERT_TRUE(gate.signal().ok());
  EXPECT_TRUE(mapped.ready().wait().ok());
}

// A prologue that fails once fails the run that it was for, and no later one.
TEST(Prologue, IsTriedAgainAfterAFailure) {
  RuntimeOptions options;
  options.plugin_paths = {STRIA_BINARY_DIR "/lib/stria/test_plugins"};
  options.only_plugin_paths = true;
  options.plugin_options["slow_device"] = R"({"fail_launch": 1})";
  auto device = Runtime(options).open("slow_device");
  ASSERT_TRUE(device.ok()) << device.status().to_string();
  auto program = device->load_stripe({"packed", packed(4)});
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  using Values = std::vector<float>;
  Tensor a = *device->create_tensor({4}, Values{1, 2, 3, 4});
  Tensor w = *device->create_tensor({4}, Values{1, 1, 0, 0});
  Tensor r = *device->create_tensor({4}, Values{0, 0, 0, 0});
  ASSERT_EQ(program->inputs()[0].name, "A");
  Status failed = program->run({a, w, w}, {r})->wait();
  EXPECT_THAT(failed.message(),
              HasSubstr("the prologue of 'packed' on slow_device:slow: this launch fails, as was "
                        "asked for"));
  Status well = program->run({a, w, w}, {r})->wait();
  ASSERT_TRUE(well.ok()) << well.to_string();
  EXPECT_EQ(*r.read_values<float>(), (Values{9, 16, 9, 16}));
}

TEST_F(SmallDeviceTest, OutOfMemoryListsWhatIsAlive) {
  Tensor a = tensor("A"), b = tensor("B"), c = tensor("C"), d = tensor("D");
  auto small = device_.create_tensor(DataType::i8, {10}, "Small");
  auto e = device_.create_tensor(DataType::fp32, {100'000}, "E");
  ASSERT_EQ(e.status().code(), StatusCode::out_of_memory);
  const std::string text = e.status().message();
  EXPECT_THAT(text, HasSubstr("no memory for 400000 bytes for E fp32[100000]"));
  EXPECT_THAT(text, HasSubstr("slow_device:slow, whose limit is 1048576 bytes"));
  EXPECT_THAT(text, HasSubstr("5 buffers of 800010 bytes are alive"));
  for (const char* name : {"A", "B", "C", "D"})
    EXPECT_THAT(text, HasSubstr(std::string("\n  200000 bytes: ") + name +
                                " fp32[50000], held by the caller"));
  EXPECT_THAT(text, HasSubstr("and 1 smaller ones"));
  EXPECT_THAT(text, HasSubstr("248566 of 1048576 are free"));
  d = Tensor();
  EXPECT_TRUE(device_.create_tensor(DataType::fp32, {100'000}, "E").ok());
}

TEST_F(SmallDeviceTest, ARunWithoutMemoryForItsTemporariesSaysSo) {
  Executable program = twice_squared();
  Tensor a = tensor("A"), r = tensor("R"), c = tensor("C"), d = tensor("D"), e = tensor("E");
  auto run = program.run(std::vector{a}, std::vector{r});
  ASSERT_EQ(run.status().code(), StatusCode::out_of_memory);
  EXPECT_THAT(run.status().message(), HasSubstr("temporaries of 'twice_squared'"));
  EXPECT_THAT(run.status().message(), HasSubstr("a run of 'twice_squared'"));
  EXPECT_THAT(run.status().message(), HasSubstr("200000 bytes: C fp32[50000]"));
  e = Tensor();
  d = Tensor();
  run = program.run(std::vector{a}, std::vector{r});
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  EXPECT_TRUE(run->wait().ok());
}

// Runs that wait for each other anyway share their temporaries rather than fail.
TEST_F(SmallDeviceTest, RunsInARowNeedNoMoreMemoryThanThereIs) {
  Executable program = twice_squared();
  Tensor a = tensor("A"), r = tensor("R");
  std::vector<float> ones(kElements, 1.0f);
  ASSERT_TRUE(a.write_values(ones).ok());
  Event gate = *device_.create_event(), torn = *device_.create_event();
  // The first one fails: who takes over its memory does not.
  ASSERT_TRUE(program.run(std::vector{a}, std::vector{r}, std::vector{torn}).ok());
  for (int i = 0; i < 20; ++i) {
    auto run = program.run(std::vector{a}, std::vector{r}, std::vector{gate});
    ASSERT_TRUE(run.ok()) << i << ": " << run.status().to_string();
  }
  ASSERT_TRUE(torn.signal(Status(StatusCode::data_loss, "torn")).ok());
  ASSERT_TRUE(gate.signal().ok());
  auto values = r.read_values<float>();
  ASSERT_TRUE(values.ok()) << values.status().to_string();
  EXPECT_EQ(*values, std::vector<float>(kElements, 4.0f));
}

TEST_F(SmallDeviceTest, TemporariesKeptForLaterRunsGiveWay) {
  Executable program = twice_squared();
  Tensor a = tensor("A"), r = tensor("R");
  ASSERT_TRUE(a.write(std::string(kElements * 4, '\0')).ok());
  for (int i = 0; i < 3; ++i) {
    auto run = program.run(std::vector{a}, std::vector{r});
    ASSERT_TRUE(run.ok()) << run.status().to_string();
    ASSERT_TRUE(r.read().ok());
  }
  // 400,000 bytes are taken by tensors and at least as many by the temporaries of a run that is
  // over.
  auto large = device_.create_tensor(DataType::fp32, {150'000}, "Large");
  EXPECT_TRUE(large.ok()) << large.status().to_string();
}

}  // namespace
}  // namespace stria
