// SPDX-License-Identifier: Apache-2.0
// The compiled half of fmt, once. Debian has it as a shared object only, and a plugin must carry
// its own hidden copy; header-only use costs five seconds of compilation in every file that formats
// anything.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl<char>(locale_ref);
template dragonbox::decimal_fp<float> dragonbox::to_decimal<float>(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal<double>(double) noexcept;
template void buffer<char>::append<char>(const char*, const char*);
template void vformat_to<char>(buffer<char>&, basic_string_view<char>,
                               basic_format_args<buffer_context<char>>, locale_ref);
}  // namespace detail
FMT_END_NAMESPACE
