import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { BLOCK_SAMPLES, createBlockEncoder, decodeBlock } from "../../../src/lib/analysis-audio/block";
import { DamagedAudioError, formatFooter, formatHeader } from "../../../src/lib/analysis-audio/layout";
import { openAudioFile } from "../../../src/lib/analysis-audio/reader";
import { createAudioFile } from "../../../src/lib/analysis-audio/writer";
import { allSamples } from "../../analysis-audio";

const folder = await mkdtemp(join(tmpdir(), "offcut-audio-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

let files = 0;
/** Writes a file in chunks of `step` samples. */
async function written(samples: Int16Array, step = samples.length || 1): Promise<string> {
  const path = join(folder, `${files++}.audio`);
  const file = await createAudioFile(path);
  for (let at = 0; at < samples.length; at += step) await file.write(samples.subarray(at, at + step));
  await file.finish();
  await file.close();
  return path;
}

/** Returns deterministic noise of changing level, with silences. */
function signal(length: number, seed = 1): Int16Array {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const samples = new Int16Array(length);
  for (let n = 0, level = 0; n < length; n++) {
    if (n % 4_000 === 0) level = random() < 0.3 ? 0 : 2 ** (15 * random());
    samples[n] = Math.round((random() * 2 - 1) * level);
  }
  return samples;
}

const sample = fc.oneof(
  fc.integer({ min: -32_768, max: 32_767 }),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(-32_768, 32_767, 0),
);

describe("a block", () => {
  test("property: any samples are decoded exactly", () => {
    const encoder = createBlockEncoder();
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 2_000 }), (values) => {
        const samples = Int16Array.from(values);
        expect(decodeBlock(encoder.encode(samples), samples.length)).toEqual(samples);
      }),
      { numRuns: 300 },
    );
  });

  for (const [name, make] of [
    ["extremes that alternate", (n: number) => (n % 2 ? -32_768 : 32_767)],
    ["extremes in pairs", (n: number) => (n % 4 < 2 ? -32_768 : 32_767)],
    ["a single click", (n: number) => (n === 777 ? 32_767 : 0)],
    ["a constant", () => -1_234],
  ] as const)
    test(`whole: ${name}`, () => {
      const samples = Int16Array.from({ length: BLOCK_SAMPLES }, (_, n) => make(n));
      const bytes = createBlockEncoder().encode(samples);
      expect(decodeBlock(bytes, BLOCK_SAMPLES)).toEqual(samples);
      expect(bytes.length).toBeLessThan(BLOCK_SAMPLES * 3);
    });

  test("property: any bytes decode to samples or an error", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.integer({ min: 0, max: BLOCK_SAMPLES }), (bytes, count) => {
        try {
          expect(decodeBlock(bytes, count)).toHaveLength(count);
        } catch (error) {
          expect(String(error)).toContain("damaged");
        }
      }),
    );
  });
});

describe("a file", () => {
  const samples = signal(3 * BLOCK_SAMPLES + 12_345);

  test("property: any window reads as written, in any order and chunking", async () => {
    const readers = await Promise.all(
      [1_000, 32_768, 100_000].map(async (step) => openAudioFile(await written(samples, step))),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: -10, max: samples.length + 10 }),
        fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: samples.length + 10 })),
        async (from, count) => {
          for (const reader of readers) {
            expect(reader.samples).toBe(samples.length);
            const start = Math.max(0, from);
            const got = await reader.read(from, count);
            expect(Buffer.compare(bytesOf(got), bytesOf(samples.slice(start, start + count)))).toBe(0);
          }
        },
      ),
      { numRuns: 60 },
    );
    await Promise.all(readers.map((reader) => reader.close()));
  });

  test("an empty file has no samples", async () => {
    expect(await allSamples(await written(new Int16Array(0)))).toHaveLength(0);
  });

  test("twelve hours of silence take a few hundred bytes, and a second of speech among them can be read", async () => {
    const path = join(folder, "silence.audio");
    const file = await createAudioFile(path);
    await file.writeSilence(11 * 3600 * 16_000);
    await file.write(samples.subarray(0, 16_000));
    await file.writeSilence(3600 * 16_000);
    await file.finish();
    await file.close();
    expect((await stat(path)).size).toBeLessThan(60_000);
    const reader = await openAudioFile(path);
    expect(reader.samples).toBe((12 * 3600 + 1) * 16_000);
    expect(await reader.read(11 * 3600 * 16_000, 16_000)).toEqual(samples.slice(0, 16_000));
    expect((await reader.read(5 * 3600 * 16_000, 100)).every((value) => value === 0)).toBe(true);
    await reader.close();
  });

  test("raw samples of older versions can be read", async () => {
    const path = join(folder, "speech.pcm");
    await writeFile(path, Buffer.concat([bytesOf(samples), Buffer.of(7)]));
    const reader = await openAudioFile(path);
    expect(reader.samples).toBe(samples.length);
    expect(await reader.read(40_000, 50_000)).toEqual(samples.slice(40_000, 90_000));
    await reader.close();
    expect(await allSamples(path)).toEqual(samples);
  });

  test("a file that is truncated or changed anywhere is an error", async () => {
    const whole = await readFile(await written(samples));
    const path = join(folder, "damaged.audio");
    for (const length of [9, 16, 40, 1_000, whole.length - 33, whole.length - 1]) {
      await writeFile(path, whole.subarray(0, length));
      await expect(allSamples(path)).rejects.toThrow(DamagedAudioError);
    }
    for (const at of [8, 12, 16, 5_000, whole.length - 60, whole.length - 32, whole.length - 24, whole.length - 3]) {
      const changed = Buffer.from(whole);
      changed[at]! ^= 0x41;
      await writeFile(path, changed);
      await expect(allSamples(path)).rejects.toThrow(DamagedAudioError);
    }
  });

  test("a file that claims more than it has allocates no memory for it", async () => {
    const path = join(folder, "claims.audio");
    const zeros = Bun.zstdCompressSync(new Uint8Array(256_000_000));
    const claims: [samples: number, index: Uint8Array][] = [
      // An index that expands to a quarter of a gigabyte.
      [1_000, zeros],
      // Silence of some weeks, and of longer than anything is.
      [32_000_000 * BLOCK_SAMPLES, zeros],
      [Number.MAX_SAFE_INTEGER, zeros],
      // A block of 200 MB.
      [1_000, Bun.zstdCompressSync(new Uint8Array(Uint32Array.of(200_000_000, 0).buffer))],
    ];
    const before = process.memoryUsage().rss;
    for (const [claimed, index] of claims) {
      const footer = formatFooter({ samples: claimed, indexBytes: index.length, indexCrc: Bun.hash.crc32(index) });
      await writeFile(path, Buffer.concat([formatHeader(), index, footer]));
      await expect(openAudioFile(path)).rejects.toThrow(DamagedAudioError);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  test("a reader's version changes with the file", async () => {
    const versions = await Promise.all(
      [samples, samples.subarray(1)].map(async (some) => {
        const reader = await openAudioFile(await written(some));
        await reader.close();
        return reader.version;
      }),
    );
    expect(versions[0]).not.toBe(versions[1]!);
  });
});

const bytesOf = (samples: Int16Array): Buffer => Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
