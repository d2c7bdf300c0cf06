/** MP4 tables that declare more than their bytes contain. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AppError } from "../../../../src/domain/errors";
import { checkTables, MAX_EDITS, MAX_FRAGMENT_SAMPLES } from "../../../../src/media/packets/mp4-tables";

const MANY = 0xffff_ffff;
const FILE_BYTES = 30_000;

const word = (value: number) => [(value >>> 24) & 255, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
const words = (...values: number[]) => values.flatMap(word);
const box = (type: string, ...content: number[][]): number[] => {
  const body = content.flat();
  return [...word(body.length + 8), ...Buffer.from(type, "latin1"), ...body];
};
const track = (...tables: number[][]) => box("trak", box("edts"), box("mdia", box("minf", box("stbl", ...tables))));

/** Returns the code with which a box is rejected; null when it passes. */
function getErrorCode(type: string, content: number[], fileBytes = FILE_BYTES): string | null {
  try {
    const totals = { entries: 0, samples: 0, fragmentSamples: 0 };
    checkTables({ type, body: Uint8Array.from(content) }, totals, fileBytes);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

/** Ten samples of different sizes. */
const SIZES = box("stsz", words(0, 0, 10, ...Array(10).fill(100)));
const TRUN = 0x000200;

describe("a moov box", () => {
  test("with consistent tables passes", () => {
    const tables = [
      box("stsd", words(0, 1), box("avc1", words(0))),
      box("stts", words(0, 1, 10, 512)),
      box("ctts", words(0, 2, 5, 0, 5, 1024)),
      box("stsc", words(0, 1, 1, 10, 1)),
      box("stco", words(0, 1, 48)),
      box("stss", words(0, 1, 1)),
      SIZES,
    ];
    expect(getErrorCode("moov", [...box("mvhd", words(0, 0)), ...track(...tables)])).toBeNull();
  });

  test.each([
    ["stts", words(0, MANY, 1, 512)],
    ["stts", words(0, 2, 1, 512)],
    ["ctts", words(0, MANY, 1, 512)],
    ["stsc", words(0, MANY, 1, 10, 1)],
    ["stsc", words(0, 1, 1, MANY, 1)],
    ["stsz", words(0, 0, MANY, 100)],
    ["stz2", words(0, 4, MANY)],
    ["stco", words(0, MANY, 48)],
    ["co64", words(0, MANY, 0, 48)],
    ["stss", words(0, MANY, 1)],
    ["stsd", words(0, MANY, 1, 1)],
    ["stts", words(0)],
    ["stsz", words(0, 0)],
  ])("with %s %p is corrupt", (type, content) => {
    expect(getErrorCode("moov", track(SIZES, box(type, content)))).toBe("corrupt_media");
  });

  test.each([
    ["times", [box("stts", words(0, 1, MANY, 1)), SIZES]],
    ["composition offsets", [box("stts", words(0, 1, 10, 1)), box("ctts", words(0, 1, MANY, 1)), SIZES]],
    ["times over several entries", [box("stts", words(0, 2, 2_000, 1, 2_000, 1)), SIZES]],
    [
      "offsets of samples of one size",
      [box("stts", words(0, 1, MANY, 1)), box("ctts", words(0, 1, 9_000, 1)), box("stsz", words(0, 4, 100))],
    ],
  ])("with more %s than sizes is corrupt", (_, tables) => {
    expect(getErrorCode("moov", track(...tables))).toBe("corrupt_media");
  });

  test("with too many edits is corrupt", () => {
    const edits = (count: number) => box("edts", box("elst", words(0, count), new Array(12 * count).fill(0)));
    expect(getErrorCode("moov", box("trak", edits(MAX_EDITS)))).toBeNull();
    expect(getErrorCode("moov", box("trak", edits(MAX_EDITS + 1)))).toBe("corrupt_media");
  });

  test("with many samples of constant size passes: uncompressed audio", () => {
    const tables = [box("stts", words(0, 1, 500_000_000, 1)), box("stsz", words(0, 4, 500_000_000))];
    expect(getErrorCode("moov", track(...tables))).toBeNull();
  });

  test("with an edit list, a segment index or a random access table that declares too much is corrupt", () => {
    expect(getErrorCode("moov", box("trak", box("edts", box("elst", words(0, MANY, 1, 0, 0x10000)))))).toBe(
      "corrupt_media",
    );
    expect(getErrorCode("sidx", [...words(0, 1, 1000, 0, 0), 0, 0, 255, 255])).toBe("corrupt_media");
    expect(getErrorCode("mfra", box("tfra", words(0, 1, 0, MANY)))).toBe("corrupt_media");
  });

  test("with boxes larger than their parents is corrupt", () => {
    const trak = track(SIZES);
    trak.splice(0, 4, ...word(trak.length + 100));
    expect(getErrorCode("moov", trak)).toBe("corrupt_media");
  });

  test("nested too deeply is corrupt", () => {
    let content = track(SIZES);
    for (let n = 0; n < 100; n++) content = box("trak", content);
    expect(getErrorCode("moov", content)).toBe("corrupt_media");
  });
});

describe("a fragment", () => {
  const fragment = (...trackRuns: number[][]) => box("traf", box("tfhd", words(0, 1)), ...trackRuns);

  test("with consistent track runs passes", () => {
    expect(getErrorCode("moof", fragment(box("trun", words(TRUN, 2, 100, 100)), box("trun", words(0, 20))))).toBeNull();
  });

  test.each([
    ["sizes that are not there", words(TRUN, MANY, 100)],
    ["more samples than the file has bytes", words(0, FILE_BYTES * 2)],
    ["the most samples that there can be", words(0, MANY)],
  ])("with %s is corrupt", (_, trackRun) => {
    expect(getErrorCode("moof", fragment(box("trun", trackRun)))).toBe("corrupt_media");
  });

  test("with too many samples, in a large file", () => {
    const trackRun = box("trun", words(0, MAX_FRAGMENT_SAMPLES / 2 + 1));
    expect(getErrorCode("moof", fragment(trackRun), 1e9)).toBeNull();
    expect(getErrorCode("moof", fragment(trackRun, trackRun), 1e9)).toBe("corrupt_media");
  });
});

test("arbitrary bytes pass or fail with a code", () => {
  const tables = [
    "stts",
    "ctts",
    "stsc",
    "stsz",
    "stz2",
    "stco",
    "co64",
    "stss",
    "elst",
    "trun",
    "sidx",
    "tfra",
    "stsd",
  ];
  const content = fc.array(fc.oneof(fc.constantFrom(0, 1, 8, MANY), fc.nat()), { maxLength: 12 });
  const boxes = fc.array(fc.tuple(fc.constantFrom(...tables), content), { maxLength: 8 });
  fc.assert(
    fc.property(
      boxes,
      fc.array(fc.nat(255), { maxLength: 40 }),
      fc.constantFrom("moov", "moof"),
      (list, rest, type) => {
        const inner = list.flatMap(([name, values]) => box(name, words(...values)));
        expect([null, "corrupt_media", "media_limits_exceeded"]).toContain(
          getErrorCode(type, [...track(inner), ...rest]),
        );
        expect([null, "corrupt_media", "media_limits_exceeded"]).toContain(getErrorCode(type, [...rest, ...inner]));
      },
    ),
    { numRuns: 500 },
  );
});
