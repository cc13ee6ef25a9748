// SPDX-License-Identifier: Apache-2.0
// The validation cases are all exact, and layer tables are read as SCALE-Sim does.
#include "validate/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mapped_cycles.h"
#include "stria/base/file.h"
#include "stria/cost/block/unit_operation.h"
#include "validate/scalesim_topology.h"

namespace stria::sim {
namespace {

using testing::HasSubstr;

// As `stria sim` maps programs.
Result<stripe::Program> mapped(const std::string& text, const std::vector<ValidationInput>& inputs,
                               const HardwareModel& model) {
  Inputs types;
  for (const ValidationInput& input : inputs) types[input.name] = {input.type, input.sizes};
  return mapped_program(model, text, types);
}

TEST(Validation, EveryCaseIsMet) {
  const std::string path = STRIA_SOURCE_DIR "/hwmodels/templates/stripe_slides.json";
  auto cases = validate({path, read_file(path).value()}, mapped);
  ASSERT_TRUE(cases.ok()) << cases.status().to_string();
  EXPECT_GE(cases->size(), 75u);
  size_t rounded = 0;  // with few digits, or with how a tool fetches ahead
  for (const ValidationCase& one : *cases) {
    EXPECT_TRUE(one.met()) << one.name << ": " << one.ours;
    rounded += one.within_percent > 0;
  }
  EXPECT_EQ(rounded, 10u);
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

const std::string kConvolutions =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
    "Strides,\n";

// However a table is written, the layers are the same.
TEST(Topology, ReadsWhatProgramsForTablesWrite) {
  for (const char* text :
       {"Layer,M,N,K\nA,1,2,3\nB,4,5,6", "\xEF\xBB\xBFLayer,M,N,K\nA,1,2,3\nB,4,5,6\n",
        "Layer,M,N,K\r\nA,1,2,3\r\nB,4,5,6\r\n", "Layer,M,N,K\rA,1,2,3\rB,4,5,6\r",
        "Layer,M,N,K,,\n\nA,1,2,3,,\n , ,\nB,4,5,6,,\n\n",
        "\n \"Layer\" , \"M\",N,K\n\"A\",\"1\", 2 ,3\nB,4,\t5\t,6\n",
        "K,N,layer name,m,Sparsity\n3,2,A,1,1:1\n6,5,B,4,4:4\n"}) {
    auto layers = read_topology({"t.csv", text});
    ASSERT_TRUE(layers.ok()) << text << layers.status().to_string();
    ASSERT_EQ(layers->size(), 2u) << text;
    EXPECT_EQ((*layers)[0].name, "A") << text;
    EXPECT_EQ((*layers)[0].product.m, 1) << text;
    EXPECT_EQ((*layers)[0].product.k, 3) << text;
    EXPECT_EQ((*layers)[1].name, "B") << text;
    EXPECT_EQ((*layers)[1].product.n, 5) << text;
  }
  auto quoted = read_topology({"t.csv", "Layer,M,N,K\n\"A, \"\"big\"\"\",1,2,3\n"});
  ASSERT_TRUE(quoted.ok()) << quoted.status().to_string();
  EXPECT_EQ((*quoted)[0].name, "A, \"big\"");
  auto largest = read_topology({"t.csv", "Layer,M,N,K\nA,1,1000000000,3\n"});
  ASSERT_TRUE(largest.ok()) << largest.status().to_string();
  EXPECT_EQ((*largest)[0].product.n, 1e9);
}

TEST(Topology, SaysWhereAMistakeIs) {
  const auto message = [](const std::string& text) {
    return read_topology({"t.csv", text}).status().message();
  };
  EXPECT_THAT(message("Layer,M,N,K\nA,1,2\n"), HasSubstr("t.csv:2:6: error: K is missing"));
  EXPECT_THAT(message("Layer,M,N,K\nA,1,-2,3\n"), HasSubstr("N is '-2', not a whole number"));
  EXPECT_THAT(message("Layer,M,N,K\n"), HasSubstr("there is no layer"));
  EXPECT_THAT(message("Layer,M\nA,1\n"), HasSubstr("the column 'N' is missing"));
  EXPECT_THAT(message(kConvolutions + "L,2,2,3,3,1,1,1\n"), HasSubstr("larger than its input"));
  EXPECT_THAT(message(""), HasSubstr("there is no layer"));
  EXPECT_THAT(message("\n\n"), HasSubstr("there is no layer"));
  // A first line that is a layer is not taken for the names of the columns.
  EXPECT_THAT(message("A,1,2,3\nB,4,5,6\n"),
              HasSubstr("t.csv:1:1: error: this is a layer, but the first line"));
  EXPECT_THAT(message("Conv1, 227, 227, 11, 11, 3, 96, 4,\n"), HasSubstr("IFMAP Height"));
  EXPECT_THAT(message("A,1e3,2,3\n"), HasSubstr("this is a layer"));
  EXPECT_THAT(message("Layer;M;N;K\nA;1;2;3\n"), HasSubstr("no column 'Layer;M;N;K'"));
  EXPECT_THAT(message("Layer,M,M,N,K\nA,1,1,2,3\n"),
              HasSubstr("t.csv:1:9: error: there are two columns 'M'"));
  EXPECT_THAT(message("Layer,M,N,K,Speed\nA,1,2,3,4\n"), HasSubstr("no column 'Speed'"));
  EXPECT_THAT(message("Layer name, IFMAP Hieght\n"), HasSubstr("did you mean 'IFMAP Height'?"));
  EXPECT_THAT(message("Layer,M,N,K\nA,1,2,3,4\n"),
              HasSubstr("t.csv:2:9: error: 5 cells, the table has 4 columns"));
  EXPECT_THAT(message("Layer,M,N,K\n,1,2,3\n"), HasSubstr("t.csv:2:1: error: Layer is missing"));
  EXPECT_THAT(message("Layer,M,N,K\nA,1,,3\n"), HasSubstr("N is missing"));
  EXPECT_THAT(message("Layer,M,N,K\n# A,1,2,3\n\nB,1,2\n"), HasSubstr("t.csv:4:6: error: K is"));
  EXPECT_THAT(message("Layer,M,N,K\nA,\"1,2,3\n"), HasSubstr("not closed on its line"));
  EXPECT_THAT(message("Layer,M,N,K\nA,\"1\"2,2,3\n"), HasSubstr("'2' stands between"));
  EXPECT_THAT(message("Layer,M,N,K,Sparsity\nA,1,2,3,2:4\n"),
              HasSubstr("Sparsity is '2:4': only dense layers"));
  for (const char* number : {"0", "-1", "+1", "1.0", "1e3", "0x10", "nan", "inf", "1 2",
                             "1000000001", "99999999999999999999", "\x1b[1m", "\xff"})
    EXPECT_THAT(message(fmt::format("Layer,M,N,K\nA,1,{},3\n", number)),
                testing::AllOf(HasSubstr("t.csv:2:5: error: N is '"),
                               HasSubstr("', not a whole number from 1 to 1000000000"),
                               testing::Not(HasSubstr("\x1b"))))
        << number;
  // Several at once, with their places.
  EXPECT_THAT(message("Layer,M,N,K\nA,x,2,3\nB,1,y,3\n"),
              testing::AllOf(HasSubstr("t.csv:2:3"), HasSubstr("t.csv:3:5")));
  EXPECT_THAT(parse_array("32", "os").status().message(), HasSubstr("ROWSxCOLUMNS"));
  EXPECT_THAT(parse_array("0x3", "os").status().message(), HasSubstr("ROWSxCOLUMNS"));
  EXPECT_THAT(parse_array("3x3", "oos").status().message(), HasSubstr("one of os, ws, is"));
}

}  // namespace
}  // namespace stria::sim
