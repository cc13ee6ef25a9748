// SPDX-License-Identifier: Apache-2.0
// Code of plugins, and of the drivers they open, runs in this process and may end it. Then the
// command still says whose code it was, and ends with the exit code for a failed device.
#pragma once

namespace stria::command {

// From here on:
// - exit, quick_exit and _exit called by anybody else than leave() end the process with code 3 and
//   a message that names the plugin and what was called, where that is known;
// - so does a fatal signal, an abort or a failed assertion on a thread that is in a plugin's call
//   or in code of a plugin's shared object; others do what they did before, after the crash
//   handler;
// - so does a plugin that ends the thread which called it.
// Processes that a plugin forks are left alone. Once, at the beginning of main.
void guard_process();

// The handler of crashes, called before the process ends, on the thread that crashes; null: none.
// It may do what a signal handler may.
void set_crash_handler(void (*handler)());

// Says that the calling thread runs the command's own code: a crash on it outside of plugins' calls
// is ours. Gives the thread a stack for the handler, of which there is one.
void mark_own_thread();

// Names the plugin whose code it is that crashes on a thread of its own, for example in a kernel.
// The text is not copied: it must live as long as the process. Null: nobody's.
void name_suspect(const char* plugin);

// Ends the process with this code at once. What plugins and vendors' drivers would do at exit may
// crash or hang; it must not change how we end.
[[noreturn]] void leave(int code);

}  // namespace stria::command
