// SPDX-License-Identifier: Apache-2.0
// A failed compilation as one text, which can be tried again elsewhere and read by people. It is a
// Stripe file. Its head, a comment, holds everything else that the failure depends on:
//
//   // stria reproducer 1
//   // To see it again: stria opt --run-repro FILE
//   //   internal: cpu.json: the program that step 'tile' (autotile) made is not legal: …
//   // {
//   //   "build": false,
//   //   "device": "",
//   //   "fast_math": false,
//   //   "hw": {…},
//   //   "pipeline": [{"autotile": {…}, "name": "tile"}],
//   //   "stria": "0.1.0",
//   //   "verify_each": true
//   // }
//   stripe 1.0
//   0: #program block [] ( …
//
// To try it again: run the pipeline on the program, with that hardware model. Then, with `build`,
// build the result on that device.
#pragma once

#include <string>

#include "stria/base/diagnostic.h"
#include "stria/base/status.h"
#include "stria/stripe/block.h"

namespace stria {

struct Reproducer {
  std::string device;  // "plugin:id"; "" = a pipeline run by itself (`stria opt`)
  bool fast_math = false;
  bool no_peepholes = false;  // in the head only if true
  bool verify_each = false;
  bool build = false;           // by the device, after the pipeline
  std::string pipeline = "[]";  // JSON, rendered
  std::string hw = "{}";        // the merged hardware model, JSON
  std::string program;          // Stripe text
  std::string failure;          // for people; "" = not known, as when the process dies
  std::string written_by;       // version of stria; to_string() puts its own

  // Does trying it again need the device? Only a plugin's own pass and a build do.
  bool needs_device() const;
  std::string to_string() const;
};

// The version of this stria.
const char* stria_version();

// invalid_argument, with file, line and column, for a text that is no reproducer or one whose head
// is damaged; the Stripe in it is not parsed.
Result<Reproducer> parse_reproducer(const SourceText& file);

}  // namespace stria
