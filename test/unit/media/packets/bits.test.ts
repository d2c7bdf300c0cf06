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

/** Bytes in which start codes are likely. */
const bytes = fc
  .array(fc.oneof(fc.constantFrom(0, 0, 0, 1, 2, 3), fc.integer({ min: 0, max: 255 })), { maxLength: 60 })
  .map((values) => Uint8Array.from(values));

const binary = (all: Uint8Array) => [...all].map((byte) => byte.toString(2).padStart(8, "0")).join("");

describe("bytes against start codes", () => {
  test("come out as they went in, and hold no start code in between", () => {
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

describe("numbers of variable length", () => {
  test("are read as they are written, wherever they stand", () => {
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

  test("at the end of the bytes are some number, not a loop without end", () => {
    expect(readExpGolomb(Uint8Array.from([0, 0]), 3).end).toBe(3 + 65);
  });
});

describe("replacing bits", () => {
  test("changes nothing before and behind them", () => {
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
        const wanted = binary(all).slice(0, from) + bits + binary(all).slice(to);
        const result = binary(replaceBits(all, from, to, bits));
        expect(result).toBe(wanted.padEnd(Math.ceil(wanted.length / 8) * 8, "0"));
      }),
    );
  });
});
