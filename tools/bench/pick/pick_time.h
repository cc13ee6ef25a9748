// SPDX-License-Identifier: Apache-2.0
// How long a choice of a device by bounds takes: what `auto` costs before anything is opened.
#pragma once

namespace stria::bench {

// Among all devices of all plugins of this machine, of a small program and of one of the shape of
// ResNet-50: for the first time, and when it is known what runs take on each device. A line each;
// medians of so many rounds, of processor time.
void print_pick_times(int rounds);

}  // namespace stria::bench
