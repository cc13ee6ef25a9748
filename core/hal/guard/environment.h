// SPDX-License-Identifier: Apache-2.0
// What the environment may say to drivers. Their loaders take from variables which libraries to
// load, their compilers which programs to run: in a process with rights that its starter lacks that
// would be the starter's code with those rights.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace stria::hal {

// "NAME=value", as in `environ`.
using Environment = std::vector<std::string>;

// A copy. Drivers may change the environment from threads of their own while it is read: take it
// before the first of them is loaded, and use it from then on.
std::shared_ptr<const Environment> environment_now();

// In an elevated process, before the first plugin is loaded: leaves of the environment what only
// says how things are spelled and shown (LANG, LANGUAGE, LC_*, TERM, TZ, COLUMNS, LINES, NO_COLOR),
// and sets PATH to the system's own and HOME to that of the user whose rights are used, because
// programs are run from the one and caches of machine code are read below the other. No variable is
// looked up by name that it would clear: it knows none. Nothing happens if not `elevated`. For a
// process in which no other thread reads the environment yet.
void restrict_environment(bool elevated);
// The same, once in this process.
void restrict_environment_once(bool elevated);

}  // namespace stria::hal
