/**
 * All recordings with which cuts are measured, as a snapshot: audio, analysis, and each answer of the recognizer to a
 * planner. Synthetic voices vary from run to run, so plans can be compared only on the same audio. A query that is not
 * in the snapshot is answered by the recognizer, and added.
 */

import { deserialize, serialize } from "bun:jsc";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { CUT_MODES } from "../../../src/domain/plan";
import type { SpeechQuery, SpeechReply, StagedPlan } from "../../../src/domain/planning/context";
import type { SpeechAnalysis } from "../../../src/domain/speech";
import { decodeAudio, toPcmBytes } from "../speech/material";
import { createOwnTalks, loadFluentReadings, loadTalks } from "./material";
import { type Models, openModels, openPcm, planSamples } from "./recording";
import type { Event } from "./talk";
import { addUnrecorded, changeWords, OTHER_SCRIPTS, UNRECORDED_PLACES } from "./written-scripts";

/** A judged span of a real recording, in seconds, and its text. */
type Stretch = [start: number, end: number, ...what: string[]];
/** Judgement of a real recording: good speech, disfluencies, and the kind of recording. */
export type RealJudgement = {
  kind: "english" | "foreign" | "mixed" | "music" | "null";
  keep?: Stretch[];
  go?: Stretch[];
};

/** A script with which a recording is cut. `other`: it belongs to another recording. An empty text means no script. */
export type CorpusScript = { name: string; text: string; isOther: boolean };
/** `events` are the spans that a perfect cut keeps. `isFluent`: every word must stay. */
export type CorpusRecording = {
  name: string;
  group: "eval" | "cases" | "recordings" | "fluent" | "real";
  scripts: CorpusScript[];
  events: Event[] | null;
  isFluent: boolean;
  judgement: RealJudgement | null;
};

/** An answer of the recognizer by the JSON text of its request. */
type Answers = Map<string, unknown>;
export type Corpus = {
  recordings: ReplayedRecording[];
  /** Limits how many queries the recognizer answers from now on. Beyond it, `cut` throws `NotInSnapshotError`. */
  limitQueries: (count: number) => void;
};

/** Thrown when a planner makes a query that is not in the snapshot. */
export class NotInSnapshotError extends Error {}
export type ReplayedRecording = CorpusRecording & {
  analysis: SpeechAnalysis;
  cut: (script: string) => Promise<StagedPlan>;
  /** Number of queries that the snapshot did not answer. */
  missed: () => number;
};

const FOLDER = join(import.meta.dir, "../../../dist/cut-quality");
const NONE: CorpusScript = { name: "none", text: "", isOther: false };
/** Draws of changed words in each script. */
const DRAWS = 2;
const CHANGES = ["12% wrong", "12% mixed", "25% mixed"] as const;
const MAX_OTHER_SCRIPTS = 4;
/** `OTHER_SCRIPTS` starts with these. */
const ENGLISH_SCRIPTS = 8;
/** How many talks later the script is whose lines are not recorded. */
const OTHER_TALK = 9;

/** Creates the snapshot of all recordings, unless it exists. `shared` is a folder with `eval` and `media`. */
export async function createSnapshot(shared: string | null): Promise<void> {
  if (existsSync(join(FOLDER, "recordings.bin"))) return;
  await mkdir(FOLDER, { recursive: true });
  const models = await openModels();
  const recordings: CorpusRecording[] = [];
  for await (const { samples, ...recording } of listRecordings(shared)) {
    const path = pathOf(recording.name, "pcm");
    await Bun.write(path, toPcmBytes(samples));
    const pcm = await openPcm(path);
    await store(recording.name, "analysis", await models.analyze(pcm));
    await pcm.close();
    recordings.push(recording);
  }
  await store("recordings", null, recordings);
}

/** Loads the snapshot. */
export async function openCorpus(): Promise<Corpus> {
  const recordings = await load<CorpusRecording[]>("recordings", null);
  let models: Promise<Models> | null = null;
  const allowance = { left: Number.POSITIVE_INFINITY };
  const getModels = () => (models ??= openModels());
  const opened = await Promise.all(recordings!.map((recording) => replay(recording, getModels, allowance)));
  const limitQueries = (count: number) => {
    allowance.left = count;
  };
  return { recordings: opened, limitQueries };
}

async function replay(
  recording: CorpusRecording,
  models: () => Promise<Models>,
  allowance: { left: number },
): Promise<ReplayedRecording> {
  const analysis = (await load<SpeechAnalysis>(recording.name, "analysis"))!;
  const answers = (await load<Answers>(recording.name, "answers")) ?? new Map<string, unknown>();
  const path = pathOf(recording.name, "pcm");
  const sampleCount = Bun.file(path).size / 2;
  let missed = 0;
  const ask = async (query: SpeechQuery): Promise<SpeechReply> => {
    const { openEngine } = await models();
    const pcm = await openPcm(path);
    try {
      return await openEngine(pcm, path)(query);
    } finally {
      await pcm.close();
    }
  };
  const answer = async (query: SpeechQuery): Promise<SpeechReply> => {
    const keys = query.requests.map((request) => `${query.kind} ${JSON.stringify(request)}`);
    const open = [...new Set(keys.filter((key) => !answers.has(key)))];
    if (open.length > 0) {
      if (open.length > allowance.left) throw new NotInSnapshotError(`${open.length} queries are not in the snapshot`);
      allowance.left -= open.length;
      missed += open.length;
      const requests = open.map((key) => query.requests[keys.indexOf(key)]!);
      const { results } = await ask({ ...query, requests } as SpeechQuery);
      for (const [i, key] of open.entries()) answers.set(key, results[i]);
    }
    return { kind: query.kind, results: keys.map((key) => answers.get(key)) } as SpeechReply;
  };
  let stored = 0;
  const cut = async (script: string) => {
    try {
      return await planSamples(analysis, sampleCount, script, CUT_MODES.natural, answer);
    } finally {
      // Answers take long, so a run that is stopped must not lose them.
      if (missed > stored) await store(recording.name, "answers", answers);
      stored = missed;
    }
  };
  return { ...recording, analysis, cut, missed: () => missed };
}

const pathOf = (name: string, extension: string) => join(FOLDER, `${name.replace(/[^\w.-]+/g, "-")}.${extension}`);

async function store(name: string, kind: string | null, value: unknown): Promise<void> {
  const path = pathOf(kind ? `${name}.${kind}` : name, "bin");
  await Bun.write(`${path}.new`, serialize(value));
  await rename(`${path}.new`, path);
}

async function load<Value>(name: string, kind: string | null): Promise<Value | null> {
  const path = pathOf(kind ? `${name}.${kind}` : name, "bin");
  return existsSync(path) ? (deserialize(await Bun.file(path).arrayBuffer()) as Value) : null;
}

async function* listRecordings(shared: string | null): AsyncGenerator<CorpusRecording & { samples: Float32Array }> {
  const speech = shared && join(shared, "media/speech");
  const groups = [
    ["eval", shared ? await loadTalks(join(shared, "eval"), speech) : []],
    ["cases", await createOwnTalks("cases")],
    ["recordings", await createOwnTalks("recordings")],
  ] as const;
  let seed = 0;
  for (const [group, talks] of groups) {
    for (const { name, samples, script, events } of talks) {
      const scripts = [NONE, ...toScripts(script, ++seed)];
      yield { name: `${group}-${name}`, group, scripts, events, isFluent: false, judgement: null, samples };
    }
  }
  for (const { name, samples, script } of speech ? await loadFluentReadings(speech) : []) {
    const scripts = [NONE, { name: "exact", text: script, isOther: false }];
    yield { name, group: "fluent", scripts, events: null, isFluent: true, judgement: null, samples };
  }
  if (shared) yield* listRealRecordings(join(shared, "media/real"));
}

type RealItem = RealJudgement & { file: string; reference?: string };

async function* listRealRecordings(folder: string): AsyncGenerator<CorpusRecording & { samples: Float32Array }> {
  const { items } = (await Bun.file(join(folder, "real.json")).json()) as { items: RealItem[] };
  const present = new Set(await readdir(folder));
  for (const { file, reference, ...judgement } of items.filter((item) => present.has(item.file))) {
    const scripts = reference ? [NONE, { name: "reference", text: reference, isOther: false }] : [NONE];
    const name = `real-${file.slice(0, -extname(file).length)}`;
    const samples = decodeAudio(join(folder, file));
    yield { name, group: "real", scripts, events: null, isFluent: judgement.kind === "null", judgement, samples };
  }
}

/** Returns the script of a talk, exact and with changed words, and some of other recordings. */
function toScripts(script: string, seed: number): CorpusScript[] {
  const changed = listChangedScripts(script, seed, 0, DRAWS);
  const others = Array.from({ length: MAX_OTHER_SCRIPTS }, (_, n) => (seed + n) % OTHER_SCRIPTS.length).map(
    (index) => ({
      name: `other ${index}`,
      text: OTHER_SCRIPTS[index]!,
      isOther: true,
    }),
  );
  return [{ name: "exact", text: script, isOther: false }, ...changed, ...others];
}

function listChangedScripts(script: string, seed: number, firstDraw: number, draws: number): CorpusScript[] {
  const sentences = splitLines(script);
  return CHANGES.flatMap((change) =>
    Array.from({ length: draws }, (_, n) => ({
      name: `${change} ${firstDraw + n + 1}`,
      text: changeWords(sentences, change, 100 * (firstDraw + n) + seed).join("\n"),
      isOther: false,
    })),
  );
}

const splitLines = (script: string) => script.split("\n").filter((line) => line.trim() !== "");

/**
 * Returns more scripts of each talk, which are not in the snapshot: draws of changed words from draw `first` on (draws
 * 1 and 2 are in it), and scripts with as many lines that are not recorded. These are from scripts about something
 * else, and from that of another talk. A draw changes the same words in each run.
 */
export function withMoreScripts(
  recordings: readonly ReplayedRecording[],
  draws: number,
  first = DRAWS + 1,
): ReplayedRecording[] {
  const talks = recordings.filter(({ events }) => events !== null);
  const exact = talks.map(({ scripts }) => scripts.find(({ name }) => name === "exact")!.text);
  const unrelated = OTHER_SCRIPTS.slice(0, ENGLISH_SCRIPTS).flatMap((text) => text.match(/[^.]+\./g)!);
  return talks.map((talk, i) => {
    const ofOtherTalk = splitLines(exact[(i + OTHER_TALK) % exact.length]!);
    const changed = listChangedScripts(exact[i]!, i + 1, first - 1, draws);
    const unrecorded = [exact[i]!, changed.at(-1)!.text].flatMap((script, isChanged) =>
      [unrelated.slice(i), ofOtherTalk].flatMap((lines, source) =>
        UNRECORDED_PLACES.map((place) => ({
          name: `${isChanged ? "25% mixed" : "exact"}, unrecorded ${place} ${source + 1}`,
          text: addUnrecorded(splitLines(script), lines, place).join("\n"),
          isOther: false,
        })),
      ),
    );
    return { ...talk, scripts: [...changed, ...unrecorded] };
  });
}

/** The folder of shared recordings: an argument, or `OFFCUT_SHARED`. */
export const findSharedFolder = (argument: string | undefined): string | null =>
  argument ? dirname(join(argument, "_")) : (process.env.OFFCUT_SHARED ?? null);
