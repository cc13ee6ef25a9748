// SPDX-License-Identifier: Apache-2.0
// Whole programs on the plugin `vulkan` where dispatches are cut, where a submission fails or loses
// the device, and where features are hidden.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <regex>
#include <set>

#include "../../small_program.h"
#include "dispatch_plan.h"
#include "faulty_vulkan.h"
#include "scripted_host.h"
#include "stria/base/file.h"
#include "stria/type/host_tensor.h"
#include "stria/type/scalar.h"

namespace stria {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kPlugin = STRIA_BINARY_DIR "/lib/stria/plugins/vulkan";

// A count of the loader with faults.
std::atomic<int>& count(const char* name) {
  void* loader = ::dlopen(STRIA_FAULTY_VULKAN, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(loader, nullptr) << ::dlerror();
  auto* place = static_cast<std::atomic<int>*>(::dlsym(loader, name));
  EXPECT_NE(place, nullptr) << name;
  return *place;
}

Runtime vulkan_with(const std::string& options) {
  return runtime_with(kPlugin, R"({"loader": ")" STRIA_FAULTY_VULKAN R"(", )" + options + "}");
}
Device open(const Runtime& runtime) {
  Result<Device> device = runtime.open(chosen_device("vulkan"));
  EXPECT_TRUE(device.ok()) << device.status().to_string();
  return *device;
}

// A copy of the plugin whose models take every device for one of so few units, each so slow that a
// group alone is predicted to take longer than kLimitMs, which no kernel here takes.
constexpr int kUnits = 2;
constexpr double kLimitMs = 20'000;
class SlowModels {
 public:
  SlowModels() {
    std::filesystem::copy(kPlugin, copy_, std::filesystem::copy_options::recursive);
    for (const char* file : {"hw/gpu.json", "hw/software.json"}) {
      const std::string text = read_file(copy_ / file).value();
      const std::string few =
          std::regex_replace(text, std::regex(R"re(set (UNITS|CORES) = [^%]*%)re"),
                             fmt::format("set $1 = {} %", kUnits));
      EXPECT_NE(few, text) << file;
      const std::string slow = std::regex_replace(
          few, std::regex(R"re("ops_per_cycle": [0-9.]+)re"), R"("ops_per_cycle": 0.000000000001)");
      EXPECT_NE(slow, few) << file;
      EXPECT_TRUE(write_file(copy_ / file, slow).ok());
    }
  }
  // A device by these models, with a limit or without. What is measured of it does not count, and
  // nothing is.
  Runtime runtime(bool limited) const {
    return runtime_with(
        copy_, fmt::format(R"({{"loader": "{}", "probe": false, "dispatch_limit_ms": {}}})",
                           STRIA_FAULTY_VULKAN, limited ? kLimitMs : 0));
  }

 private:
  const hal::TemporaryFolder folder_;
  const std::filesystem::path copy_ = folder_.path() / "vulkan";
};

// The dispatches of a kernel with so many groups in a row that has not run yet, by that prediction.
int pieces_of(int groups) {
  constexpr double kLimitNs = kLimitMs * 1e6;
  vulkan::DispatchPlan plan({kLimitNs, kUnits});
  return static_cast<int>(plan.add({groups, 1, 1}, 2 * kLimitNs).size());
}

// R is the sum of `inputs` tensors of many elements, all alike.
class ManyElements {
 public:
  explicit ManyElements(const Device& device, int inputs = 2)
      : r_(device.create_tensor({kSize}, std::vector<float>(kSize, -1)).value()) {
    std::vector<float> values(kSize);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % kPeriod);
    std::string params, sum;
    InputTypes types;
    for (int n = 0; n < inputs; ++n) {
      const std::string name = fmt::format("A{}", n);
      params += fmt::format("{}{}[N]", n > 0 ? ", " : "", name);
      sum += (n > 0 ? " + " : "") + name;
      types[name] = {DataType::fp32, {kSize}};
      a_.push_back(device.create_tensor({kSize}, values).value());
    }
    const std::string text = fmt::format("function ({}) -> (R) {{ R = {}; }}", params, sum);
    executable_ = device.compile(Program::from_tile({"sum.tile", text}).value(), types).value();
  }
  Status run() const { return executable_->run(a_, std::vector{r_})->wait(); }
  bool is_right() const {
    const std::vector<float> got = r_.read_values<float>().value();
    for (size_t i = 0; i < got.size(); ++i)
      if (got[i] != static_cast<float>(a_.size() * (i % kPeriod))) return false;
    return true;
  }

 private:
  static constexpr int64_t kSize = int64_t{1} << 20;
  static constexpr size_t kPeriod = 1021;  // prime: no two groups have the same elements
  std::vector<Tensor> a_;
  const Tensor r_;
  std::optional<Executable> executable_;
};

TEST(CutDispatches, AreRightAndAreSubmittedOneByOne) {
  std::atomic<int>&submits = count("stria_vulkan_submits"),
  &dispatches = count("stria_vulkan_dispatches"), &groups = count("stria_vulkan_groups");
  const SlowModels models;
  int whole = 0;
  for (const bool cut : {false, true}) {
    const Runtime runtime = models.runtime(cut);
    const Device device = open(runtime);
    const Status status = run_small_program(device);
    EXPECT_TRUE(status.ok()) << status.to_string();
    const ManyElements many(device);
    submits = dispatches = groups = 0;
    ASSERT_TRUE(many.run().ok());
    // Reading the results may submit copies.
    const int submitted = submits;
    std::printf("%d groups, %d dispatches in %d submissions\n", groups.load(), dispatches.load(),
                submitted);
    EXPECT_TRUE(many.is_right());
    EXPECT_EQ(submitted, dispatches);
    if (!cut) whole = groups;
    EXPECT_EQ(groups, whole);
    EXPECT_EQ(dispatches, cut ? pieces_of(whole) : 1);
  }
  EXPECT_GT(pieces_of(whole), 1);
}

// Up to where the addresses and the base group, or the addresses alone, just fit: 128 bytes are
// what every device has, 256 what many have.
TEST(CutDispatches, AreRightWhereverAddressesAre) {
  std::atomic<int>&dispatches = count("stria_vulkan_dispatches"),
  &groups = count("stria_vulkan_groups");
  const SlowModels models;
  const Runtime runtime = models.runtime(true);
  const Device device = open(runtime);
  for (const int tensors : {14, 15, 16, 17, 30, 31, 32, 33}) {
    const ManyElements many(device, tensors - 1);
    dispatches = groups = 0;
    ASSERT_TRUE(many.run().ok());
    EXPECT_TRUE(many.is_right()) << tensors;
    EXPECT_EQ(dispatches, pieces_of(groups)) << tensors;  // one kernel
    EXPECT_GT(dispatches, 1) << tensors;
  }
}

// A limit that nothing reaches cuts nothing.
TEST(CutDispatches, ThatAreShortStayWhole) {
  std::atomic<int>&submits = count("stria_vulkan_submits"),
  &dispatches = count("stria_vulkan_dispatches");
  int counted[2][2];
  for (const bool limited : {false, true}) {
    const Runtime runtime =
        vulkan_with(limited ? R"("dispatch_limit_ms": 500)" : R"("dispatch_limit_ms": 0)");
    const Device device = open(runtime);
    submits = dispatches = 0;
    const Status status = run_small_program(device);
    EXPECT_TRUE(status.ok()) << status.to_string();
    counted[limited][0] = submits;
    counted[limited][1] = dispatches;
  }
  EXPECT_EQ(counted[0][0], counted[1][0]);
  EXPECT_EQ(counted[0][1], counted[1][1]);
}

// By a model that takes the device for very slow, a kernel is cut; once it has run, it is not.
TEST(CutDispatches, AreNotCutAnyMoreWhereTheyWereFast) {
  const SlowModels models;
  const Runtime runtime = models.runtime(true);
  const Device device = open(runtime);
  const ManyElements many(device);
  std::atomic<int>&submits = count("stria_vulkan_submits"), &groups = count("stria_vulkan_groups");
  groups = 0;
  int whole = 0;
  std::vector<int> counts;
  for (int run = 0; run < 3; ++run) {
    submits = 0;
    ASSERT_TRUE(many.run().ok());
    counts.push_back(submits);
    // Of the first run alone: a later one may be a recording that is submitted again.
    if (run == 0) whole = groups;
    EXPECT_TRUE(many.is_right());
  }
  std::printf("submissions of three runs: %d, %d, %d\n", counts[0], counts[1], counts[2]);
  EXPECT_EQ(counts[0], pieces_of(whole));
  EXPECT_EQ(counts[1], 1);
  EXPECT_EQ(counts[2], 1);
}

class VulkanInjection : public testing::TestWithParam<const char*> {};

// Every submission of a program in turn, until there are no more.
TEST_P(VulkanInjection, OfAFailureAtEachSubmissionIsOneError) {
  int at = 1;
  for (;; ++at) {
    ASSERT_LT(at, 500);
    ASSERT_FALSE(HasFailure());  // one is enough
    const Runtime runtime = vulkan_with(
        fmt::format(R"({}, "inject": {{"submit": {}, "then": "fail"}})", GetParam(), at));
    const Device device = open(runtime);
    const Status status = run_small_program(device);
    if (status.ok()) break;
    EXPECT_THAT(status.message(), AllOf(HasSubstr("VK_ERROR_OUT_OF_DEVICE_MEMORY"),
                                        HasSubstr("vkQueueSubmit2, queue '"),
                                        AnyOf(HasSubstr("kernel"), HasSubstr("copy to the"))));
    EXPECT_THAT(status.message(), Not(HasSubstr("lost")));
    // The device is well.
    const Status again = run_small_program(device);
    EXPECT_TRUE(again.ok()) << at << ": " << again.to_string();
  }
  std::printf("%d submissions have failed\n", at - 1);
  EXPECT_GT(at, 1);
}

TEST_P(VulkanInjection, OfALossAtEachSubmissionIsTheEndOfOneDevice) {
  const Runtime well = runtime_with(kPlugin);
  const Device other = open(well);
  std::atomic<int>& freed = count("stria_vulkan_freed");
  int at = 1;
  for (;; ++at) {
    ASSERT_LT(at, 500);
    ASSERT_FALSE(HasFailure());  // one is enough
    Runtime runtime = vulkan_with(
        fmt::format(R"({}, "inject": {{"submit": {}, "then": "lose"}})", GetParam(), at));
    Device device = open(runtime);
    const Status status = run_small_program(device);
    if (status.ok()) break;
    EXPECT_EQ(status.code(), StatusCode::device_lost);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("is lost: vkQueueSubmit2, queue '"),
                                        AnyOf(HasSubstr("kernel"), HasSubstr("copy to the"))));
    const int freed_before = freed;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THAT(run_small_program(device).message(), HasSubstr("is lost"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    device = {};
    EXPECT_TRUE(runtime.shutdown().ok());
    EXPECT_EQ(freed, freed_before);
    const Status others = run_small_program(other);
    EXPECT_TRUE(others.ok()) << others.to_string();
  }
  std::printf("%d submissions have lost the device\n", at - 1);
  EXPECT_GT(at, 1);
}

INSTANTIATE_TEST_SUITE_P(All, VulkanInjection,
                         testing::Values(R"("staging": "auto")",
                                         R"("staging": "always", "dispatch_limit_ms": 0.01)"));

// Each that the plugin asks for.
constexpr const char* kFeatures[] = {
#define STRIA_VK_FEATURE(place, feature) #feature,
#include "features.def"
#undef STRIA_VK_FEATURE
};
constexpr const char* kExtensions[] = {"VK_KHR_synchronization2", "VK_EXT_subgroup_size_control",
                                       "VK_KHR_workgroup_memory_explicit_layout",
                                       "VK_EXT_device_fault", "VK_EXT_pci_bus_info"};

// R = A + A of 0, 1, 2, … 9 in one type: ok if it is right.
Status double_numbers(const Device& device, DataType type) {
  STRIA_ASSIGN(const Program program,
               Program::from_tile({"double.tile", "function (A[N]) -> (R) { R = A + A; }"}));
  STRIA_ASSIGN(HostTensor numbers, HostTensor::create(type, {10}, "A"));
  for (int64_t i = 0; i < 10; ++i)
    store_scalar(type, numbers.data(), i, convert(Scalar::of_int(DataType::i64, i), type));
  STRIA_ASSIGN(const Executable executable, device.compile(program, {{"A", {type, {10}}}}));
  STRIA_ASSIGN(const Tensor a, device.create_tensor(type, {10}));
  STRIA_RETURN_IF_ERROR(a.write(numbers.bytes()));
  STRIA_ASSIGN(const Tensor r, device.create_tensor(type, {10}));
  STRIA_ASSIGN(const Event done, executable.run({a}, {r}));
  STRIA_RETURN_IF_ERROR(done.wait());
  STRIA_ASSIGN(const HostTensor result, r.read());
  for (int64_t i = 0; i < 10; ++i) {
    const Scalar have = convert(load_scalar(type, result.data(), i), DataType::i64);
    if (have.i != 2 * i)
      return make_error(StatusCode::data_loss, "element {} of {} is {}", i, name_of(type), have.i);
  }
  return {};
}

// Each hidden in turn: the device is unavailable, or a program that needs it is refused, and the
// feature is named; everything else is right.
TEST(HiddenFeatures, AreNamedWhereTheyAreNeeded) {
  std::vector<std::string> names(std::begin(kFeatures), std::end(kFeatures));
  names.insert(names.end(), std::begin(kExtensions), std::end(kExtensions));
  std::set<std::string> unavailable, refused;
  for (const std::string& name : names) {
    const Runtime runtime =
        runtime_with(kPlugin, fmt::format(R"({{"hide_features": ["{}"]}})", name));
    Result<Device> device = runtime.open(chosen_device("vulkan"));
    if (!device.ok()) {
      EXPECT_THAT(device.status().message(), AllOf(HasSubstr("lacks"), HasSubstr(name)));
      unavailable.insert(name);
      continue;
    }
    const Status status = run_small_program(*device);
    EXPECT_TRUE(status.ok()) << name << ": " << status.to_string();
    for (const DataType type : {DataType::fp64, DataType::fp16, DataType::bf16, DataType::i64,
                                DataType::u16, DataType::i8}) {
      const Status typed = double_numbers(*device, type);
      if (typed.ok()) continue;
      // What this device lacks anyway is no matter here.
      if (typed.message().find(name) == std::string::npos &&
          double_numbers(open(runtime_with(kPlugin)), type).message() == typed.message())
        continue;
      EXPECT_THAT(typed.message(),
                  AllOf(HasSubstr(name), HasSubstr(name_of(type)), HasSubstr(device->info().name)));
      refused.insert(fmt::format("{}: {}", name, name_of(type)));
    }
  }
  EXPECT_THAT(unavailable, testing::ElementsAre("bufferDeviceAddress", "synchronization2",
                                                "timelineSemaphore", "vulkanMemoryModel"));
  for (const std::string& one : refused) std::printf("refused without %s\n", one.c_str());
  EXPECT_FALSE(refused.empty());
}

}  // namespace
}  // namespace stria
