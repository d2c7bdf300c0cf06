import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { extractAnalysisAudio } from "../../../src/media/analysis-audio";
import { buildMixdownFilters, getAnalysisChannels } from "../../../src/media/audio/mixdown";
import { buildAudioDecodeArguments } from "../../../src/media/audio-render";
import { chooseAudioFormat } from "../../../src/media/encoder-arguments";
import { runFfmpeg } from "../../../src/media/ffmpeg";
import { buildPreviewAudioArguments } from "../../../src/media/preview/encode";
import { probeMedia } from "../../../src/media/probe";
import { parseDescription } from "../../../src/media/probing/description";
import { allSamples } from "../../analysis-audio";
import { fullOr } from "../../full-size";
import { bundledFfmpeg, systemFfmpeg } from "./generated-media";
import { readSamples, runFfprobe } from "./readback";
import { LIMITS, probeFile, sniffFile, withRender } from "./rendering";

setDefaultTimeout(120_000);

const folder = await mkdtemp(join(tmpdir(), "offcut-channels-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const AMPLITUDE = 0.1;
/** Every channel has its own tone. */
const toneHz = (channel: number) => 300 + 40 * channel;

type Wave = {
  channels: number;
  rate?: number;
  seconds?: number;
  mask?: number;
  float?: boolean;
  live?: (channel: number) => boolean;
};

/** Writes a WAV file. Without `mask` the header declares no speaker positions. */
async function wav({
  channels,
  rate = 16_000,
  seconds = 1,
  mask,
  float = false,
  live = () => true,
}: Wave): Promise<string> {
  const size = float ? 4 : 2;
  const extension = mask === undefined ? 0 : 24;
  const file = Buffer.alloc(44 + extension + rate * seconds * channels * size);
  const format = float ? 3 : 1;
  const count = rate * seconds;
  file.write("RIFF", 0);
  file.writeUInt32LE(file.length - 8, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16 + extension, 16);
  file.writeUInt16LE(mask === undefined ? format : 0xfffe, 20);
  file.writeUInt16LE(channels, 22);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(rate * channels * size, 28);
  file.writeUInt16LE(channels * size, 32);
  file.writeUInt16LE(8 * size, 34);
  if (mask !== undefined) {
    file.writeUInt16LE(22, 36);
    file.writeUInt16LE(8 * size, 38);
    file.writeUInt32LE(mask, 40);
    file.writeUInt16LE(format, 44);
    file.write("000000001000800000aa00389b71", 46, "hex");
  }
  file.write("data", 36 + extension);
  file.writeUInt32LE(count * channels * size, 40 + extension);
  let at = 44 + extension;
  for (let n = 0; n < count; n++)
    for (let channel = 0; channel < channels; channel++, at += size) {
      const value = live(channel) ? AMPLITUDE * Math.sin((2 * Math.PI * toneHz(channel) * n) / rate) : 0;
      if (float) file.writeFloatLE(value, at);
      else file.writeInt16LE(Math.round(value * 32_767), at);
    }
  const path = join(folder, `${channels}-${rate}-${mask ?? "none"}-${live(0)}.wav`);
  await Bun.write(path, file);
  return path;
}

/** Returns the amplitude of a channel's tone in samples from -1 to 1. */
function measureTone(samples: ArrayLike<number>, rate: number, channel: number): number {
  let [sine, cosine] = [0, 0];
  for (let n = 0; n < samples.length; n++) {
    const angle = (2 * Math.PI * toneHz(channel) * n) / rate;
    sine += samples[n]! * Math.sin(angle);
    cosine += samples[n]! * Math.cos(angle);
  }
  return (2 * Math.hypot(sine, cosine)) / samples.length;
}

async function extracted(path: string, ffmpeg = bundledFfmpeg): Promise<number[]> {
  const toPath = (name: string) => join(folder, name);
  const outputPath = toPath("speech.pcm");
  const measured = { waveform: toPath("waveform"), peaks: toPath("peaks"), loudness: toPath("loudness") };
  await extractAnalysisAudio({ ffmpeg, path, probed: await probeFile(path, ffmpeg), outputPath, measured });
  return Array.from(await allSamples(outputPath), (word) => word / 32_767);
}

describe("a recording with discrete channels", () => {
  test.each<[string, Wave]>([
    ["nine channels", { channels: 9 }],
    ["32 channels of floats at 768 kHz", { channels: 32, rate: 768_000, seconds: 0.25, float: true }],
    ["a front speaker and a subwoofer", { channels: 2, mask: 0x9 }],
    ...fullOr<[string, Wave][]>(
      [
        ["sixteen channels, whose layout ffmpeg guesses", { channels: 16 }],
        ["64 channels", { channels: 64 }],
        ["three speakers at the ceiling", { channels: 3, mask: 0x7000 }],
      ],
      [],
    ),
    ["the right speaker alone", { channels: 1, mask: 0x2 }],
  ])("%s: analysis audio has all channels, renders have the first two", async (_, wave) => {
    const path = await wav(wave);
    const { channels } = wave;
    for (const ffmpeg of [systemFfmpeg, bundledFfmpeg]) {
      const probed = await probeFile(path, ffmpeg);
      expect(probed.info.audio).toMatchObject([{ channels, discrete: true }]);

      const speech = await extracted(path, ffmpeg);
      expect(speech).toHaveLength(16_000 * (wave.seconds ?? 1));
      for (let channel = 0; channel < channels; channel++)
        expect(measureTone(speech, 16_000, channel)).toBeGreaterThan(
          (0.8 * AMPLITUDE) / Math.max(2, Math.sqrt(channels)),
        );

      const preview = join(folder, "preview.mp4");
      await runFfmpeg({
        ffmpeg,
        arguments: buildPreviewAudioArguments({ path, info: probed.info, libavutil: ffmpeg.libavutil }, preview),
        limits: {},
      });
      const expectFirstTwo = async (output: string) => {
        const samples = await readSamples(output);
        for (let channel = 0; channel < Math.min(2, channels); channel++)
          expect(measureTone(samples, 48_000, channel)).toBeGreaterThan(0.4 * AMPLITUDE);
        expect(measureTone(samples, 48_000, 2)).toBeLessThan(0.05 * AMPLITUDE);
      };
      await expectFirstTwo(preview);
      for (const format of channels === 9 ? (["m4a", "mp3"] as const) : (["m4a"] as const))
        await withRender(
          { path, probed, segments: null, output: { format }, ffmpeg },
          async ({ path: output, result }) => {
            expect(await runFfprobe(output, "-show_entries", "stream=channels")).toBe(String(Math.min(2, channels)));
            expect(result.warnings).toHaveLength(channels > 2 ? 1 : 0);
            await expectFirstTwo(output);
          },
        );
    }
  });

  test("eight dead channels do not silence the ninth", async () => {
    const speech = await extracted(await wav({ channels: 9, live: (channel) => channel === 8 }));
    expect(measureTone(speech, 16_000, 8)).toBeCloseTo(AMPLITUDE / 3, 3);
  });

  test("more channels than ffmpeg can mix are rejected at once", async () => {
    const path = await wav({ channels: 65 });
    const sniffed = await sniffFile(path);
    for (const ffmpeg of [systemFfmpeg, bundledFfmpeg])
      await expect(probeMedia({ path, sniffed, ffmpeg, limits: LIMITS })).rejects.toMatchObject({
        code: "media_limits_exceeded",
        message: "The audio track has more than 64 channels.",
      });
  });
});

describe("channel layouts in ffmpeg's notation", () => {
  test.each<[string, number, boolean]>([
    ["mono", 1, false],
    ["stereo", 2, false],
    ["2.1", 3, false],
    ["5.1(side)", 6, false],
    ["7.1.4", 12, false],
    ["octagonal", 8, false],
    ["9 channels", 9, true],
    ["32 channels", 32, true],
    ["hexadecagonal", 16, true],
    ["22.2", 24, true],
    ["ambisonic 1", 4, true],
    ["ambisonic 2 + stereo", 9, true],
    ["1 channels (FR)", 1, true],
    ["2 channels (FL+LFE)", 2, true],
    ["2 channels (TFL+TFR)", 2, true],
    ["3 channels (FL+FR+TC)", 3, false],
    ["12 channels (FL+FR+FC+LFE+BL+BR+FLC+FRC+BC+SL+SR+TC)", 12, false],
  ])("%s", (layout, channels, discrete) => {
    const { audio } = parseDescription([
      `    Stream #0:0: Audio: pcm_s24le, 48000 Hz, ${layout}, s32 (24 bit), 1 kb/s`,
    ]);
    expect(audio).toMatchObject([{ channels, discrete }]);
  });
});

describe("arguments", () => {
  const track = { index: 1, codec: "pcm_s24le", sampleRate: 48_000, bitrate: null, language: null, title: null };
  const filtersOf = (list: string[]) => list[list.indexOf("-af") + 1]!;
  const source = { path: "in.wav", demuxer: "wav", startPts: 0 };

  test("channels are mixed before any other filter", () => {
    const discrete = { ...track, channels: 9, discrete: true } as const;
    const decoded = (channels: number, of = discrete as typeof discrete | (typeof track & { channels: number })) =>
      filtersOf(
        buildAudioDecodeArguments({ ...source, track: of }, { sampleRate: 48_000, channels, encoding: "f32le" }),
      );
    expect(decoded(2)).toStartWith("channelmap=0|1:stereo,asetpts=");
    expect(decoded(1)).toStartWith("pan=mono|c0=0.333333*c0+0.333333*c1+");
    expect(decoded(1)).toContain("+0.333333*c8,asetpts=");
    expect(decoded(2, { ...track, channels: 6 })).toStartWith("asetpts=");
    const [mono, stereo] = [1, 2].map((count) => ({ sampleRate: 48_000, channels: count, encoding: "f32le" as const }));
    const both = buildAudioDecodeArguments({ ...source, track: discrete }, mono!, stereo!);
    expect(both.flatMap((argument, n) => (argument === "-af" ? [both[n + 1]!.slice(0, 10)] : []))).toEqual([
      "pan=mono|c",
      "channelmap",
    ]);
    expect(both.filter((argument) => argument.startsWith("pipe:"))).toEqual(["pipe:1", "pipe:4"]);
    const info = { type: "audio", demuxer: "wav", duration: 1, startPts: 0, video: null, timecode: null } as const;
    const preview = (audio: typeof discrete) =>
      filtersOf(
        buildPreviewAudioArguments({ path: "in.wav", libavutil: 56, info: { ...info, audio: [audio] } }, "out.mp4"),
      );
    expect(preview(discrete)).toStartWith("channelmap=0|1:stereo,asetpts=");
  });

  test("tracks that ffmpeg can mix are left to it; others are not encoded as surround", () => {
    expect(buildMixdownFilters({ channels: 8 }, 2)).toEqual([]);
    expect(buildMixdownFilters({ channels: 1, discrete: true }, 2)).toEqual(["channelmap=0:mono"]);
    expect([1, 2, 6].map((channels) => getAnalysisChannels({ channels }))).toEqual([1, 2, 2]);
    expect([1, 2, 6].map((channels) => getAnalysisChannels({ channels, discrete: true }))).toEqual([1, 2, 1]);
    expect(chooseAudioFormat("m4a", { sampleRate: 48_000, channels: 6, discrete: true }, 128_000).channels).toBe(2);
  });
});
