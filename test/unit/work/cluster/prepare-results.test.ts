/** What the server accepts of a preparation on a worker. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { getPrepareRules } from "../../../../src/work/cluster/execution-files";
import { describeRemoteJob } from "../../../../src/work/cluster/remote-jobs";
import type { PrepareInput } from "../../../../src/work/jobs/prepare-run";
import type { MediaTools } from "../../../../src/work/media-tools";
import { readTranscriptColumns } from "../../../../src/work/preview-files";
import { temporaryFolder } from "../../../temporary-folder";

const limits = { maxDurationSeconds: 3_600, maxSidePixels: 4_096, maxStreams: 8 };

const video = {
  codec: "h264",
  width: 1920,
  height: 1080,
  codedWidth: 1920,
  codedHeight: 1088,
  rotation: 0,
  pixelAspect: { num: 1, den: 1 },
  frameRate: { num: 25, den: 1 },
  variable: false,
  bitrate: null,
  pixelFormat: "yuv420p",
  bitDepth: 8,
  color: { primaries: null, transfer: null, matrix: null, range: null },
  interlaced: false,
};
const info = { type: "video", demuxer: "mov", duration: 3_600_000_000, startPts: 0, video, audio: [], timecode: null };
const sniffed = { type: "video", extension: "mp4", contentType: "video/mp4", demuxer: "mov" };

/** Returns a preparation on a worker in a folder that has the source and the probe. */
async function describePreparation(dir: string) {
  await Bun.write(join(dir, "source"), "recording");
  await Bun.write(join(dir, "probed.json"), "{}");
  const checkpoints: unknown[] = [];
  const input: PrepareInput = { blobs: { source: { name: "source", bytes: 9 } }, language: null, limits, scope: "all" };
  const job = await describeRemoteJob("prepare", input, {
    root: dir,
    tools: {} as MediaTools,
    folders: { inputDir: dir, outputDir: dir },
    context: {
      checkpoint: async (checkpoint) => {
        checkpoints.push(checkpoint);
      },
      signal: new AbortController().signal,
      workDir: join(dir, "work"),
    },
  });
  return { job, checkpoints };
}

const nameOf = (error: Error): string => error.name;

test.each<[string, object, boolean]>([
  ["within the limits", {}, true],
  ["longer than the limit", { duration: 3_600_000_001 }, false],
  ["without a duration", { duration: 0 }, false],
  ["larger than the limit", { video: { ...video, codedWidth: 4_097 } }, false],
])("of a recording %s", async (_, change, isAccepted) => {
  await using folder = await temporaryFolder();
  const { job, checkpoints } = await describePreparation(folder.path);
  const refusal = await job.checkpoint({ kind: "probed", info: { ...info, ...change }, sniffed }).catch(nameOf);
  expect([refusal, checkpoints.length]).toEqual(isAccepted ? [undefined, 1] : ["InvalidResultError", 0]);
});

test("of a worker that does not stop sending checkpoints, only a few are stored", async () => {
  await using folder = await temporaryFolder();
  const { job, checkpoints } = await describePreparation(folder.path);
  const send = () => job.checkpoint({ kind: "video" }).catch(nameOf);
  const refusals = await Promise.all(Array.from({ length: 100 }, send));
  expect([refusals.at(-1), checkpoints.length]).toEqual(["InvalidResultError", 30]);
});

test("the speech analysis, which says that the files of speech are complete, is moved after them", () => {
  const rules = getPrepareRules({ inputDir: "in", outputDir: "out" }, limits);
  const placeOf = (name: string) => rules.findIndex((rule) => rule.name.test(name));
  const last = placeOf("listening.json");
  for (const name of ["energy.steps", "transcript.json", "transcript-columns.json.gz"])
    expect([name, placeOf(name) >= 0 && placeOf(name) < last]).toEqual([name, true]);
});

test("a transcript, which the server parses, is not larger than that of continuous speech", () => {
  const rules = getPrepareRules({ inputDir: "in", outputDir: "out" }, { maxDurationSeconds: 86_400 });
  const maxBytesOf = (name: string) => rules.find((rule) => rule.name.test(name))?.maxBytes;
  for (const name of ["transcript.json", "transcript-columns.json.gz"]) expect(maxBytesOf(name)).toBe(51_840_000);
  expect(maxBytesOf("poster.jpg")).toBeGreaterThan(51_840_000);
});

test("a transcript that expands to much more is decompressed as it is read", async () => {
  const size = 64 * 1024 ** 2;
  const reader = readTranscriptColumns(new Blob([Bun.gzipSync(new Uint8Array(size))])).getReader();
  const { value } = await reader.read();
  expect(value!.byteLength).toBeLessThan(size / 16);
  await reader.cancel();
});
