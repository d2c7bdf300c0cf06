import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ffmpeg } from "../../../../src/media/ffmpeg";
import { renderAudio } from "../../../../src/media/leveled-audio";
import { fullOr } from "../../../full-size";
import { bundledFfmpeg, generate, runTool, systemFfmpeg } from "../generated-media";
import { runFfprobe } from "../readback";
import { probeFile } from "../rendering";

setDefaultTimeout(120_000);

const folder = await mkdtemp(join(tmpdir(), "offcut-runs-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const SECONDS = 90;
/** In this span the right channel has other audio. */
const [FROM, TO] = [30.2, 33.7];
const voice = "0.3*sin(2*PI*(180+40*sin(t))*t)+0.1*sin(2*PI*1870*t)*abs(sin(3*t))+0.02*random(0)";
const other = `0.2*sin(2*PI*500*t)*between(t\\,${FROM}\\,${TO})`;

let source = "";
let sourceChannels: [Float32Array, Float32Array];
beforeAll(async () => {
  source = await generate(
    "one-and-two.wav",
    // The random numbers of two expressions are the same only when they share a generator, so the voice is generated
    // once.
    ...["-f", "lavfi", "-i", `aevalsrc=exprs='${voice}':s=48000:d=${SECONDS}`],
    ...["-f", "lavfi", "-i", `aevalsrc=exprs='0|${other}':s=48000:d=${SECONDS}`],
    ...["-filter_complex", "[0]pan=stereo|c0=c0|c1=c0[a];[a][1]amix=inputs=2:duration=first,volume=2[out]"],
    ...["-map", "[out]", "-c:a", "pcm_f32le"],
  );
  sourceChannels = await channelsOf(source, 0, SECONDS);
});

/** Returns an ffmpeg that logs the channel count of each encoder, after running `script`. */
async function withChannelLog(
  ffmpeg: Ffmpeg,
  script: string,
): Promise<{ ffmpeg: Ffmpeg; channels(): Promise<number[]> }> {
  const [path, logPath] = [join(folder, `ffmpeg-${Math.random()}`), join(folder, `channels-${Math.random()}`)];
  const note = `case "$*" in *"-i pipe:0"*) echo "$*" | sed 's/.*-ac \\([0-9]\\).*/\\1/' >> ${logPath};; esac`;
  await Bun.write(path, `#!/bin/sh\n${note}\n${script}\n`);
  await chmod(path, 0o755);
  const channels = async () => (await Bun.file(logPath).text()).trim().split("\n").map(Number);
  return { ffmpeg: { ...ffmpeg, path }, channels };
}

async function render(ffmpeg: Ffmpeg, segments: [number, number][], maxEncoders = 1): Promise<string> {
  const outputPath = join(folder, `${Math.random()}.m4a`);
  const workDir = await mkdtemp(join(folder, "work-"));
  let out = 0;
  await renderAudio({
    ffmpeg,
    path: source,
    probed: await probeFile(source),
    format: "m4a",
    bitrate: 160_000,
    outputPath,
    workDir,
    segments: segments.map(([from, to]) => {
      const segment = { start: from * 1e6, end: to * 1e6, outputStart: out * 1e6, outputEnd: (out + to - from) * 1e6 };
      out += to - from;
      return segment;
    }),
    maxEncoders,
  }).finally(async () => expect(await readdir(workDir)).toEqual([]));
  return outputPath;
}

async function channelsOf(path: string, from: number, seconds: number): Promise<[Float32Array, Float32Array]> {
  const cut = ["-af", `atrim=start_sample=${from * 48_000}:end_sample=${(from + seconds) * 48_000}`];
  const bytes = await runTool([systemFfmpeg.path, "-v", "error", "-i", path, ...cut, "-f", "f32le", "pipe:1"]);
  const both = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
  return [both.filter((_, n) => n % 2 === 0), both.filter((_, n) => n % 2 === 1)];
}

describe("stereo that is mostly dual mono", () => {
  test.each([
    // Mono until the difference, stereo until twenty seconds after it, then mono again.
    ["in turn, with the system's ffmpeg", systemFfmpeg, 1, [1, 2, 1]],
    ["in parts, with the bundled one", bundledFfmpeg, 3, [1, 2]],
    ...fullOr<[string, Ffmpeg, number, number[]][]>(
      [
        ["in turn, with the bundled one", bundledFfmpeg, 1, [1, 2, 1]],
        ["in parts, with the system's ffmpeg", systemFfmpeg, 3, [1, 2]],
      ],
      [],
    ),
  ] as [string, Ffmpeg, number, number[]][])(
    "is encoded so %s, with every sample in its place",
    async (_, real, maxEncoders, kinds) => {
      const { ffmpeg, channels } = await withChannelLog(real, `exec ${real.path} "$@"`);
      const path = await render(ffmpeg, [[0, SECONDS]], maxEncoders);
      const started = await channels();
      // Parts are encoded at the same time.
      expect(maxEncoders === 1 ? started : started.toSorted()).toEqual(kinds);
      const [start, length, packets] = (
        await runFfprobe(path, "-show_entries", "stream=start_pts,duration_ts,nb_frames")
      ).split(",");
      expect([start, length, packets]).toEqual([
        "0",
        String(SECONDS * 48_000),
        String(Math.ceil(SECONDS * 46.875) + 1),
      ]);
      const [before, after] = [sourceChannels, await channelsOf(path, 0, SECONDS)];
      for (const channel of [0, 1] as const) {
        const [original, encoded] = [before[channel], after[channel]];
        expect(encoded.length).toBe(original.length);
        let [power, worst] = [0, 0];
        for (let block = 1; block < original.length / 1_024 - 1; block++) {
          let noise = 0;
          for (let n = block * 1_024; n < (block + 1) * 1_024; n++) {
            power += original[n]! ** 2 / original.length;
            noise += (encoded[n]! - original[n]!) ** 2 / 1_024;
          }
          worst = Math.max(worst, noise);
        }
        expect(worst).toBeLessThan(power / 100);
      }
      const difference = ([left, right]: [Float32Array, Float32Array], from: number, to: number) =>
        left.subarray(from * 48_000, to * 48_000).reduce((sum, value, n) => {
          return sum + Math.abs(value - right[from * 48_000 + n]!) / ((to - from) * 48_000);
        }, 0);
      if (maxEncoders === 1) expect(difference(after, 1, 28)).toBe(0);
      expect(difference(after, 60, 89)).toBe(0);
      expect(difference(after, 31, 33) / difference(before, 31, 33)).toBeCloseTo(1, 1);
    },
  );

  test("is encoded by a single encoder when the channels differ from the start", async () => {
    const { ffmpeg, channels } = await withChannelLog(bundledFfmpeg, `exec ${bundledFfmpeg.path} "$@"`);
    const path = await render(ffmpeg, [[31, 75]]);
    expect(await channels()).toEqual([2]);
    expect(Math.abs((await channelsOf(path, 0, 50))[0].length - 44 * 48_000)).toBeLessThan(1_024);
  });

  test("may be shorter than the blocks that are examined first", async () => {
    const path = await render(bundledFfmpeg, [[3, 3.5]]);
    const [left, right] = await channelsOf(path, 0, 0.5);
    expect(left.length).toBe(24_000);
    expect(left).toEqual(right);
  });

  test("is encoded by one encoder when the packets are not as expected", async () => {
    const cut = `case "$*" in *"-f adts pipe:1") ${bundledFfmpeg.path} "$@" | { head -c 30000; cat >/dev/null; }; exit 0;; esac`;
    const { ffmpeg, channels } = await withChannelLog(bundledFfmpeg, `${cut}\nexec ${bundledFfmpeg.path} "$@"`);
    const path = await render(ffmpeg, [[1, 25]]);
    expect(await channels()).toEqual([1, 2]);
    expect(Math.abs((await channelsOf(path, 0, 30))[0].length - 24 * 48_000)).toBeLessThan(1_024);
  });

  test.each([
    ["the first one, of a full disk", "-ac 1", "No space left on device", "storage_full"],
    ["the first one", "-ac 1", "broken", "processing_failed"],
    ["the second one, of a full disk", "-ac 2", "No space left on device", "storage_full"],
    ["the second one", "-ac 2", "broken", "processing_failed"],
  ])("fails with the error of a failing encoder: %s", async (_, which, message, code) => {
    const fail = `case "$*" in *"${which} -i pipe:0"*"-f adts pipe:1") head -c 300000 >/dev/null; echo "${message}" >&2; exit 1;; esac`;
    const { ffmpeg } = await withChannelLog(bundledFfmpeg, `${fail}\nexec ${bundledFfmpeg.path} "$@"`);
    await expect(render(ffmpeg, [[1, 80]])).rejects.toMatchObject({ code });
    await render(ffmpeg, [[1, 80]]).catch(() => {});
    expect((await readdir(folder)).filter((name) => name.endsWith(".part"))).toEqual([]);
  });
});
