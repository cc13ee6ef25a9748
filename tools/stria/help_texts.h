// SPDX-License-Identifier: Apache-2.0
// What several verbs' --help says below their options.
#pragma once

namespace stria::command {

inline constexpr const char* kSelectors =
    "\nSelectors, with commas between:\n"
    "  PLUGIN  PLUGIN:N  PLUGIN:NAME  the first available device of a plugin, its N-th (from 0), "
    "one\n"
    "                                 whose name or id matches (* and ?, letters of either case);\n"
    "                                 of several the first is taken that can be used\n"
    "  auto                           the best device, of the named ones if there are any\n"
    "  mem>=8G  dtype:bf16  kind:gpu  conditions, which all hold; also vendor:*intel*, and real: "
    "not\n"
    "                                 simulated\n"
    "  !TERM                          none that is named so, or meets the condition\n"
    "Quote them: a shell takes <, > and ! for itself. @FILE reads them from a file. With "
    "isolated:\n"
    "in front, plugins run in processes of their own: what they do there ends nothing but their\n"
    "devices. `stria devices --select SEL` says what becomes of each device.";

inline constexpr const char* kTensors =
    "\nTensors: a.npy, a.npy:bf16 (bf16 carried as u16), a.npy:i4 (a packed type, one element in "
    "each byte), photo.png or photo.jpg (fp32 [H, W, C] in "
    "0..1; "
    "of an ONNX model see Pictures), photo.png:u8 "
    "and photo.png:u16 (the picture's integers as they are: ':u16' of an 8-bit picture gives "
    "0..255),\nrandom:SEED[:TYPE] (needs --shape; floats N(0,1), integers -8..7, unsigned "
    "0..15),\nnumbers as 16000, 0.5, true or 1,2,3:i64 (one number fills all of --shape),\n"
    "text:hello,world for an ONNX model that takes text.\n"
    "Types: bool i8 i16 i32 i64 u8 u16 u32 u64 fp16 bf16 fp32 fp64; packed: fp8_e4m3 fp8_e5m2 fp4 "
    "i4 u4 i2 u2.";

inline constexpr const char* kPictures =
    "\nPictures for ONNX models get the model's type, height, width and layout. --picture "
    "KEY=VALUE, "
    "in the order of the steps:\n"
    "  alpha=drop         leave the alpha channel out, which is an error otherwise where the "
    "model\n"
    "                     takes grey or three colours\n"
    "  size=N, size=H,W   resize: N is the shorter side (default: the model's height and width)\n"
    "  crop=N, crop=H,W   cut so much out of the middle (default: nothing)\n"
    "  order=bgr          blue first (default: rgb)\n"
    "  scale=S            what white becomes (default: 1; 255 for integers)\n"
    "  mean=M, std=D      one number, or one for each channel: (x * scale - mean) / std\n"
    "  layout=L           nchw, nhwc, chw or hwc (default: the channels are the dimension of 1, 3 "
    "or 4)\n"
    "Grey and colours are turned into each other as the model's channels ask. Smaller pictures "
    "are\n"
    "weighted means of all pixels (linear, antialiased). Of Tile programs --picture without a\n"
    "layout gives [H, W, C].\n";

}  // namespace stria::command
