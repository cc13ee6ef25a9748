#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tools/demo/lake.png, the demo's photograph: a rendered lake at dusk, 1920x1080, RGB, seeded.

Needs numpy and Pillow. The picture is committed; this script documents where it comes from and makes
it anew:  python3 tools/demo/make_photo.py tools/demo/lake.png
"""
import sys

import numpy as np
from PIL import Image

W, H = 1920, 1080
rng = np.random.default_rng(20)


def noise(width, height, cells_x, cells_y):
    """Smooth noise in 0..1: a random lattice, interpolated with a cubic fade."""
    lattice = rng.random((cells_y + 2, cells_x + 2))
    x = np.linspace(0, cells_x, width, endpoint=False)
    y = np.linspace(0, cells_y, height, endpoint=False)
    xi, yi = x.astype(int), y.astype(int)
    fx, fy = x - xi, y - yi
    fx, fy = fx * fx * (3 - 2 * fx), (fy * fy * (3 - 2 * fy))[:, None]
    a, b = lattice[np.ix_(yi, xi)], lattice[np.ix_(yi, xi + 1)]
    c, d = lattice[np.ix_(yi + 1, xi)], lattice[np.ix_(yi + 1, xi + 1)]
    return (a * (1 - fx) + b * fx) * (1 - fy) + (c * (1 - fx) + d * fx) * fy


def octaves(width, height, base_x, base_y, count, gain=0.5):
    total = np.zeros((height, width))
    amplitude = 1.0
    for _ in range(count):
        total += amplitude * noise(width, height, base_x, base_y)
        base_x, base_y, amplitude = base_x * 2, base_y * 2, amplitude * gain
    return total / ((1 - gain**count) / (1 - gain))


def ridge(base, height, cells, count, gain=0.5):
    """The skyline of a mountain range: one height in rows for each column."""
    return base - height * octaves(W, 1, cells, 1, count, gain)[0]


horizon = 640
rows = np.arange(H)[:, None]
columns = np.arange(W)[None, :]


def mix(a, b, t):
    t = np.clip(t, 0, 1)[..., None]
    return np.asarray(a) * (1 - t) + np.asarray(b) * t


def sky_and_land():
    t = np.broadcast_to(rows / horizon, (H, W))
    picture = mix((0.16, 0.25, 0.48), (0.98, 0.70, 0.45), t**1.5)
    clouds = octaves(W, H, 5, 14, 4)
    picture = mix(picture, np.broadcast_to((1.0, 0.82, 0.72), (H, W, 3)), (clouds - 0.52) * 2.2 * t)
    sun = np.hypot(columns - 1320, rows - 470)
    picture = mix(picture, np.broadcast_to((1.0, 0.95, 0.80), (H, W, 3)), np.exp(-((sun / 160) ** 2)) * 0.7)
    picture = np.where((sun < 46)[..., None], (1.0, 0.97, 0.88), picture)
    for base, height, cells, shade in [(590, 330, 4, (0.42, 0.40, 0.52)), (625, 240, 7, (0.24, 0.25, 0.36)),
                                       (655, 130, 11, (0.10, 0.13, 0.18))]:
        line = ridge(base, height, cells, 7)
        depth = np.clip((rows - line[None, :]) / 220, 0, 1)
        rock = octaves(W, H, cells * 6, 12, 3) * 0.10
        colour = np.asarray(shade)[None, None, :] * (1 + 0.5 * depth[..., None]) + rock[..., None] * 0.6
        picture = np.where((rows > line[None, :])[..., None], colour, picture)
    trunk = ridge(668, 60, 90, 2, 0.7)  # a row of trees on the far shore
    return np.where(((rows > trunk[None, :]) & (rows < horizon + 8))[..., None], (0.05, 0.08, 0.07), picture)


land = sky_and_land()
# The water mirrors what is above it, squeezed, rippled and darkened.
distance = np.clip(rows - horizon, 0, None)
ripple = (octaves(W, H, 24, 160, 2) - 0.5) * (4 + distance * 0.06)
mirror_row = np.clip(horizon - distance * 1.35 - ripple, 0, horizon - 1).astype(int)
mirror_column = np.clip(columns + ripple * 0.6, 0, W - 1).astype(int)
water = land[mirror_row, mirror_column] * (0.78, 0.84, 0.92) * (1 - 0.30 * distance / (H - horizon))[..., None]
picture = np.where((rows >= horizon)[..., None], water, land)
# A pier in front, with posts.
pier = (np.abs(columns - (520 - (rows - 760) * 0.35)) < 26 + (rows - 760) * 0.22) & (rows > 760)
plank = ((rows // 14) % 2) * 0.05
picture = np.where(pier[..., None], np.stack([0.22 + plank + 0 * columns, 0.16 + plank + 0 * columns, 0.12 + plank + 0 * columns], -1), picture)
picture += (rng.random((H // 4, W // 4)).repeat(4, 0).repeat(4, 1)[..., None] - 0.5) * 0.008
levels = np.clip(np.round(picture * 255), 0, 255).astype(np.uint8)
Image.fromarray(levels, "RGB").save(sys.argv[1], optimize=True)
