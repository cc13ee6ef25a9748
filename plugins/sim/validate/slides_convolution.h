// SPDX-License-Identifier: Apache-2.0
// The convolution that the Stripe slides print, as a scheduled program: 1024 x 1024 points, 3 x 3,
// 32 to 64 channels of i8. The image and the weights are copied in as a whole; each row is computed
// and copied out. It serves validation: its time is known by hand.
#pragma once

namespace stria::sim {

inline constexpr const char* kSlidesConvolution = R"(stripe 1.0
0: #program #placed block [] ( // layer_test7
    none new@0x0<DRAM[0]> I[0, 0, 0] i8(1024:32768, 1024:32, 32:1)
    none new@0x2000000<DRAM[0]> K1[0, 0, 0, 0] i8(3:6144, 3:2048, 32:64, 64:1)
    none new@0x2004800<DRAM[0]> O1[0, 0, 0] i8(1024:65536, 1024:64, 64:1)
) {
  0: #main #deps block [] ( // main
      in<DRAM[0]> I[0, 0, 0] i8(1024:32768, 1024:32, 32:1)
      in<DRAM[0]> K1[0, 0, 0, 0] i8(3:6144, 3:2048, 32:64, 64:1)
      out<DRAM[0]> O1[0, 0, 0] i8(1024:65536, 1024:64, 64:1)
      none new@0x0<SRAM[0]> In[0, 0, 0] i8(1024:32768, 1024:32, 32:1)
      none new@0x0<SRAM[1]> Kn[0, 0, 0, 0] i8(3:6144, 3:2048, 32:64, 64:1)
  ) {
    0: #swap_in block<DMA> [x:1024, y:1024, c:32] (
        in<DRAM[0]> I[x, y, c] i8(1:32768, 1:32, 1:1)
        out<SRAM[0]> In[x, y, c] i8(1:32768, 1:32, 1:1)
    ) {
      0: $i = load(I)
      1: In = store($i)
    }
    1: #swap_in block<DMA> [kx:3, ky:3, ci:32, co:64] (
        in<DRAM[0]> K1[kx, ky, ci, co] i8(1:6144, 1:2048, 1:64, 1:1)
        out<SRAM[1]> Kn[kx, ky, ci, co] i8(1:6144, 1:2048, 1:64, 1:1)
    ) {
      0: $k = load(K1)
      1: Kn = store($k)
    }
    2[0, 1]: #kernel #pipeline=1024 block [x:1024] ( // conv
        in<SRAM[0]> I = In[-1 + x, 0, 0] i8(3:32768, 1024:32, 32:1)
        in<SRAM[1]> K1 = Kn[0, 0, 0, 0] i8(3:6144, 3:2048, 32:64, 64:1)
        out<DRAM[0]> O1[x, 0, 0] i8(1:65536, 1024:64, 64:1)
        none new@0x0<SRAM[2]> On[0, 0] i8(1024:64, 64:1)
    ) {
      0: block<CONV> [ci:32, co:64, kx:3, ky:3, y:1024, x = x] (
          -1 + kx + x >= 0
          1024 - kx - x >= 0
          -1 + ky + y >= 0
          1024 - ky - y >= 0
          in<SRAM[0]> I[kx, -1 + ky + y, ci] i8(1:32768, 1:32, 1:1)
          in<SRAM[1]> K1[kx, ky, ci, co] i8(1:6144, 1:2048, 1:64, 1:1)
          out<SRAM[2]> On[y, co]:add.i32 i8(1:64, 1:1)
      ) {
        0: $i = load(I)
        1: $k = load(K1)
        2: $o = mul.i32($i, $k)
        3: On = store($o)
      }
      1: #swap_out block<DMA> [y:1024, co:64] (
          in<SRAM[2]> On[y, co] i8(1:64, 1:1)
          out<DRAM[0]> O1[0, y, co] i8(1:65536, 1:64, 1:1)
      ) {
        0: $o = load(On)
        1: O1 = store($o)
      }
    }
  }
}
)";

}  // namespace stria::sim
