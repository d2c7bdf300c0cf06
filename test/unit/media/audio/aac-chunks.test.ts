import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import {
  divideIntoAacChunks,
  findAacWindow,
  findJoinPacket,
  PACKET_SAMPLES,
} from "../../../../src/media/audio/aac-chunks";
import { renderAudio } from "../../../../src/media/leveled-audio";
import { bundledFfmpeg, generate, runTool, systemFfmpeg } from "../generated-media";
import { runFfprobe } from "../readback";
import { probeFile } from "../rendering";

setDefaultTimeout(120_000);

describe("dividing audio into chunks", () => {
  test("chunks overlap, contain the samples that their packets need, and cover everything", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_000_000 }), fc.integer({ min: 100, max: 3_000 }), (samples, packets) => {
        const chunks = divideIntoAacChunks(samples, packets);
        expect(chunks[0]).toMatchObject({ from: 0, first: 0 });
        expect(chunks.at(-1)).toMatchObject({ to: Math.ceil(samples / PACKET_SAMPLES) + 1, last: samples });
        for (const [n, { from, to, first, last }] of chunks.entries()) {
          // The number of packets that an encoder creates from this number of samples.
          expect(Math.ceil((last - first) / PACKET_SAMPLES) + 1).toBe(to - from);
          if (n > 0) expect(chunks[n - 1]!.to - from).toBe(64);
        }
      }),
    );
  });

  test("chunks are joined where both have long windows of the same shape", () => {
    // Mono: element, tag, gain, reserved bit, window sequence, window shape.
    const packet = (sequence: number, shape: number) => {
      const bits = (sequence << 6) | (shape << 5);
      return Uint8Array.from([0, 0, bits & 255]);
    };
    expect(findAacWindow(packet(0, 1))).toEqual({ isLong: true, shape: 1 });
    expect(findAacWindow(packet(2, 0))).toEqual({ isLong: false, shape: 0 });
    expect(findAacWindow(Uint8Array.from([0xc0, 0, 0]))).toBeNull();
    const [before, after] = divideIntoAacChunks(200 * PACKET_SAMPLES, 120) as [never, never];
    const packets = (chunk: { from: number; to: number }, at: (n: number) => [number, number]) =>
      Array.from({ length: chunk.to - chunk.from }, (_, n) => packet(...at(chunk.from + n)));
    const both = (at: (n: number) => [number, number], other = at) =>
      findJoinPacket({ chunk: before, packets: packets(before, at) }, { chunk: after, packets: packets(after, other) });
    const middle = both(() => [0, 1])!;
    expect(both((n) => (Math.abs(n - middle) < 2 ? [2, 0] : [0, 1]))).toBe(middle - 2);
    expect(both(() => [2, 0])).toBeNull();
    expect(
      both(
        () => [0, 1],
        () => [0, 0],
      ),
    ).toBeNull();
  });
});

describe("audio encoded in chunks", () => {
  test.each([
    ["system's", systemFfmpeg, 2],
    ["bundled", bundledFfmpeg, 1],
  ] as const)(
    "is, with the %s ffmpeg, as near to its source at the joins as elsewhere",
    async (_, ffmpeg, channels) => {
      // Enough for three chunks.
      const seconds = 130;
      const voice = "0.3*sin(2*PI*(180+40*sin(t))*t)+0.1*sin(2*PI*1870*t)*abs(sin(3*t))+0.02*random(0)";
      const both = channels === 1 ? voice : `${voice}|0.2*sin(2*PI*310*t)+0.05*random(1)`;
      const source = await generate(
        `voice-${channels}.wav`,
        ...["-f", "lavfi", "-i", `aevalsrc=exprs='${both}':s=48000:d=${seconds}`],
      );
      const probed = await probeFile(source, ffmpeg);
      const [start, end] = [1_000_000, 128_345_678];
      const folder = await mkdtemp(join(tmpdir(), "offcut-parts-"));
      try {
        const encoded = async (maxEncoders: number) => {
          const outputPath = join(folder, `${maxEncoders}.m4a`);
          const segments = [{ start, end, outputStart: 0, outputEnd: end - start }];
          await renderAudio({
            ffmpeg,
            path: source,
            probed,
            segments,
            format: "m4a",
            bitrate: 128_000,
            outputPath,
            workDir: folder,
            maxEncoders,
          });
          return outputPath;
        };
        const paths = [await encoded(1), await encoded(3)];
        expect((await readdir(folder)).sort()).toEqual(["1.m4a", "3.m4a"]);
        const shapes = paths.map((path) => runFfprobe(path, "-show_entries", "stream=nb_frames,duration_ts,start_pts"));
        expect(await shapes[1]).toBe(await shapes[0]!);
        const length = Math.round(((end - start) / 1e6) * 48_000);
        const [begin, declaredDuration, packets] = (await shapes[1]!).split(",").map(Number);
        expect([begin, packets]).toEqual([0, Math.ceil(length / 1_024) + 1]);
        // The container's clock counts milliseconds.
        expect(Math.abs(declaredDuration! - length)).toBeLessThanOrEqual(24);
        const decode = async (path: string, ...more: string[]) => {
          const pcm = ["-f", "f32le", "-ac", "1", "pipe:1"];
          const bytes = await runTool([systemFfmpeg.path, "-v", "error", "-i", path, ...more, ...pcm]);
          return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
        };
        const original = (await decode(source)).subarray((start / 1e6) * 48_000);
        const noise = (samples: Float32Array, block: number) => {
          let power = 0;
          for (let n = block * 1_024; n < (block + 1) * 1_024; n++) power += (samples[n]! - original[n]!) ** 2;
          return power / 1_024;
        };
        const [single, joined] = [await decode(paths[0]!), await decode(paths[1]!)];
        expect(joined.length).toBe(single.length);
        const worst = (samples: Float32Array, blocks: number[]) =>
          Math.max(...blocks.map((block) => noise(samples, block)));
        const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
        const all = range(1, Math.floor(length / 1_024) - 2);
        expect(worst(joined, all)).toBeLessThan(1.2 * worst(single, all));
        // High compared with the coding loss: every sample is in its place.
        const power = original.reduce((sum, value) => sum + value * value, 0) / original.length;
        expect(worst(joined, all)).toBeLessThan(power / 30);
        const overlaps = divideIntoAacChunks(length, 2_800).slice(1);
        expect(overlaps.length).toBeGreaterThan(1);
        for (const { from } of overlaps) {
          const near = range(from + 40, from + 64);
          expect(worst(joined, near)).toBeLessThan(1.5 * worst(single, range(from - 60, from + 164)));
        }
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );
});
