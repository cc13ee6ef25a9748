// SPDX-License-Identifier: Apache-2.0
// Reading members of structs that another build made: a member counts only if it lies within
// `size`.
#pragma once

#include <cstddef>
#include <type_traits>

// struct_.member if the struct is long enough to have it, else `otherwise`.
#define STRIA_SIZED(struct_, member, otherwise)                                                \
  ((struct_).size >=                                                                           \
           offsetof(std::remove_cvref_t<decltype(struct_)>, member) + sizeof((struct_).member) \
       ? (struct_).member                                                                      \
       : (otherwise))
