// SPDX-License-Identifier: Apache-2.0
// Groups that a device cannot run as the program means them are refused when it is compiled, by the
// plugin on the first device that there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vulkan_programs.h"

namespace stria::hal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A copy by one group, whose lanes are `subgroups` units of `lanes` lanes.
std::string copy_in_units(const std::string& unit, int64_t subgroups, int64_t lanes) {
  return fmt::format(R"(stripe 1.0
0: #program block [] ( // copy
    none new@0 A[0] fp32({0}:1)
    none new@0 R[0] fp32({0}:1)
) {{
  0: #main block [] ( // main
      in A[0] fp32({0}:1)
      out R[0] fp32({0}:1)
  ) {{
    0: #group #kernel block<CU[0]> [] ( // copy_it
        in A[0] fp32({0}:1)
        out R[0] fp32({0}:1)
    ) {{
      0: block<{1}[w]/LANE[l]> [w:{2}, l:{3}] ( // lanes
          in A[{3}*w + l] fp32(1:1)
          out R[{3}*w + l] fp32(1:1)
      ) {{
        0: $a = load(A)
        1: R = store($a)
      }}
    }}
  }}
}}
)",
                     subgroups * lanes, unit, subgroups, lanes);
}

// R = A by one lane, whose loops run rows * (columns + 1) iterations.
std::string copy_in_loops(int64_t rows, int64_t columns) {
  return fmt::format(R"(stripe 1.0
0: #program block [] ( // copy
    none new@0 A[0, 0] fp32({0}:{1}, {1}:1)
    none new@0 R[0, 0] fp32({0}:{1}, {1}:1)
) {{
  0: #main block [] ( // main
      in A[0, 0] fp32({0}:{1}, {1}:1)
      out R[0, 0] fp32({0}:{1}, {1}:1)
  ) {{
    0: #kernel block [i:{0}, j:{1}] ( // copy_it
        in A[i, j] fp32(1:{1}, 1:1)
        out R[i, j] fp32(1:{1}, 1:1)
    ) {{
      0: $a = load(A)
      1: R = store($a)
    }}
  }}
}}
)",
                     rows, columns);
}

class RefusedGroups : public ::testing::Test {
 protected:
  void SetUp() override {
    plugin_ = load_vulkan();
    auto device = first_device(plugin_);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
  }
  void TearDown() override {
    device_ = {};
    Status status = plugin_.shutdown();
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
  Status build(const std::string& text) {
    STRIA_ASSIGN(Compiler compiler, device_.create_compiler());
    STRIA_ASSIGN(Build build, compiler.build(text));
    return build.done.wait();
  }
  Plugin plugin_;
  Device device_;
};

// No device has subgroups of 3 lanes.
TEST_F(RefusedGroups, WithUnitsThatAreNoSubgroups) {
  const Status status = build(copy_in_units("SUBGROUP", 2, 3));
  EXPECT_EQ(status.code(), StatusCode::unsupported);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("'copy_it'"), HasSubstr("units 'SUBGROUP' have 3 lanes each")));
  EXPECT_TRUE(build(copy_in_units("PART", 2, 3)).ok());
}

TEST_F(RefusedGroups, OfTooManyLanes) {
  const Status status = build(copy_in_units("PART", 1024, 32));
  EXPECT_EQ(status.code(), StatusCode::out_of_range);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("'copy_it'"), HasSubstr("32768 lanes")));
}

// llvmpipe leaves every loop of a kernel behind the 65,535th iteration of all of them.
TEST_F(RefusedGroups, OfMoreIterationsThanTheDriverRuns) {
  if (device_.info().name.find("llvmpipe") == std::string::npos)
    GTEST_SKIP() << "of llvmpipe alone";
  EXPECT_TRUE(build(copy_in_loops(255, 255)).ok());
  const Status status = build(copy_in_loops(256, 256));
  EXPECT_EQ(status.code(), StatusCode::out_of_range);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("'copy_it'"), HasSubstr("65792 iterations"), HasSubstr("65535")));
}

}  // namespace
}  // namespace stria::hal
