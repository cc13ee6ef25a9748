// SPDX-License-Identifier: Apache-2.0
// The validation cases are all exact, and layer tables are read as SCALE-Sim does.
#include "validate/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stria/cost/unit_operation.h"
#include "stria/base/file.h"
#include "validate/scalesim_topology.h"

namespace stria::sim {
namespace {

using testing::HasSubstr;

TEST(Validation, EveryCaseIsMet) {
  const std::string path = STRIA_SOURCE_DIR "/hwmodels/templates/stripe_slides.json";
  auto cases = validate({path, read_file(path).value()});
  ASSERT_TRUE(cases.ok()) << cases.status().to_string();
  EXPECT_GE(cases->size(), 55u);
  size_t rounded = 0;  // with few digits, or with how a tool fetches ahead
  for (const ValidationCase& one : *cases) {
    EXPECT_TRUE(one.met()) << one.name << ": " << one.ours;
    rounded += one.within_percent > 0;
  }
  EXPECT_EQ(rounded, 4u);
  EXPECT_THAT(validation_table(*cases),
              HasSubstr(fmt::format("{} of {} cases are exact, 0 missed", cases->size() - rounded,
                                    cases->size())));
  ValidationCase wrong = (*cases)[0];
  ++wrong.ours;
  EXPECT_THAT(validation_table({wrong}), HasSubstr("MISSED"));
}

TEST(Topology, ReadsConvolutionsAndProducts) {
  auto convolutions = read_topology({"alexnet.csv",
                                     "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter "
                                     "Width, Channels, Num Filter, Strides,\n"
                                     "Conv1, 227, 227, 11, 11, 3, 96, 4,\n"
                                     "FC, 1, 1, 1, 1, 4096, 1000, 1,\n"});
  ASSERT_TRUE(convolutions.ok()) << convolutions.status().to_string();
  ASSERT_EQ(convolutions->size(), 2u);
  EXPECT_EQ((*convolutions)[0].product.m, 55 * 55);
  EXPECT_EQ((*convolutions)[0].product.n, 96);
  EXPECT_EQ((*convolutions)[0].product.k, 363);
  EXPECT_EQ((*convolutions)[1].product.m, 1);
  auto products = read_topology({"mnk.csv", "Layer,M,N,K,\nGEMM,256,128,256,\n"});
  ASSERT_TRUE(products.ok());
  const SystolicArray array = parse_array("32x32", "os").value();
  EXPECT_EQ(cost::systolic_cycles(array, (*products)[0].product), 10'176);
  EXPECT_THAT(topology_table(*products, array),
              testing::AllOf(HasSubstr("GEMM"), HasSubstr("10176"), HasSubstr("80.5%")));
}

TEST(Topology, SaysWhereAMistakeIs) {
  const auto message = [](const std::string& text) {
    return read_topology({"t.csv", text}).status().message();
  };
  EXPECT_THAT(message("Layer,M,N,K\nA,1,2\n"), HasSubstr("t.csv:2: error: 3 fields"));
  EXPECT_THAT(message("Layer,M,N,K\nA,1,-2,3\n"), HasSubstr("N is '-2', not a whole number"));
  EXPECT_THAT(message("Layer,M,N,K\n"), HasSubstr("there is no layer"));
  EXPECT_THAT(message("Layer,M\nA,1\n"), HasSubstr("has 8 columns"));
  EXPECT_THAT(message("a,b,c,d,e,f,g,h\nL,2,2,3,3,1,1,1\n"), HasSubstr("larger than its input"));
  EXPECT_THAT(parse_array("32", "os").status().message(), HasSubstr("ROWSxCOLUMNS"));
  EXPECT_THAT(parse_array("0x3", "os").status().message(), HasSubstr("ROWSxCOLUMNS"));
  EXPECT_THAT(parse_array("3x3", "oos").status().message(), HasSubstr("one of os, ws, is"));
}

}  // namespace
}  // namespace stria::sim
