/** Fourier transform of real numbers. Pure. */

/** A spectrum of `size / 2 + 1` bins: real and imaginary parts. */
export type Spectrum = { re: Float64Array; im: Float64Array };

/** The size is a power of two, and at least 4. */
export class RealFft {
  private readonly half: number;
  private readonly cos: Float64Array;
  private readonly sin: Float64Array;
  private readonly reversed: Uint32Array;
  private readonly re: Float64Array;
  private readonly im: Float64Array;

  constructor(readonly size: number) {
    const half = size / 2;
    this.half = half;
    this.cos = Float64Array.from({ length: half }, (_, n) => Math.cos((2 * Math.PI * n) / size));
    this.sin = Float64Array.from({ length: half }, (_, n) => Math.sin((2 * Math.PI * n) / size));
    const bits = Math.log2(half);
    this.reversed = Uint32Array.from({ length: half }, (_, n) => {
      let result = 0;
      for (let bit = 0; bit < bits; bit++) if ((n >> bit) & 1) result |= 1 << (bits - 1 - bit);
      return result;
    });
    this.re = new Float64Array(half);
    this.im = new Float64Array(half);
  }

  createSpectrum(): Spectrum {
    return { re: new Float64Array(this.half + 1), im: new Float64Array(this.half + 1) };
  }

  /** Transforms `size` numbers. */
  transform(values: Float64Array, { re, im }: Spectrum): void {
    const { half, cos, sin, reversed } = this;
    // Even numbers are real parts, odd ones imaginary parts of half as many complex numbers.
    for (let n = 0; n < half; n++) {
      const at = reversed[n]!;
      this.re[n] = values[2 * at]!;
      this.im[n] = values[2 * at + 1]!;
    }
    this.combine();
    for (let k = 0; k <= half; k++) {
      const [a, b] = [k % half, (half - k) % half];
      const evenRe = (this.re[a]! + this.re[b]!) / 2;
      const evenIm = (this.im[a]! - this.im[b]!) / 2;
      const oddRe = (this.im[a]! + this.im[b]!) / 2;
      const oddIm = (this.re[b]! - this.re[a]!) / 2;
      const c = k === half ? -1 : cos[k]!;
      const s = k === half ? 0 : sin[k]!;
      re[k] = evenRe + c * oddRe + s * oddIm;
      im[k] = evenIm + c * oddIm - s * oddRe;
    }
  }

  /** Transforms a spectrum back to `size` numbers. */
  invert({ re, im }: Spectrum, values: Float64Array): void {
    const { half, cos, sin, reversed } = this;
    for (let n = 0; n < half; n++) {
      const k = reversed[n]!;
      const evenRe = (re[k]! + re[half - k]!) / 2;
      const evenIm = (im[k]! - im[half - k]!) / 2;
      const diffRe = (re[k]! - re[half - k]!) / 2;
      const diffIm = (im[k]! + im[half - k]!) / 2;
      const oddRe = diffRe * cos[k]! - diffIm * sin[k]!;
      const oddIm = diffRe * sin[k]! + diffIm * cos[k]!;
      // The conjugate, because the same steps run forward.
      this.re[n] = evenRe - oddIm;
      this.im[n] = -(evenIm + oddRe);
    }
    this.combine();
    for (let n = 0; n < half; n++) {
      values[2 * n] = this.re[n]! / half;
      values[2 * n + 1] = -this.im[n]! / half;
    }
  }

  private combine(): void {
    const { half, re, im, cos, sin } = this;
    for (let length = 2; length <= half; length <<= 1) {
      const middle = length >> 1;
      const stride = (2 * half) / length;
      for (let from = 0; from < half; from += length)
        for (let a = from, k = 0; a < from + middle; a++, k += stride) {
          const b = a + middle;
          const productRe = re[b]! * cos[k]! + im[b]! * sin[k]!;
          const productIm = im[b]! * cos[k]! - re[b]! * sin[k]!;
          re[b] = re[a]! - productRe;
          im[b] = im[a]! - productIm;
          re[a]! += productRe;
          im[a]! += productIm;
        }
    }
  }
}
