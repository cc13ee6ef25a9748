// SPDX-License-Identifier: Apache-2.0
// Marks what the installed library exports; everything else of it is hidden.
#pragma once

#define STRIA_API [[gnu::visibility("default")]]
