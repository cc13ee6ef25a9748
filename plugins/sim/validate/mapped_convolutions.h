// SPDX-License-Identifier: Apache-2.0
// The one-dimensional convolutions of Timeloop's and Accelergy's exercises, with their mappings as
// schedules (ISPASS 2020: arrays of 8-bit words, one multiply-add, 64 words of registers before a
// memory of 64-bit words). Each multiply-add reads and writes the registers anew; the first one of
// a sum does not read the sum. They serve validation: how often each memory is accessed is
// published.
#pragma once

namespace stria::sim {

// Energies of the exercises' tables, picojoules of a word of 8 bits; `words` is put into MAIN.
inline constexpr const char* kMappedMachine = R"({{
  "clock_mhz": 1000,
  "mem_units": {{
    "MAIN": {{"size_KiB": 256, {} "read_pJ_per_byte": 5.419125, "write_pJ_per_byte": 3.85975,
              "leakage_mW": 0.000861}},
    "RF": {{"size_KiB": 0.0625, "read_pJ_per_byte": 0.42564, "write_pJ_per_byte": 0.42564,
            "leakage_mW": 0.007972}}}},
  "exec_units": {{
    "MAC": {{"op": "mac", "ops_per_cycle": 1, "energy_pJ": {{"mac.i8": 0.845}}}},
    "CONTROL": {{"ops_per_cycle": 1}}}},
  "tx_units": {{"DMA": {{"count": 1}}}},
  "buses": [
    {{"sources": ["MAIN[0]"], "sinks": ["DMA[0]"], "bytes_per_cycle": 64}},
    {{"sources": ["DMA[0]"], "sinks": ["RF[0]"], "bytes_per_cycle": 64}},
    {{"sources": ["RF[0]"], "sinks": ["DMA[0]"], "bytes_per_cycle": 64}},
    {{"sources": ["DMA[0]"], "sinks": ["MAIN[0]"], "bytes_per_cycle": 64}}]}})";

// 3 weights, 16 results: all of it stays in the registers.
inline constexpr const char* kConvolution = R"(stripe 1.0
0: #program #placed block [] ( // conv1d
    none new@0x0<MAIN[0]> W[0] i8(3:1)
    none new@0x10<MAIN[0]> I[0] i8(18:1)
    none new@0x30<MAIN[0]> O[0] i8(16:1)
) {
  0: #main #deps block [] ( // main
      in<MAIN[0]> W[0] i8(3:1)
      in<MAIN[0]> I[0] i8(18:1)
      out<MAIN[0]> O[0] i8(16:1)
      none new@0x0<RF[0]> Wn[0] i8(3:1)
      none new@0x4<RF[0]> In[0] i8(18:1)
      none new@0x18<RF[0]> On[0] i8(16:1)
  ) {
    0: #swap_in block<DMA> [r:3] (in<MAIN[0]> W[r] i8(1:1), out<RF[0]> Wn[r] i8(1:1)) {
      0: $w = load(W)
      1: Wn = store($w)
    }
    1: #swap_in block<DMA> [x:18] (in<MAIN[0]> I[x] i8(1:1), out<RF[0]> In[x] i8(1:1)) {
      0: $i = load(I)
      1: In = store($i)
    }
    2[0, 1]: #kernel block [p:16] ( // conv
        in<RF[0]> Wn[0] i8(3:1)
        in<RF[0]> In[p] i8(3:1)
        out<RF[0]> On[p]:add.i32 i8(1:1)
    ) {
      0: block<MAC> [] (in<RF[0]> Wn[0] i8(1:1), in<RF[0]> In[0] i8(1:1), out<RF[0]> On[0]:add.i32 i8(1:1)) {
        0: $w = load(Wn)
        1: $i = load(In)
        2: $o = mul.i32($w, $i)
        3: On = store($o)
      }
      1: block [r:2] (
          in<RF[0]> Wn[1 + r] i8(1:1)
          in<RF[0]> In[1 + r] i8(1:1)
          inout<RF[0]> On[0]:add.i32 i8(1:1)
      ) {
        0: block<MAC> [] (in<RF[0]> Wn[0] i8(1:1), in<RF[0]> In[0] i8(1:1), inout<RF[0]> On[0]:add.i32 i8(1:1)) {
          0: $w = load(Wn)
          1: $i = load(In)
          2: $o = mul.i32($w, $i)
          3: On = store($o)
        }
      }
    }
    3[2]: #swap_out block<DMA> [p:16] (in<RF[0]> On[p] i8(1:1), out<MAIN[0]> O[p] i8(1:1)) {
      0: $o = load(On)
      1: O = store($o)
    }
  }
}
)";

// 32 output channels, two at a time; the input is copied in once for each two.
inline constexpr const char* kTiledConvolution = R"(stripe 1.0
0: #program #placed block [] ( // conv1d_tiled
    none new@0x0<MAIN[0]> W[0, 0] i8(32:3, 3:1)
    none new@0x60<MAIN[0]> I[0] i8(18:1)
    none new@0x80<MAIN[0]> O[0, 0] i8(32:16, 16:1)
) {
  0: #main block [] ( // main
      in<MAIN[0]> W[0, 0] i8(32:3, 3:1)
      in<MAIN[0]> I[0] i8(18:1)
      out<MAIN[0]> O[0, 0] i8(32:16, 16:1)
  ) {
    0: #kernel block [k:16] ( // conv
        in<MAIN[0]> W[2*k, 0] i8(2:3, 3:1)
        in<MAIN[0]> I[0] i8(18:1)
        out<MAIN[0]> O[2*k, 0] i8(2:16, 16:1)
        none new@0x0<RF[0]> Wn[0, 0] i8(2:3, 3:1)
        none new@0x8<RF[0]> In[0] i8(18:1)
        none new@0x20<RF[0]> On[0, 0] i8(2:16, 16:1)
    ) {
      0: #swap_in block<DMA> [c:2, r:3] (in<MAIN[0]> W[c, r] i8(1:3, 1:1), out<RF[0]> Wn[c, r] i8(1:3, 1:1)) {
        0: $w = load(W)
        1: Wn = store($w)
      }
      1: #swap_in block<DMA> [x:18] (in<MAIN[0]> I[x] i8(1:1), out<RF[0]> In[x] i8(1:1)) {
        0: $i = load(I)
        1: In = store($i)
      }
      2: block [c:2, p:16] (
          in<RF[0]> Wn[c, 0] i8(1:3, 3:1)
          in<RF[0]> In[p] i8(3:1)
          out<RF[0]> On[c, p]:add.i32 i8(1:16, 1:1)
      ) {
        0: block<MAC> [] (in<RF[0]> Wn[0, 0] i8(1:3, 1:1), in<RF[0]> In[0] i8(1:1), out<RF[0]> On[0, 0]:add.i32 i8(1:16, 1:1)) {
          0: $w = load(Wn)
          1: $i = load(In)
          2: $o = mul.i32($w, $i)
          3: On = store($o)
        }
        1: block [r:2] (
            in<RF[0]> Wn[0, 1 + r] i8(1:3, 1:1)
            in<RF[0]> In[1 + r] i8(1:1)
            inout<RF[0]> On[0, 0]:add.i32 i8(1:16, 1:1)
        ) {
          0: block<MAC> [] (in<RF[0]> Wn[0, 0] i8(1:3, 1:1), in<RF[0]> In[0] i8(1:1), inout<RF[0]> On[0, 0]:add.i32 i8(1:16, 1:1)) {
            0: $w = load(Wn)
            1: $i = load(In)
            2: $o = mul.i32($w, $i)
            3: On = store($o)
          }
        }
      }
      3: #swap_out block<DMA> [c:2, p:16] (in<RF[0]> On[c, p] i8(1:16, 1:1), out<MAIN[0]> O[c, p] i8(1:16, 1:1)) {
        0: $o = load(On)
        1: O = store($o)
      }
    }
  }
}
)";

}  // namespace stria::sim
