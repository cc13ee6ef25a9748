// SPDX-License-Identifier: Apache-2.0
// A program on the plugin `opencl` of which each command in turn fails or loses the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../small_program.h"

namespace stria {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

Runtime opencl_with(const std::string& options = "{}") {
  return runtime_with(STRIA_BINARY_DIR "/lib/stria/plugins/opencl", options);
}
Device open(const Runtime& runtime) {
  Result<Device> device = runtime.open(chosen_device("opencl"));
  EXPECT_TRUE(device.ok()) << device.status().to_string();
  return *device;
}
std::string inject(int submit, const char* then) {
  return fmt::format(R"({{"inject": {{"submit": {}, "then": "{}"}}}})", submit, then);
}

// Kernel and queue, or what else it was.
const auto kNamesCommand =
    AllOf(AnyOf(HasSubstr("clEnqueueNDRangeKernel of 'k"), HasSubstr("Buffer in queue '")),
          HasSubstr(" in queue '"), HasSubstr("CL_OUT_OF_RESOURCES"));

TEST(OpenClInjection, OfAFailureAtEachCommandIsOneError) {
  int at = 1;
  for (;; ++at) {
    ASSERT_LT(at, 100);
    ASSERT_FALSE(HasFailure());  // one is enough
    const Runtime runtime = opencl_with(inject(at, "fail"));
    const Device device = open(runtime);
    const Status status = run_small_program(device);
    if (status.ok()) break;
    EXPECT_THAT(status.message(), kNamesCommand) << at;
    EXPECT_THAT(status.message(), Not(HasSubstr("lost")));
    // The device is well.
    const Status again = run_small_program(device);
    EXPECT_TRUE(again.ok()) << at << ": " << again.to_string();
  }
  std::printf("%d commands have failed\n", at - 1);
  EXPECT_GT(at, 2);
}

TEST(OpenClInjection, OfALossAtEachCommandIsTheEndOfOneDevice) {
  const Runtime well = opencl_with();
  const Device other = open(well);
  int at = 1;
  for (;; ++at) {
    ASSERT_LT(at, 100);
    ASSERT_FALSE(HasFailure());  // one is enough
    Runtime runtime = opencl_with(inject(at, "lose"));
    Device device = open(runtime);
    const Status status = run_small_program(device);
    if (status.ok()) break;
    EXPECT_EQ(status.code(), StatusCode::device_lost);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("is lost: clEnqueue"), kNamesCommand)) << at;
    EXPECT_THAT(run_small_program(device).message(), HasSubstr("is lost: clEnqueue"));
    device = {};
    EXPECT_TRUE(runtime.shutdown().ok());
    const Status others = run_small_program(other);
    EXPECT_TRUE(others.ok()) << others.to_string();
  }
  std::printf("%d commands have lost the device\n", at - 1);
  EXPECT_GT(at, 2);
}

TEST(OpenClInjection, OfWhatIsNoPlanIsRefused) {
  for (const char* plan : {R"({"inject": {"submit": 0, "then": "fail"}})",
                           R"({"inject": {"submit": 1, "then": "burn"}})", R"({"inject": 3})"}) {
    const Runtime runtime = opencl_with(plan);
    EXPECT_THAT(runtime.open("opencl").status().message(), HasSubstr("options are {\"inject\""));
  }
}

}  // namespace
}  // namespace stria
