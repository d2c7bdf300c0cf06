/**
 * The search of transcripts: `bun test/bench/search/run.ts [HOURS]`, 10,000 by default. Generates recordings of one
 * hour in one workspace, with words as frequent as those of a language, and a cut of each in which one word of a
 * hundred is corrected; of the last one, also one with 4,500 corrections, and one with 90 long texts. Prints the times
 * of a transaction, and of queries with a quarter, half and all of the hours; every second one in a project.
 */
import { join } from "node:path";
import { CUT_MODES } from "../../../src/domain/plan";
import type { EditedText } from "../../../src/domain/plan-texts";
import { type SpokenWord, splitPassages } from "../../../src/domain/search/passages";
import { newId } from "../../../src/lib/ids";
import { insertCut } from "../../../src/store/cuts";
import type { Queries } from "../../../src/store/db";
import { replacePassages } from "../../../src/store/search";
import { packTexts } from "../../../src/work/cuts/stored-basis";
import { type Corrections, indexCorrections, readCorrections } from "../../../src/work/search/index-corrections";
import { searchTranscripts } from "../../../src/work/search/search";
import { createRandom } from "../../random";
import { addAsset, addUser, freshStore } from "../../unit/store/test-store";

const HOURS = Number(process.argv[2] ?? 10_000);
const WORDS_PER_HOUR = 9_000;
const WORD_MS = 400;
const VOCABULARY = 50_000;
const WORDS_PER_SENTENCE = 17;
const WORDS_PER_CORRECTION = 100;
const HOURS_PER_REPORT = 500;
const RUNS = 6;
/** Queries are measured at these numbers of hours too: how their times grow. */
const MEASURED_HOURS = [0.25, 0.5, 1].map((share) => Math.round(HOURS * share));

/** The word of a rank: 1 is the most frequent. */
const say = (rank: number): string => `w${rank.toString(36)}x`;

/** The corrected word of a rank, which the transcripts do not contain. */
const correct = (rank: number): string => `c${rank.toString(36)}x`;

await using fresh = await freshStore();
const { store } = fresh;
const random = createRandom(1);
// Picks a rank by Zipf's law.
const pickRank = (): number => Math.floor(VOCABULARY ** ((random(1_000_000) + 1) / 1_000_001));

const owner = await store.write(addUser);
const slowest = { transcript: 0, corrections: 0 };
async function measure(work: () => Promise<void>): Promise<number> {
  const started = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1e3;
}

/**
 * Makes the texts of a cut searchable as an edit does, and returns the CPU time in ms before and in the transaction.
 */
async function correctCut(assetId: string, texts: EditedText[]): Promise<[read: number, written: number]> {
  const row = { workspace_id: owner.workspaceId, asset_id: assetId, state: "completed" as const, plan: "{}" };
  const times = { created_at: 0, completed_at: 0 };
  const cut = { id: newId(), ...row, script: "", options: CUT_MODES.natural, ...times, basis: packTexts(texts) };
  let corrections: Corrections = null;
  const read = await measure(async () => {
    corrections = await readCorrections(store.read, cut, null);
  });
  const write = async (tx: Queries) => indexCorrections(tx, await insertCut(tx, cut), null, corrections);
  return [read, await measure(() => store.write(write))];
}

/** Texts in place of every word of `step`. */
const correctWords = (words: readonly SpokenWord[], step: number, toText: () => string): EditedText[] =>
  words
    .filter((_, n) => n % step === 0)
    .map(({ start, end }) => ({ text: toText(), start: start / 1000, end: end / 1000 }));

const QUERIES: Record<string, string> = {
  "a frequent word": say(1),
  "a rare word": say(40_000),
  "two frequent words": `${say(1)} ${say(2)}`,
  "four frequent words": [1, 2, 3, 4].map(say).join(" "),
  "a frequent and a rare word": `${say(1)} ${say(49_000)}`,
  "two rare words": `${say(30_000)} ${say(31_000)}`,
  "three words": `${[100, 101, 102].map(say).join(" ")} `,
  "a phrase of frequent words": `"${say(1)} ${say(2)}"`,
  "a phrase that nobody said": `"${[100, 101, 102].map(say).join(" ")}"`,
  "the beginning of a word": "w1a",
  "a frequent corrected word": correct(1),
  "a rare corrected word": correct(40_000),
  "a frequent and a corrected word": `${say(1)} ${correct(2)}`,
  "a phrase with a corrected word": `"${correct(1)} ${say(1)}"`,
  "a word that nobody said": "nothing",
  "text without spaces": "中国",
};

/** Prints how long queries take. */
async function measureQueries(hours: number): Promise<void> {
  console.log(`${hours} hours, ${(Bun.file(join(fresh.folder, "test.db")).size / 1e6).toFixed(0)} MB`);
  for (const [name, text] of Object.entries(QUERIES)) {
    const times: [everywhere: number[], inProject: number[]] = [[], []];
    let found = 0;
    for (let run = 0; run < RUNS; run++) {
      const started = performance.now();
      const filter = { projectId: run % 2 === 0 ? null : owner.projectId, afterId: null, limit: 20 };
      found = (await searchTranscripts({ store }, owner.workspaceId, text, filter)).rows.length;
      times[run % 2]!.push(performance.now() - started);
    }
    const [everywhere, inProject] = times.map((runs) => runs.map((ms) => ms.toFixed(1)).join(" "));
    console.log(`${name.padEnd(28)} ${found} found, ms: ${everywhere}; in a project ${inProject}`);
  }
}

for (let hour = 1; hour <= HOURS; hour++) {
  const words = Array.from({ length: WORDS_PER_HOUR }, (_, n) => ({
    text: `${say(pickRank())}${n % WORDS_PER_SENTENCE === 0 ? "." : ""}`,
    start: n * WORD_MS,
    end: (n + 1) * WORD_MS - 50,
  }));
  const passages = splitPassages(words);
  let assetId = "";
  const add = async (tx: Queries): Promise<void> => {
    assetId = (await addAsset(tx, owner, { state: "ready" })).id;
    await replacePassages(tx, assetId, passages);
  };
  slowest.transcript = Math.max(slowest.transcript, await measure(() => store.write(add)));
  const texts = correctWords(words, WORDS_PER_CORRECTION, () => correct(pickRank()));
  const [, written] = await correctCut(assetId, texts);
  slowest.corrections = Math.max(slowest.corrections, written);
  if (hour === HOURS) {
    const long = correctWords(words, WORDS_PER_CORRECTION, () => "word ".repeat(2_000));
    const many = correctWords(words, 2, () => correct(pickRank()));
    for (const [name, some] of Object.entries({ "90 words": texts, "4,500 words": many, "90 long texts": long })) {
      const [before, inside] = await correctCut(assetId, some);
      console.log(`${name}: ${before.toFixed(0)} ms of CPU before the transaction, ${inside.toFixed(0)} ms in it`);
    }
  }
  if (hour % HOURS_PER_REPORT === 0)
    console.log(
      `${hour} hours, slowest transactions ${slowest.transcript.toFixed(0)} and ${slowest.corrections.toFixed(0)} ms of CPU`,
    );
  if (MEASURED_HOURS.includes(hour)) await measureQueries(hour);
}
