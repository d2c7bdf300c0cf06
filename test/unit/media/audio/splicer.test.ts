import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type AudioSegment, spliceAudio, toSampleRanges } from "../../../../src/media/audio/splicer";

const RATE = 1_000;

/** Returns segments in milliseconds, which are samples at this rate, without gaps in the output. */
function toSegments(ranges: readonly (readonly [number, number])[]): AudioSegment[] {
  let out = 0;
  return ranges.map(([from, to]) => {
    const segment = {
      start: from * 1_000,
      end: to * 1_000,
      outputStart: out * 1_000,
      outputEnd: (out + to - from) * 1_000,
    };
    out += to - from;
    return segment;
  });
}

async function splice(
  source: Float32Array,
  ranges: readonly (readonly [number, number])[],
  channels = 1,
  blockBytes = 4_096,
) {
  const written: number[] = [];
  const bytes = new Uint8Array(source.buffer);
  async function* input() {
    for (let n = 0; n < bytes.length; n += blockBytes) yield bytes.slice(n, n + blockBytes);
  }
  const result = await spliceAudio({
    input: input(),
    output: {
      write: async (chunk) => {
        written.push(...new Float32Array((chunk as Uint8Array<ArrayBuffer>).slice().buffer));
      },
    },
    sampleRate: RATE,
    channels,
    segments: toSegments(ranges),
  });
  return { ...result, samples: written };
}

/** Each sample's value is its position. */
const ramp = (count: number) => Float32Array.from({ length: count }, (_, n) => n);

const plans = fc
  .uniqueArray(fc.integer({ min: 0, max: 3_000 }), { minLength: 2, maxLength: 24 })
  .map((edges) => edges.sort((a, b) => a - b))
  .map((edges) => edges.flatMap((edge, n) => (n % 2 === 1 ? [[edges[n - 1]!, edge] as const] : [])));

describe("splicing audio", () => {
  test("has exactly the planned duration and, away from the edges, exactly the planned samples", async () => {
    await fc.assert(
      fc.asyncProperty(plans, fc.integer({ min: 3, max: 5_000 }), async (plan, blockBytes) => {
        const { samples, written } = await splice(ramp(3_100), plan, 1, blockBytes);
        const length = plan.reduce((sum, [from, to]) => sum + to - from, 0);
        expect(written).toBe(length);
        expect(samples).toHaveLength(length);
        let out = 0;
        for (const [from, to] of plan) {
          for (let n = from + 10; n < to - 10; n++) expect(samples[out + n - from]).toBe(n);
          out += to - from;
        }
      }),
      { numRuns: 60 },
    );
  });

  test("does not depend on the size of the input blocks", async () => {
    const plan = [
      [5, 400],
      [500, 620],
      [700, 1_900],
    ] as const;
    const noise = Float32Array.from({ length: 4_000 }, (_, n) => Math.sin(n * n));
    const whole = await splice(noise, plan, 2, 1 << 20);
    for (const size of [1, 7, 8, 100, 4_096])
      expect((await splice(noise, plan, 2, size)).samples).toEqual(whole.samples);
  });

  test("pads a source that ends early with silence", async () => {
    const { samples, sourceEnded } = await splice(new Float32Array(500).fill(1), [
      [100, 300],
      [400, 900],
    ]);
    expect(sourceEnded).toBe(true);
    expect(samples).toHaveLength(700);
    expect(samples.slice(310)).toEqual([...Array(390).keys()].map(() => 0));
  });

  test("stops reading when the output is complete", async () => {
    expect((await splice(ramp(100_000), [[0, 50]])).sourceEnded).toBe(false);
  });

  test("keeps channels separate", async () => {
    const stereo = Float32Array.from({ length: 4_000 }, (_, n) => (n % 2 === 0 ? 0.25 : -0.5));
    const plan = [
      [0, 500],
      [700, 1_500],
    ] as const;
    const { samples } = await splice(stereo, plan, 2);
    for (const [n, value] of samples.slice(0, 2_000).entries()) expect(Math.sign(value)).toBe(n % 2 === 0 ? 1 : -1);
  });
});

describe("a splice", () => {
  const plan = [
    [100, 1_000],
    [1_500, 2_400],
  ] as const;

  test("keeps the loudness of a noisy room within 1 dB, with different channels", async () => {
    const noise = Float32Array.from({ length: 6_000 * 20 }, () => Math.random() - 0.5);
    let [inside, join] = [0, 0];
    for (let n = 0; n < 20; n++) {
      const { samples } = await splice(noise.slice(n * 6_000, (n + 1) * 6_000), plan);
      for (const value of samples.slice(200, 700)) inside += value ** 2 / 500;
      for (const value of samples.slice(890, 910)) join += value ** 2 / 20;
    }
    expect(Math.abs(10 * Math.log10(join / inside))).toBeLessThan(1);
  });

  test("crossfades 20 ms, with samples from beyond both edges", async () => {
    const source = new Float32Array(3_000);
    source.fill(1, 1_000, 1_010);
    source.fill(2, 1_490, 1_500);
    const { samples } = await splice(source, plan);
    expect(samples.slice(880, 890).every((value) => value === 0)).toBe(true);
    expect(samples.slice(890, 910).every((value) => value > 0)).toBe(true);
    expect(samples.slice(910, 920).every((value) => value === 0)).toBe(true);
  });

  test("never uses a sample twice, however close the edges are", () => {
    const sampleRanges = toSampleRanges(
      toSegments([
        [0, 100],
        [104, 110],
        [400, 900],
      ]),
      RATE,
    );
    expect(sampleRanges.map(({ fadeIn, fadeOut }) => [fadeIn, fadeOut])).toEqual([
      [0, 2],
      [2, 3],
      [3, 0],
    ]);
  });

  test("a thousand cuts do not drift: positions are rounded once", () => {
    const third = 333_333.4;
    const segments = Array.from({ length: 1_000 }, (_, n) => ({
      start: n * 1_000_000,
      end: n * 1_000_000 + third,
      outputStart: Math.round(n * third),
      outputEnd: Math.round((n + 1) * third),
    }));
    const length = toSampleRanges(segments, 44_100).reduce((sum, range) => sum + range.to - range.from, 0);
    expect(length).toBe(Math.round((segments.at(-1)!.outputEnd * 44_100) / 1e6));
  });
});
