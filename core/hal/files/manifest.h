// SPDX-License-Identifier: Apache-2.0
// plugin.json: what a plugin says of itself, read before anything of it is loaded.
//
//   {
//     "schema": 1,
//     "id": "acme",                                // letters, digits, '_' and '-'; this and all
//                                                  // other names: 256 bytes at most
//     "version": "1.2.0",
//     "vendor": "Acme",                            // optional
//     "library": "libstria_acme.so",               // relative, stays inside the directory
//     "abi": {"major": 0, "minor": [1, 5]},        // range of ABI minors
//     "stripe": {"major": 1, "minor": [0, 0]},     // range of Stripe text minors it reads
//     "devices": {"npu": {"hw": "hw/npu.json", "pipeline": "passes/npu.json"}},
//     "unloadable": false,                  // optional: may leave the process after shutdown
//     "sha256": {"libstria_acme.so": "…"},  // optional: pinned contents of files
//     // optional: what it opens at run time, and the Debian package that brings each
//     "requires": [{"library": "libacme.so.1", "package": "libacme1"}],
//     // optional: what else decides how its driver behaves; a plugin is tried anew when it changes
//     "driver": {"environment": ["ACME_*"], "files": ["/etc/acme/*.conf"]}
//   }
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stria/base/status.h"

namespace stria::hal {

// major.minor_min to major.minor_max, inclusive.
struct VersionRange {
  uint32_t major = 0;
  uint32_t minor_min = 0;
  uint32_t minor_max = 0;
  bool operator==(const VersionRange&) const = default;
};
// "0.1" or "0.1 to 0.3".
std::string to_string(const VersionRange& range);
// The highest minor both have, or incompatible with both ranges; `what` is "ABI", "Stripe text", ….
Result<uint32_t> negotiate(std::string_view what, const VersionRange& host,
                           const VersionRange& plugin);

struct DeviceKind {
  std::string name;
  std::filesystem::path hw;        // hardware model, relative to the plugin's directory
  std::filesystem::path pipeline;  // relative too
};

// A shared object that the plugin opens at run time. Its absence makes devices unavailable; it is
// no failure of the plugin.
struct Requirement {
  std::string library;  // as the dynamic loader knows it, without a folder
  std::string package;  // of Debian
};

// What decides how a plugin's driver behaves, beside the plugin's own files.
struct DriverSurroundings {
  std::vector<std::string> environment;  // names of variables; * at the end: all that begin so
  std::vector<std::string> files;        // absolute paths, with the shell's * ? and [a-z]
};

struct Manifest {
  std::string id;
  std::string version;
  std::string vendor;
  std::filesystem::path library;  // relative to the plugin's directory
  VersionRange abi;
  VersionRange stripe;
  std::vector<DeviceKind> devices;  // in the file's order
  bool unloadable = false;
  std::map<std::string, std::string> sha256;  // relative path -> 64 lower-case hex digits
  std::vector<Requirement> required;
  DriverSurroundings driver;

  // Null if there is no such kind.
  const DeviceKind* find_kind(std::string_view name) const;
};

// `name` is what messages call the text. Unknown keys and missing ones are errors that name the
// JSON path and the nearest right name; so are a path that leaves the directory and a file over 1
// MiB.
Result<Manifest> parse_manifest(std::string_view text, std::string_view name);
// Reads `directory`/plugin.json and checks that it and every file it names are regular files inside
// `directory`, links followed.
Result<Manifest> read_manifest(const std::filesystem::path& directory);

}  // namespace stria::hal
