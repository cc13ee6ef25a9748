// SPDX-License-Identifier: Apache-2.0
// The memory of one kernel while it runs: its arguments and arrays, and who has touched what with
// nothing to order it.
#pragma once

#include <cstdint>
#include <vector>

#include "fault_text.h"
#include "kernel_run.h"
#include "matrix_values.h"
#include "memory.h"
#include "stria/base/result.h"
#include "stria/semtree/tree/tree.h"

namespace stria::lanes {

class TouchedMemory {
 public:
  // All of them must outlive it. `subgroup_lanes`: of the subgroups that hold matrices; 0: none do.
  TouchedMemory(const semtree::Function& function, const std::vector<Argument>& arguments,
                RunCounts& counts, int64_t subgroup_lanes);

  // Are there arguments for the parameters, and do they lie as the function is told?
  Status check_arguments() const;

  // What follows is ordered behind what came before: of other launches, of other groups (by
  // nothing), of other lanes of the group.
  void begin_launch();
  void begin_group(int64_t group);
  void pass(const semtree::Barrier& barrier);
  void pass_subgroup(int64_t subgroup);

  struct Element {
    Memory* memory = nullptr;
    int64_t element = 0;
  };
  // The element of this number of a parameter or array, which `lane` touches.
  Result<Element> reach(int memory, int64_t element, int64_t lane, bool writes,
                        const semtree::Statement& statement);
  // Has each lane such a memory of its own? May it be written?
  bool is_own(int memory) const;
  bool is_writable(int memory) const;
  // A matrix of the subgroup in which `lane` is.
  Result<MatrixValues> matrix(const semtree::FragmentRef& ref, int64_t lane,
                              const semtree::Statement& statement);

 private:
  int64_t copies_of(const semtree::Array& array) const;
  void overwrite(bool overlaid);
  Status record(const Element& at, const semtree::Parameter* param, const Party& lane, bool writes,
                const std::string& name, int64_t element);
  Status record_store(const Element& at, const Party& lane, bool writes, const std::string& name,
                      int64_t element);

  const semtree::Function& function_;
  const FaultText text_;
  const std::vector<Argument>& arguments_;
  RunCounts& counts_;
  const int64_t subgroup_lanes_;
  // Those that are not shared once for each lane, one behind the other; matrices once for each
  // subgroup.
  std::vector<Memory> arrays_;
  // Spans of time in which nothing orders what is touched: of the launch for groups, for lanes of
  // the group in parameters through which they hand nothing on, since a barrier in those through
  // which they do, and in shared arrays.
  uint64_t launch_ = 0, group_phase_ = 0, parameters_phase_ = 0, shared_phase_ = 0;
  std::vector<uint64_t> subgroup_phases_;  // since the subgroup's last barrier of its own
  bool overlaid_ = false;  // such arrays hold something, and what lies below does not
  int64_t group_ = 0;
};

}  // namespace stria::lanes
