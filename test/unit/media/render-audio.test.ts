import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolveOutput } from "../../../src/domain/render-output";
import { renderMedia } from "../../../src/media/render";
import { temporaryFolder } from "../../temporary-folder";
import { aac, audioInput, bundledFfmpeg, generate, h264, systemFfmpeg, videoInput } from "./generated-media";
import { readSamples, runFfprobe } from "./readback";
import { MAX_CANCEL_MS, probeFile, toSnappedSegments, withRender } from "./rendering";

setDefaultTimeout(120_000);

const folder = await mkdtemp(join(tmpdir(), "offcut-sound-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The noise of a room. */
const room = (seconds: number) =>
  generate(
    `room-${seconds}.wav`,
    ...["-f", "lavfi", "-i", `anoisesrc=c=pink:r=48000:a=0.1:seed=3:d=${seconds},aformat=channel_layouts=stereo`],
  );

const decibels = (power: number) => 10 * Math.log10(power);
const measurePower = (samples: Float32Array) => samples.reduce((sum, value) => sum + value * value, 0) / samples.length;

describe("a splice in a noisy room", () => {
  test.each(["m4a", "mp3"])("dips by less than 1 dB in a finished %s", async (format) => {
    const path = await room(60);
    const probed = await probeFile(path);
    const plan = Array.from({ length: 25 }, (_, n) => [n * 2.3 + 0.4, n * 2.3 + 1.9] as const);
    const segments = toSnappedSegments(probed, plan);
    await withRender({ path, probed, segments, output: { format, audio_bitrate: 256_000 } }, async (rendered) => {
      const samples = await readSamples(rendered.path);
      expect(Math.abs(samples.length / 48_000 - 25 * 1.5)).toBeLessThan(0.03);
      // Noise varies, so the level is compared with that of spans of the same length away from splices.
      const around = (seconds: number) =>
        measurePower(samples.subarray((seconds - 0.01) * 48_000, (seconds + 0.01) * 48_000));
      const joins = plan.slice(1).map((_, n) => around(1.5 * (n + 1)));
      const inside = plan.flatMap((_, n) => [0.3, 0.6, 0.9, 1.2].map((at) => around(1.5 * n + at)));
      const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
      expect(Math.abs(decibels(mean(joins) / mean(inside)))).toBeLessThan(1);
      expect(decibels(Math.min(...joins) / Math.min(...inside))).toBeGreaterThan(-1);
    });
  });
});

describe("the audio of a video", () => {
  test.each([
    ["the system's ffmpeg", systemFfmpeg],
    ["the bundled one", bundledFfmpeg],
  ])("that was encoded as mono is copied only once, to the output, with %s", async (_, real) => {
    const path = await generate(
      "one-microphone.mp4",
      ...[...videoInput("30", 8), ...audioInput(48_000, 2, 8), ...h264(30), ...aac],
    );
    await using counted = await temporaryFolder();
    const [script, runs] = [join(counted.path, "ffmpeg"), join(counted.path, "runs")];
    await Bun.write(script, `#!/bin/sh\necho "$*" >>${runs}\nexec ${real.path} "$@"\n`);
    await chmod(script, 0o755);
    const probed = await probeFile(path);
    const segments = toSnappedSegments(probed, [
      [1, 3.36],
      [4, 7],
    ]);
    const ffmpeg = { ...real, path: script };
    await withRender({ path, probed, segments, ffmpeg }, async ({ path: rendered }) => {
      const lines = (await Bun.file(runs).text()).split("\n");
      expect(lines.filter((line) => line.includes("-ac 1 -i pipe:0"))).toHaveLength(1);
      expect(lines.filter((line) => line.includes("-c copy"))).toHaveLength(1);
      const [first, ...others] = await readPacketTimes(rendered);
      expect(first).toEqual([-1_024, 1_024]);
      // Duration of 161 frames, in an edit list of whole milliseconds.
      expect(others.at(-1)!.reduce((sum, ticks) => sum + ticks)).toBe(48 * Math.floor((161 * 1_000) / 30));
      expect(others.every(([at], n) => at === n * 1_024)).toBe(true);
    });
  });
});

/** Returns the start and the duration of each audio packet, in samples. */
async function readPacketTimes(path: string): Promise<[number, number][]> {
  const lines = await runFfprobe(path, "-select_streams", "a", "-show_entries", "packet=pts,duration");
  return lines
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split(",").slice(0, 2).map(Number) as [number, number]);
}

describe("an audio render", () => {
  const twoRooms = () =>
    generate(
      "two-rooms-30.wav",
      ...["-f", "lavfi", "-i", "anoisesrc=c=pink:r=48000:a=0.1:seed=3:d=30"],
      ...["-f", "lavfi", "-i", "anoisesrc=c=pink:r=48000:a=0.1:seed=4:d=30"],
      ...["-filter_complex", "[0][1]join=inputs=2:channel_layout=stereo"],
    );

  test.each([
    ["m4a", 64_000, "one microphone", () => room(60)],
    ["m4a", 128_000, "one microphone", () => room(60)],
    ["m4a", 192_000, "one microphone", () => room(60)],
    ["m4a", 64_000, "two microphones", twoRooms],
    ["m4a", 192_000, "two microphones", twoRooms],
    ["mp3", 96_000, "two microphones", twoRooms],
    ["mp3", 192_000, "two microphones", twoRooms],
  ])("as %s has the requested %d bits per second: of %s", async (format, audio_bitrate, _, source) => {
    const path = await source();
    const probed = await probeFile(path);
    const segments = toSnappedSegments(probed, [
      [1.5, 11.1],
      [12.7, 27],
    ]);
    await withRender({ path, probed, segments, output: { format, audio_bitrate } }, async (rendered) => {
      const { audio } = (await probeFile(rendered.path)).info;
      expect(audio[0]).toMatchObject({ sampleRate: 48_000, channels: 2 });
      expect(audio[0]!.bitrate! / audio_bitrate).toBeWithin(0.9, 1.12);
    });
  });

  test.each([
    ["by one encoder", 1, 0.1],
    ["in parts, the first of them being encoded", 4, 0.1],
    ["in parts, some of them done", 4, 0.6],
  ])("ends soon and leaves no files when cancelled %s", async (_, maxProcesses, until) => {
    const path = await room(600);
    const probed = await probeFile(path);
    const resolved = resolveOutput(probed, { format: "m4a" });
    if (!resolved.ok) throw new Error("bad output");
    const outputPath = join(folder, "out.m4a");
    const workDir = join(folder, "work");
    const request = { sourcePath: path, probed, segments: null, output: resolved.output, workDir, outputPath };
    const abortController = new AbortController();
    let stopped = 0;
    const render = renderMedia(request, {
      ffmpeg: bundledFfmpeg,
      chooseEncoder: async () => "libx264",
      maxProcesses,
      signal: abortController.signal,
      onProgress: (share) => {
        if (share < until || stopped > 0) return;
        stopped = Date.now();
        abortController.abort(new Error("cancelled by the user"));
      },
    });
    await expect(render).rejects.toThrow("cancelled by the user");
    await render.catch(() => {});
    expect(stopped).toBeGreaterThan(0);
    expect(Date.now() - stopped).toBeLessThan(MAX_CANCEL_MS);
    expect((await readdir(folder)).filter((name) => name !== "work")).toEqual([]);
    expect(await readdir(request.workDir)).toEqual([]);
  });

  test("in chunks fails with storage_full on a full disk, and leaves no files", async () => {
    const path = await room(600);
    const probed = await probeFile(path);
    const resolved = resolveOutput(probed, { format: "m4a" });
    if (!resolved.ok) throw new Error("bad output");
    // Encodes successfully, but reports a full disk for the third chunk.
    const script = join(folder, "no-room");
    await Bun.write(
      script,
      `#!/bin/sh
case "$*" in *samples-2.aac*) echo "write error: No space left on device" >&2; exit 1;; esac
exec ${bundledFfmpeg.path} "$@"
`,
    );
    await chmod(script, 0o755);
    const render = renderMedia(
      {
        sourcePath: path,
        probed,
        segments: null,
        output: resolved.output,
        workDir: join(folder, "work"),
        outputPath: join(folder, "full.m4a"),
      },
      { ffmpeg: { ...bundledFfmpeg, path: script }, chooseEncoder: async () => "libx264", maxProcesses: 4 },
    );
    await expect(render).rejects.toMatchObject({ code: "storage_full" });
    await render.catch(() => {});
    expect((await readdir(folder)).sort()).toEqual(["no-room", "work"]);
    expect(await readdir(join(folder, "work"))).toEqual([]);
    await rm(script);
  });

  test("in chunks that cannot be joined is repeated with one encoder", async () => {
    const path = await room(100);
    const probed = await probeFile(path);
    const script = join(folder, "cut-short");
    const truncatedPath = join(folder, "truncated");
    await Bun.write(
      script,
      `#!/bin/sh
${bundledFfmpeg.path} "$@" || exit 1
for last in "$@"; do :; done
case "$last" in *samples-1.aac) part="$(echo "$last" | cut -c6-)"; head -c 5000 "$part" > "$part.x"; mv "$part.x" "$part"; echo cut > ${truncatedPath};; esac
`,
    );
    await chmod(script, 0o755);
    const resolved = resolveOutput(probed, { format: "m4a" });
    if (!resolved.ok) throw new Error("bad output");
    const outputPath = join(folder, "whole.m4a");
    const workDir = join(folder, "work");
    await renderMedia(
      { sourcePath: path, probed, segments: null, output: resolved.output, workDir, outputPath },
      { ffmpeg: { ...bundledFfmpeg, path: script }, chooseEncoder: async () => "libx264", maxProcesses: 4 },
    );
    expect(await Bun.file(truncatedPath).exists()).toBe(true);
    expect(Math.abs((await readSamples(outputPath)).length / 48_000 - 100)).toBeLessThan(0.03);
    expect(await readdir(workDir)).toEqual([]);
  });
});
