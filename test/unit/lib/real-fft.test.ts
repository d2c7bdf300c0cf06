import { expect, test } from "bun:test";
import fc from "fast-check";
import { RealFft } from "../../../src/lib/real-fft";

const listOf = (size: number) =>
  fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: size, maxLength: size });

test.each([4, 8, 64])("%d numbers have the spectrum of the definition, and come back from it", (size) => {
  const fft = new RealFft(size);
  fc.assert(
    fc.property(listOf(size), (list) => {
      const values = Float64Array.from(list);
      const spectrum = fft.createSpectrum();
      fft.transform(values, spectrum);
      for (let k = 0; k <= size / 2; k++) {
        let [re, im] = [0, 0];
        for (const [n, value] of values.entries()) {
          re += value * Math.cos((2 * Math.PI * k * n) / size);
          im -= value * Math.sin((2 * Math.PI * k * n) / size);
        }
        expect(spectrum.re[k]).toBeCloseTo(re, 10);
        expect(spectrum.im[k]).toBeCloseTo(im, 10);
      }
      const inverted = new Float64Array(size);
      fft.invert(spectrum, inverted);
      for (let n = 0; n < size; n++) expect(inverted[n]).toBeCloseTo(values[n]!, 10);
    }),
    { numRuns: 20 },
  );
});
