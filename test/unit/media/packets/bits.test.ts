import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  addEmulationPrevention,
  formatExpGolomb,
  readBits,
  readExpGolomb,
  removeEmulationPrevention,
  replaceBits,
} from "../../../../src/media/packets/bits";

/** Bytes with likely start codes. */
const bytes = fc
  .array(fc.oneof(fc.constantFrom(0, 0, 0, 1, 2, 3), fc.integer({ min: 0, max: 255 })), { maxLength: 60 })
  .map((values) => Uint8Array.from(values));

const binary = (all: Uint8Array) => [...all].map((byte) => byte.toString(2).padStart(8, "0")).join("");

describe("emulation prevention", () => {
  test("is reversible, and leaves no start code", () => {
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 255 }), fc.integer({ min: 0, max: 4 }), (body, last, words) => {
        const raw = Uint8Array.from([...body, last, ...Array(2 * words).fill(0)]);
        const nal = addEmulationPrevention(raw);
        expect(removeEmulationPrevention(nal)).toEqual(raw);
        const text = Buffer.from(nal).toString("hex").replace(/../g, "$& ");
        expect(text).not.toMatch(/\b00 00 0[012]\b/);
        expect(nal.at(-1)).not.toBe(0);
      }),
    );
  });
});

describe("Exp-Golomb numbers", () => {
  test("are read as written at any position", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 70_000 }), fc.integer({ min: 0, max: 20 }), (value, before) => {
        const bits = "1".repeat(before) + formatExpGolomb(value);
        const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, "0");
        const all = Uint8Array.from(padded.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)));
        expect(readExpGolomb(all, before)).toEqual({ value, end: bits.length });
        expect(readBits(all, before, formatExpGolomb(value).length)).toBe(value + 1);
      }),
    );
  });

  test("beyond the end of the bytes do not cause an endless loop", () => {
    expect(readExpGolomb(Uint8Array.from([0, 0]), 3).end).toBe(3 + 65);
  });
});

describe("replacing bits", () => {
  test("changes nothing before and after them", () => {
    const cases = bytes
      .filter((all) => all.length > 0)
      .chain((all) =>
        fc.record({
          all: fc.constant(all),
          from: fc.integer({ min: 0, max: all.length * 8 }),
          length: fc.integer({ min: 0, max: 20 }),
          bits: fc.array(fc.constantFrom("0", "1"), { maxLength: 40 }).map((list) => list.join("")),
        }),
      );
    fc.assert(
      fc.property(cases, ({ all, from, length, bits }) => {
        const to = Math.min(all.length * 8, from + length);
        const expected = binary(all).slice(0, from) + bits + binary(all).slice(to);
        const result = binary(replaceBits(all, from, to, bits));
        expect(result).toBe(expected.padEnd(Math.ceil(expected.length / 8) * 8, "0"));
      }),
    );
  });
});
