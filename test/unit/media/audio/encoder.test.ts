import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { parseAdtsPackets } from "../../../../src/media/audio/adts";
import { buildAudioEncoderArguments, buildMonoEncoderArguments } from "../../../../src/media/encoder-arguments";
import { bundledFfmpeg, runTool, systemFfmpeg } from "../generated-media";

setDefaultTimeout(120_000);

const numberAfter = (argumentsList: string[], name: string) => Number(argumentsList[argumentsList.indexOf(name) + 1]);

describe("the mono encoder", () => {
  test("keeps ffmpeg's bandwidth for the bitrate, and for stereo at least the mono bandwidth up to 16 kHz", () => {
    const bandwidth = (bitrate: number, rate: number, channels: number) =>
      numberAfter(buildMonoEncoderArguments(bitrate, { sampleRate: rate, channels }), "-cutoff");
    expect(bandwidth(160_000, 48_000, 2)).toBe(17_000);
    expect(bandwidth(128_000, 44_100, 2)).toBe(16_000);
    expect(bandwidth(128_000, 48_000, 1)).toBe(20_000);
    expect(bandwidth(320_000, 48_000, 1)).toBe(22_000);
    expect(bandwidth(64_000, 22_050, 1)).toBe(11_025);
    expect(bandwidth(64_000, 48_000, 2)).toBe(16_000);
    expect(bandwidth(32_000, 48_000, 2)).toBe(9_500);
  });

  const audioFormats = {
    noise: "0.5*random(0)",
    voice: "0.4*sin(2*PI*(180+40*sin(t))*t)*abs(sin(2*t))+0.02*random(0)",
  };

  test.each([
    ["system's", systemFfmpeg, 64_000, "noise"],
    ["system's", systemFfmpeg, 160_000, "noise"],
    ["bundled", bundledFfmpeg, 160_000, "noise"],
    ["system's", systemFfmpeg, 320_000, "noise"],
    ["bundled", bundledFfmpeg, 320_000, "noise"],
    ["system's", systemFfmpeg, 96_000, "voice"],
  ] as const)(
    "stays by its rate, and no packet gets too long: with the %s ffmpeg, at %d, of %s",
    async (_, ffmpeg, bitrate, audio) => {
      const seconds = 10;
      const stream = await runTool([
        ...[
          ffmpeg.path,
          "-v",
          "error",
          "-f",
          "lavfi",
          "-i",
          `aevalsrc=exprs='${audioFormats[audio]}':s=48000:d=${seconds}`,
        ],
        ...[...buildMonoEncoderArguments(bitrate, { sampleRate: 48_000, channels: 1 }), "-f", "adts", "pipe:1"],
      ]);
      const sizes = parseAdtsPackets(stream).map((packet) => 8 * packet.length);
      const total = sizes.reduce((sum, size) => sum + size, 0);
      expect(total / seconds).toBeLessThan(1.2 * bitrate);
      expect(total / seconds).toBeGreaterThan((audio === "noise" ? 0.85 : 0.6) * Math.min(bitrate, 264_000));
      expect(Math.max(...sizes)).toBeLessThanOrEqual(6_144);
    },
  );
});

test("MP3 uses the fast search at high bitrates", () => {
  expect(numberAfter(buildAudioEncoderArguments("mp3", 192_000), "-compression_level")).toBe(7);
  expect(buildAudioEncoderArguments("mp3", 128_000)).not.toContain("-compression_level");
  expect(buildAudioEncoderArguments("m4a", 192_000)).not.toContain("-compression_level");
});
