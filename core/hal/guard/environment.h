// SPDX-License-Identifier: Apache-2.0
// What the environment may say to drivers. Their loaders take from variables which libraries to
// load, their compilers which programs to run: in a process with rights that its starter lacks that
// would be the starter's code with those rights.
#pragma once

namespace stria::hal {

// In an elevated process, before the first plugin is loaded: leaves of the environment what only
// says how things are spelled and shown (LANG, LANGUAGE, LC_*, TERM, TZ, COLUMNS, LINES, NO_COLOR),
// and sets PATH to the system's own and HOME to that of the user whose rights are used, because
// programs are run from the one and caches of machine code are read below the other. No variable is
// looked up by name that it would clear: it knows none. Nothing happens if not `elevated`. For a
// process in which no other thread reads the environment yet.
void restrict_environment(bool elevated);

}  // namespace stria::hal
