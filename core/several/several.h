// SPDX-License-Identifier: Apache-2.0
// One program on several devices. <stria/stria.h> has the rest of the interface, and what holds for
// every class.
//
//   SplitExecutable  a program compiled for several devices, each of which runs a part
//   SplitTensor      a tensor on these: in rows, or whole on each
//   SplitRunner      runs a program on all devices of a selector; goes on without one that fails
//   Topology         how fast bytes move between devices, and which way
#pragma once

#include "stria/several/split_executable.h"
#include "stria/several/split_runner.h"
#include "stria/several/split_tensor.h"
#include "stria/several/topology.h"
