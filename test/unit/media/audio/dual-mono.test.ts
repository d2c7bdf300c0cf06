import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findAacWindow } from "../../../../src/media/audio/aac-chunks";
import { parseAdtsPackets } from "../../../../src/media/audio/adts";
import {
  duplicateChannel,
  findDualMonoMean,
  toChannelPair,
  toStereoConfig,
} from "../../../../src/media/audio/dual-mono";
import { buildMonoEncoderArguments } from "../../../../src/media/encoder-arguments";
import { bundledFfmpeg, runTool, systemFfmpeg } from "../generated-media";

setDefaultTimeout(120_000);

const pair = (count: number, both: (n: number) => [number, number]) =>
  Float32Array.from({ length: 2 * count }, (_, n) => both(n >> 1)[n & 1]!);
const voice = (n: number) => 0.4 * Math.sin(n / 9) * Math.abs(Math.sin(n / 20_000));
const noise = (level: number) => level * (Math.random() - 0.5);

describe("dual mono is detected", () => {
  test("when channels are identical to the last bit", () => {
    const mean = findDualMonoMean(pair(5_000, (n) => [voice(n), voice(n)]))!;
    expect(mean).toEqual(Float32Array.from({ length: 5_000 }, (_, n) => voice(n)));
    expect(duplicateChannel(mean)).toEqual(pair(5_000, (n) => [voice(n), voice(n)]));
    expect(findDualMonoMean(new Float32Array(4_096))).toEqual(new Float32Array(2_048));
  });

  test("when they differ by lossy coding artifacts, or by the last bit of 16", () => {
    const lossy = pair(9_000, (n) => [Math.sin(n / 9) / 3, Math.sin(n / 9) / 3 + noise(0.003)]);
    expect(findDualMonoMean(lossy)).toHaveLength(9_000);
    expect(findDualMonoMean(pair(4_096, () => [noise(1 / 16_384), noise(1 / 16_384)]))).toHaveLength(4_096);
  });

  test("but not when one is slightly louder, late, silent, inverted, or has other reverberation", () => {
    expect(findDualMonoMean(pair(9_000, (n) => [voice(n), 0.9 * voice(n)]))).toBeNull();
    expect(findDualMonoMean(pair(9_000, (n) => [voice(n), voice(n - 3)]))).toBeNull();
    expect(findDualMonoMean(pair(9_000, (n) => [voice(n), 0]))).toBeNull();
    expect(findDualMonoMean(pair(9_000, (n) => [voice(n), -voice(n)]))).toBeNull();
    expect(findDualMonoMean(pair(9_000, () => [noise(0.001), noise(0.001)]))).toBeNull();
  });

  test("also with brief artifacts, if they are otherwise identical", () => {
    const talk = (n: number) => 0.3 * Math.sin(n / 9);
    const lossy = (from: number, to: number, rest = 0) =>
      pair(32_768, (n) => [talk(n), talk(n) + (n >= from && n < to ? noise(0.1) : rest * noise(0.001))]);
    expect(findDualMonoMean(lossy(9_000, 11_000))).toHaveLength(32_768);
    // Longer differences are audible; so are any when no two samples are identical.
    expect(findDualMonoMean(lossy(9_000, 15_000))).toBeNull();
    expect(findDualMonoMean(lossy(9_000, 11_000, 1))).toBeNull();
    // A click in a pause is not masked.
    const click = pair(32_768, (n) => (n < 20_000 ? [talk(n), talk(n)] : [0, 0]));
    click[2 * 25_000] = 0.9;
    expect(findDualMonoMean(click)).toBeNull();
  });

  test("but not in samples that are not numbers", () => {
    const broken = pair(9_000, (n) => [voice(n), voice(n)]);
    broken[2 * 8_100] = Number.NaN;
    expect(findDualMonoMean(broken)).toBeNull();
  });
});

describe("a mono packet converted to stereo", () => {
  const header = (size: number, channels: number, rateIndex: number) => [
    ...[0xff, 0xf1, (1 << 6) | (rateIndex << 2) | (channels >> 2), ((channels & 3) << 6) | ((size + 7) >> 11)],
    ...[((size + 7) >> 3) & 255, (((size + 7) & 7) << 5) | 31, 0xfc],
  ];

  test.each([
    ["system's", systemFfmpeg],
    ["bundled", bundledFfmpeg],
  ])("decodes to the same samples in both channels, with the %s ffmpeg", async (_, ffmpeg) => {
    const folder = await mkdtemp(join(tmpdir(), "offcut-widen-"));
    try {
      // Voice-like, with clicks that cause short windows, and silence that leaves packets empty.
      const audio =
        "0.3*sin(2*PI*(180+40*sin(t))*t)*lt(mod(t\\,4)\\,3)+0.9*lt(mod(t\\,0.37)\\,0.001)*lt(mod(t\\,4)\\,3)+0.02*random(0)*lt(mod(t\\,4)\\,2.5)";
      for (const [rate, rateIndex, bitrate] of [
        [48_000, 3, 160_000],
        [22_050, 7, 48_000],
      ] as const) {
        const [one, two] = [join(folder, "one.aac"), join(folder, "two.aac")];
        await runTool([
          ...[ffmpeg.path, "-y", "-v", "error", "-f", "lavfi", "-i", `aevalsrc=exprs='${audio}':s=${rate}:d=12`],
          ...[...buildMonoEncoderArguments(bitrate, { sampleRate: rate, channels: 2 }), "-f", "adts", one],
        ]);
        const packets = parseAdtsPackets(await Bun.file(one).bytes());
        const widened = packets.map(toChannelPair);
        await Bun.write(
          two,
          Buffer.concat(widened.flatMap((packet) => [Uint8Array.from(header(packet.length, 2, rateIndex)), packet])),
        );
        const decode = async (path: string) => {
          const quiet = ["-v", "error", "-xerror", "-err_detect", "explode"];
          const bytes = await runTool([bundledFfmpeg.path, ...quiet, "-i", path, "-f", "f32le", "pipe:1"]);
          return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
        };
        expect(await decode(two)).toEqual(duplicateChannel(await decode(one)));
        const windows = widened.map(findAacWindow);
        expect(windows.every((found) => found !== null)).toBe(true);
        expect(windows.some((found) => !found!.isLong)).toBe(true);
        // The second channel takes a few bytes.
        for (const [n, packet] of packets.entries()) expect(widened[n]!.length - packet.length).toBeLessThan(20);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("must be a mono packet", () => {
    expect(() => toChannelPair(Uint8Array.from([0x21, 0, 0, 7]))).toThrow("mono packet");
    expect(() => toChannelPair(new Uint8Array(8))).toThrow("no end element");
    // AAC-LC, 48 kHz.
    expect([...toStereoConfig(Uint8Array.from([0x11, 0x88]))]).toEqual([0x11, 0x90]);
  });
});
