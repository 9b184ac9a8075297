"""A numpy program that knows nothing of libskgemm: enlarges a photograph by sinc interpolation (fp64 products of dense
matrices), then compresses it to a low rank by block power iteration (fp32 products).

picture.py PHOTO OUT.png
"""
import sys
import time

import numpy as np
from PIL import Image

FACTOR = 6    # enlargement
RANK = 40     # of the compressed picture
ROUNDS = 3    # power iterations


class Clock:
    """Times products alone and counts their flops."""

    def __init__(self):
        self.seconds = self.flops = 0.0

    def product(self, a, b):
        start = time.perf_counter()
        c = a @ b
        self.seconds += time.perf_counter() - start
        self.flops += 2.0 * a.shape[0] * a.shape[1] * b.shape[1]
        return c

    def __str__(self):
        return f"{self.flops / 1e9:.0f} GFLOP at {self.flops / 1e9 / self.seconds:.1f} GFLOP/s"


def sinc_matrix(size):
    """(FACTOR*size) x size: periodic sinc interpolation, which is exact at the old pixels."""
    x = np.arange(FACTOR * size)[:, None] / FACTOR - np.arange(size)[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        kernel = np.sin(np.pi * x) / (size * np.tan(np.pi * x / size))
    kernel[np.isclose(x, 0)] = 1
    return kernel


def enlarge(photo, clock):
    rows, columns = sinc_matrix(photo.shape[0]), sinc_matrix(photo.shape[1]).T.copy()
    channels = [np.ascontiguousarray(photo[:, :, i]) for i in range(3)]  # numpy multiplies strided ones without BLAS
    rows @ channels[0] @ columns  # untimed: starts whatever the BLAS starts on its first call
    large = [clock.product(clock.product(rows, channel), columns) for channel in channels]
    rng = np.random.default_rng(1)
    error = 0.0
    for y, x in zip(rng.integers(rows.shape[0], size=60), rng.integers(columns.shape[1], size=60)):
        terms = rows[y][:, None] * channels[0] * columns[:, x][None, :]
        error = np.maximum(error, abs(large[0][y, x] - terms.sum()) / abs(terms).sum())  # maximum keeps a NaN
    return np.hstack(large), error


def compress(picture, clock):
    rng = np.random.default_rng(2)
    basis = rng.standard_normal((picture.shape[1], RANK), dtype=np.float32)
    picture @ basis  # untimed, as above
    basis = np.linalg.qr(clock.product(picture, basis))[0]
    for _ in range(ROUNDS):
        basis = np.linalg.qr(clock.product(picture, clock.product(picture.T, basis)))[0]
    weights = clock.product(basis.T, picture)
    small = clock.product(basis, weights)
    error = 0.0
    for y, x in zip(rng.integers(picture.shape[0], size=2000), rng.integers(picture.shape[1], size=2000)):
        terms = basis[y].astype(np.float64) * weights[:, x]
        error = np.maximum(error, abs(small[y, x] - terms.sum()) / abs(terms).sum())
    return small, (basis.size + weights.size) / picture.size, error


def as_image(picture):
    channels = np.stack(np.hsplit(picture, 3), axis=2)[::3, ::3]
    return Image.fromarray((255 * channels.clip(0, 1)).round().astype(np.uint8))


def main(photo_file, out_file):
    photo = np.asarray(Image.open(photo_file).convert("RGB"), dtype=np.float64) / 255
    clock = Clock()
    large, error64 = enlarge(photo, clock)
    print(f"enlarged {photo.shape[0]}x{photo.shape[1]} to {large.shape[0]}x{large.shape[1] // 3} in fp64: {clock}; "
          f"error {error64:.1e}")
    clock = Clock()
    large = large.astype(np.float32)
    small, share, error32 = compress(large, clock)
    loss = np.linalg.norm(large - small) / np.linalg.norm(large)
    print(f"compressed to rank {RANK} in fp32, {100 * share:.1f} % of the numbers, {100 * loss:.1f} % off: {clock}; "
          f"error {error32:.1e}")
    images = [as_image(large), as_image(small)]
    both = Image.new("RGB", (2 * images[0].width, images[0].height))
    for i, image in enumerate(images):
        both.paste(image, (i * image.width, 0))
    both.save(out_file)
    return 0 if error64 <= 1e-12 and error32 <= 1e-5 and loss <= 0.2 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
