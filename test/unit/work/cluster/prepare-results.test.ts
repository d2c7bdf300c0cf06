/** The results of a preparation on a worker that the server accepts. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { getMediaFolder } from "../../../../src/blobs/folders";
import { AppError } from "../../../../src/domain/errors";
import { JobAborted } from "../../../../src/domain/jobs";
import { WORKER_PROTOCOL } from "../../../../src/domain/workers";
import { createAudioFile } from "../../../../src/lib/analysis-audio/writer";
import { findPreparedProblem, type SentPreparedFiles } from "../../../../src/work/assets/prepared-check";
import { hasSpeechAnalysis } from "../../../../src/work/assets/prepared-files";
import { getPrepareRules } from "../../../../src/work/cluster/execution-files";
import { matchesRule } from "../../../../src/work/cluster/incoming-files";
import { REMOTE_JOBS } from "../../../../src/work/cluster/remote-jobs";
import type { MediaTools } from "../../../../src/work/jobs/media-tools";
import type { PrepareInput } from "../../../../src/work/jobs/prepare-run";
import { readTranscriptColumns } from "../../../../src/work/previews/files";
import { temporaryFolder } from "../../../temporary-folder";
import { createTools } from "../jobs/split-places";

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
async function describePreparation(dir: string, tools = {} as MediaTools, store = async () => {}) {
  await Bun.write(join(dir, "source"), "recording");
  await Bun.write(join(dir, "probed.json"), "{}");
  const checkpoints: unknown[] = [];
  const input: PrepareInput = {
    blobs: { source: { name: "source", bytes: 9 } },
    language: null,
    limits,
    vocabulary: [],
    scope: "all",
  };
  const described = await REMOTE_JOBS.prepare.describe(input as never, {
    onEncoded: () => {},
    root: dir,
    tools,
    folders: { inputDir: dir, outputDir: dir },
    context: {
      checkpoint: async (checkpoint) => {
        await store();
        checkpoints.push(checkpoint);
      },
      signal: new AbortController().signal,
      workDir: join(dir, "work"),
    },
  });
  const { check, checkpoint, finish } = described;
  return { job: { ...described, check: check!, checkpoint: checkpoint!, finish: finish! }, checkpoints };
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

test("a worker sends only files that heads of its protocol accept", () => {
  // Raise the protocol with every change of the names: a worker takes the 404 for another file for the end of its
  // execution.
  const names = getPrepareRules({ inputDir: "", outputDir: "" }, limits).map(({ name }) => String(name));
  expect({ protocol: WORKER_PROTOCOL, names: names.sort() }).toEqual({
    protocol: 6,
    names: [
      "/^storyboard-\\d{4}\\.jpg$/",
      "analysis.audio",
      "energy.steps",
      "filmstrip.jpg",
      "listening.json",
      "loudness.steps",
      "poster.jpg",
      "probed.json",
      "source.index",
      "source.json",
      "transcript-columns.json.gz",
      "transcript.json",
      "waveform.bin",
      "waveform.json",
    ],
  });
});

test("of a worker that does not stop sending checkpoints, only a few are stored", async () => {
  await using folder = await temporaryFolder();
  const { job, checkpoints } = await describePreparation(folder.path);
  const send = () => job.checkpoint({ kind: "video" }).catch(nameOf);
  const refusals = await Promise.all(Array.from({ length: 100 }, send));
  expect([refusals.at(-1), checkpoints.length]).toEqual(["InvalidResultError", 30]);
});

const said = { text: "one", start: 0, end: 500_000, confidence: 0.9 };
const report = { kind: "words", blobs: [], from: 0, words: [said] };
test.each<[string, object, boolean]>([
  ["from the start", {}, true],
  ["later in the recording", { from: 4_000, words: [said, said] }, true],
  ["as long as a transcript may have them", { words: [{ ...said, text: "a".repeat(10_000), confidence: 2 }] }, true],
  ["before the start", { from: -1 }, false],
  ["that are none", { words: [] }, false],
  ["that are too many", { words: Array.from({ length: 5_001 }, () => said) }, false],
  ["at no time", { words: [{ ...said, start: "now" }] }, false],
  ["without an end", { words: [{ ...said, text: "a".repeat(10_001) }] }, false],
])("words %s are stored or dropped, and the preparation goes on", async (_, change, isStored) => {
  await using folder = await temporaryFolder();
  const { job, checkpoints } = await describePreparation(folder.path);
  await job.checkpoint({ ...report, ...change, secret: 1 });
  expect(checkpoints).toEqual(isStored ? [{ ...report, ...change }] : []);
});

test.each<[string, Error, string | undefined]>([
  ["words that cannot be stored", new Error("database is locked"), undefined],
  ["words of an attempt that was replaced", new JobAborted("lost"), "JobAborted"],
])("%s", async (_, error, refusal) => {
  await using folder = await temporaryFolder();
  const { job } = await describePreparation(folder.path, {} as MediaTools, async () => {
    throw error;
  });
  expect(await job.checkpoint(report).catch(nameOf)).toBe(refusal);
});

test("words of a worker that does not stop sending them are dropped", async () => {
  await using folder = await temporaryFolder();
  const { job, checkpoints } = await describePreparation(folder.path);
  const long = { ...said, text: "a".repeat(10_000) };
  const send = (from: number, count: number) =>
    job.checkpoint({ ...report, from, words: Array.from({ length: count }, () => long) });
  await send(0, 1_600);
  await send(1_600, 1);
  await job.checkpoint({ kind: "video" });
  expect(checkpoints).toHaveLength(2);
});

test("reports of words do not count as checkpoints, which are stored", async () => {
  await using folder = await temporaryFolder();
  const { job, checkpoints } = await describePreparation(folder.path);
  for (let from = 0; from < 40; from++) await job.checkpoint({ kind: "words", blobs: [], from, words: [said] });
  await job.checkpoint({ kind: "video" });
  expect(checkpoints).toHaveLength(41);
});

const words = [{ text: "one", start: 0.5, end: 0.9, confidence: 0.98 }];
const speech = [{ start: 500_000, end: 900_000 }];
const recognized = {
  language: "en",
  words: [{ text: "one", start: 500_000, end: 900_000, confidence: 0.98 }],
  utterances: [{ ...speech[0], text: "one", meanLogProb: null }],
};
const rate = { num: 25, den: 1 };
const constant = { kind: "constant", rate, first: 0, count: 90_000 };
const listed = { kind: "listed", rate, times: [0, 40_000], end: 80_000 };
const columns = { text: ["one"], start: [500], end: [900] };
const { words: _words, ...withoutWords } = recognized;
const { end: _end, ...withoutEnd } = columns;

/** Contents of files with whether they are accepted. */
const CONTENTS: [keyof SentPreparedFiles, unknown, boolean][] = [
  ["transcript", { language: "en", words }, true],
  ["transcript", { language: null, words: [] }, true],
  ["transcript", { language: "en" }, false],
  ["transcript", { language: "en", words: {} }, false],
  ["transcript", { language: "en", words: [{ ...words[0], start: null }] }, false],
  ["transcript", { language: "en", words: [{ ...words[0], text: 7 }] }, false],
  ["transcript", null, false],
  ["transcript", "{", false],
  ["transcriptColumns", columns, true],
  ["transcriptColumns", withoutEnd, false],
  ["transcriptColumns", { ...columns, start: [] }, false],
  ["transcriptColumns", "not JSON", false],
  ["transcriptColumns", { ...columns, padding: " ".repeat(65 * 1024 ** 2) }, false],
  ["speechAnalysis", { duration: 1_000_000, speech, transcript: recognized }, true],
  ["speechAnalysis", { duration: 1_000_000, speech: [], transcript: null }, true],
  ["speechAnalysis", { duration: 1_000_000, speech }, false],
  ["speechAnalysis", { duration: 1_000_000, speech, transcript: withoutWords }, false],
  ["speechAnalysis", { duration: 1_000_000, speech: null, transcript: null }, false],
  ["probed", { info, frames: constant }, true],
  ["probed", { info: { ...info, video: null }, frames: null }, true],
  ["probed", { info, frames: listed }, true],
  ["probed", { info, frames: { ...listed, times: "many" } }, false],
  ["probed", { info: {}, frames: null }, false],
  ["energy", "no samples", false],
];

test("files that the server parses have the shape that a preparation writes", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "file");
  for (const [name, content, isAccepted] of CONTENTS) {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    await Bun.write(path, name === "transcriptColumns" ? Bun.gzipSync(text) : text);
    const problem = await findPreparedProblem({ [name]: path });
    expect([name, text.slice(0, 200), problem === null]).toEqual([name, text.slice(0, 200), isAccepted]);
  }
  const energy = await createAudioFile(path);
  await energy.finish();
  await energy.close();
  expect(await findPreparedProblem({ energy: path })).toBeNull();
  const missing = await findPreparedProblem({ energy: join(folder.path, "missing") }).catch((error) => error);
  expect(missing).toMatchObject({ code: "ENOENT" });
});

test("files of speech are checked in a child process before they are moved", async () => {
  await using folder = await temporaryFolder();
  const { job } = await describePreparation(folder.path, createTools() as unknown as MediaTools);
  const path = join(folder.path, "incoming");
  const check = async (content: object) => {
    await Bun.write(path, JSON.stringify(content));
    return job.check(new Map([["transcript.json", path]])).catch(({ message }: Error) => message);
  };
  expect(await check({ language: "en", words })).toBeUndefined();
  expect(await check({ language: "en" })).toBe("The worker's result is not valid: the transcript cannot be read");
});

test("a worker is blamed for a file beyond the limits of its check, and not for a full disk of the server", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "incoming");
  const check = async (code: "processing_failed" | "storage_full") => {
    const run = () => Promise.reject(new AppError(code, "stopped"));
    const lend = () => ({ run, end: async () => {}, [Symbol.asyncDispose]: async () => {} });
    const tools = { ...createTools(), sharedChild: { lend } };
    const { job } = await describePreparation(folder.path, tools as unknown as MediaTools);
    return job.check(new Map([["transcript.json", path]])).catch(nameOf);
  };
  expect(await check("processing_failed")).toBe("InvalidResultError");
  expect(await check("storage_full")).toBe("AppError");
});

test("the speech analysis, which marks the files of speech as complete, is moved after them", () => {
  const rules = getPrepareRules({ inputDir: "in", outputDir: "out" }, limits);
  const placeOf = (name: string) => rules.findIndex((rule) => matchesRule(rule, name));
  const last = placeOf("listening.json");
  for (const name of ["energy.steps", "transcript.json", "transcript-columns.json.gz"])
    expect([name, placeOf(name) >= 0 && placeOf(name) < last]).toEqual([name, true]);
  // Its facts name the sheets of the storyboard.
  expect(placeOf("storyboard-0001.jpg")).toBeLessThan(placeOf("source.json"));
});

test("files of speech of an earlier attempt are continued with only when all are there", async () => {
  const speechFiles = ["energy.steps", "listening.json", "transcript-columns.json.gz", "transcript.json"];
  for (const missing of ["none", "listening.json", "energy.steps"]) {
    await using folder = await temporaryFolder();
    const files = getMediaFolder(folder.path);
    for (const name of ["analysis.audio", ...speechFiles])
      if (name !== missing) await Bun.write(join(folder.path, name), "x");
    const { job } = await describePreparation(folder.path);
    const sent = job.files.filter(({ role }) => role === "output").map(({ name }) => name);
    const kept = ["analysis.audio", "probed.json", ...(missing === "none" ? speechFiles : [])];
    expect([missing, sent.toSorted()]).toEqual([missing, kept.toSorted()]);
    expect([missing, await hasSpeechAnalysis(files)]).toEqual([missing, missing === "none"]);
  }
});

test("a transcript, which the server parses, is not larger than one of continuous speech", () => {
  const rules = getPrepareRules({ inputDir: "in", outputDir: "out" }, { maxDurationSeconds: 86_400 });
  const maxBytesOf = (name: string) => rules.find((rule) => matchesRule(rule, name))?.maxBytes;
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
