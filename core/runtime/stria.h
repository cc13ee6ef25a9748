// SPDX-License-Identifier: Apache-2.0
// All of stria that an application sees. Nothing but the standard library is included behind it,
// and libstria exports nothing else.
//
//   Runtime     finds device plugins, lists devices, opens one
//   Device      makes tensors and compiles programs
//   Program     Tile text, or an ONNX model with its weights
//   OnnxModel   an ONNX file, and programs made of it
//   Executable  a program compiled for a device and for sizes; runs
//   Tensor      memory of a device
//   Event       work under way
//   Selection   what becomes of each device under a selector
//   ProgramRunner  runs a program on one device of several, and on the next one if that fails
//
// <stria/edsl.h> is beside it: programs written in C++ instead of Tile text.
//
// A Selection is a plain value. The others are handles: copies are cheap and mean the same object,
// which lives as long as a copy or work that needs it, in any order. All functions may be called
// from any thread at any time; only assigning to one handle object while another thread uses that
// same object needs a lock, as with any variable. Failures are values (Status, Result<T>), never
// exceptions.
#pragma once

#include "stria/runtime/device.h"
#include "stria/runtime/event.h"
#include "stria/runtime/executable.h"
#include "stria/runtime/onnx_model.h"
#include "stria/runtime/program.h"
#include "stria/runtime/program_runner.h"
#include "stria/runtime/runtime.h"
#include "stria/runtime/tensor.h"
