/**
 * Counts names that are right with a vocabulary, and other words that it changes: `bun test/bench/vocabulary/run.ts
 * [slow|normal|others|heldBack|fresh|unseen|mixed|foreign|FOLDER] [even|odd|all] [big]`. Recordings say twenty unusual
 * names each, `slow` and at a `normal` pace. Rules were tuned with `slow` and `others`; `heldBack`, `fresh` and
 * `foreign` have other names, sentences and voices: those of festival say `fresh` names, those of espeak `foreign` ones
 * as in their language. `big`: the vocabulary has the names of all recordings. A folder with `real.json` has real
 * recordings, in which no name is said.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  AlignmentRequest,
  ForcedAlignment,
  Recognition,
  RecognitionRequest,
  Word,
} from "../../../src/domain/speech";
import { TICKS_PER_SECOND } from "../../../src/domain/time";
import { replaceWords } from "../../../src/domain/vocabulary/apply";
import type { Replacement } from "../../../src/domain/vocabulary/candidates";
import { toFormKey } from "../../../src/domain/vocabulary/entries";
import { findReplacements } from "../../../src/work/vocabulary/replace-words";
import { openModels, openPcm } from "../cut-quality/recording";
import { decodeAudio, toPcmBytes } from "../speech/material";
import {
  createForeignRecordings,
  createRecordings,
  type NamedRecording,
  type OtherWord,
  type SaidName,
  SPEAKERS,
} from "./material";
import { NAME_LISTS } from "./names";

/** A recognized word may be this far from where it is said. */
const MAX_SHIFT_TICKS = 0.3 * TICKS_PER_SECOND;

const [speakers = "slow", which = "all", size] = process.argv.slice(2);
const recordings = await openRecordings();
const all = recordings.flatMap(({ names }) => names);
const models = await openModels();
const scratch = await mkdtemp(join(tmpdir(), "offcut-vocabulary-"));

const overlaps = (word: Word, { start, end }: SaidName): boolean =>
  word.end > start * TICKS_PER_SECOND && word.start < end * TICKS_PER_SECOND;
const toName = (text: string): string => text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").replace(/['’]s$/u, "");

const count = {
  names: 0,
  before: 0,
  byText: 0,
  right: 0,
  wrong: 0,
  changed: 0,
  words: 0,
  seconds: 0,
};
for (const [index, { title, names, said, others, samples }] of recordings.entries()) {
  if (which !== "all" && (which === "odd") !== (index % 2 === 1)) continue;
  const path = join(scratch, `${index}.pcm`);
  await writeFile(path, toPcmBytes(samples));
  const pcm = await openPcm(path);
  const transcript = (await models.analyze(pcm)).transcript!;
  const answer = models.openEngine(pcm, path);
  const forcedAlign = async (requests: AlignmentRequest[]) =>
    (await answer({ kind: "align", requests })).results as ForcedAlignment[];
  const recognize = async (requests: RecognitionRequest[]) =>
    (await answer({ kind: "recognize", requests })).results as Recognition[];
  const entries = (size === "big" ? all : names).map((text) => ({ text, spoken_as: [] }));
  const use = { entries, kept: new Set<string>() };
  const started = performance.now();
  const replacements = await findReplacements(transcript, { ...use, speech: { forcedAlign, recognize } });
  const byAudio = judge(transcript.words, said, replacements);
  count.seconds += (performance.now() - started) / 1000;
  const byText = judge(transcript.words, said, await findReplacements(transcript, { ...use, speech: null }));
  const before = judge(transcript.words, said, []);
  const changed = byAudio.elsewhere + countLost(others, transcript.words, replacements);
  count.changed += changed;
  count.names += said.length;
  count.words += transcript.words.length;
  count.before += before.right;
  count.byText += byText.right;
  for (const key of ["right", "wrong"] as const) count[key] += byAudio[key];
  console.log(
    `${title}: ${before.right} of ${said.length} names are right without it, ${byAudio.right} with it (${byText.right} by text alone), ${byAudio.wrong} wrong, ${changed} other words changed`,
  );
  for (const line of byAudio.lines) console.log(`    ${line}`);
  await pcm.close();
}
await rm(scratch, { recursive: true, force: true });
console.log(count);
process.exit(0);

async function openRecordings(): Promise<NamedRecording[]> {
  if (speakers === "foreign") return createForeignRecordings();
  return speakers in SPEAKERS ? createRecordings(SPEAKERS[speakers as keyof typeof SPEAKERS]) : loadReal(speakers);
}

/**
 * Loads the English recordings of a folder: up to a minute of each, with a vocabulary of names that are not spoken
 * there.
 */
async function loadReal(folder: string): Promise<NamedRecording[]> {
  const { items }: { items: { file: string; kind: string }[] } = await Bun.file(join(folder, "real.json")).json();
  return items
    .filter(({ kind }) => kind === "english")
    .map(({ file }, index) => ({
      title: file,
      names: NAME_LISTS[index % NAME_LISTS.length]!,
      said: [],
      others: null,
      samples: decodeAudio(join(folder, file)).subarray(0, 60 * 16_000),
    }));
}

/** Returns how many words that are said beside the names are recognized without the vocabulary, and not with it. */
function countLost(
  others: readonly OtherWord[] | null,
  words: readonly Word[],
  replacements: readonly Replacement[],
): number {
  if (others === null) return 0;
  return countCommon(others, words) - countCommon(others, replaceWords(words, replacements));
}

/**
 * Returns the length of the longest common subsequence of words that are spoken and recognized at about the same time.
 */
function countCommon(spoken: readonly OtherWord[], recognized: readonly Word[]): number {
  const toKey = (text: string): string => toFormKey(toName(text));
  const isSame = (one: OtherWord, word: Word): boolean =>
    toKey(one.text) === toKey(word.text) &&
    word.end > one.start * TICKS_PER_SECOND - MAX_SHIFT_TICKS &&
    word.start < one.end * TICKS_PER_SECOND + MAX_SHIFT_TICKS;
  let row = new Uint32Array(recognized.length + 1);
  for (const one of spoken) {
    const next = new Uint32Array(recognized.length + 1);
    for (const [j, word] of recognized.entries())
      next[j + 1] = isSame(one, word) ? row[j]! + 1 : Math.max(row[j + 1]!, next[j]!);
    row = next;
  }
  return row[recognized.length]!;
}

/**
 * Counts names that are right, terms that are not where they are said, and words that terms replace where no name is
 * said.
 */
function judge(words: readonly Word[], names: readonly SaidName[], replacements: readonly Replacement[]) {
  let [elsewhere, wrong] = [0, 0];
  const lines: string[] = [];
  const found = new Set<string>();
  for (const { from, to, texts } of replacements) {
    const run = words.slice(from, to);
    const text = texts.join(" ");
    const name = names.find((one) => run.some((word) => overlaps(word, one)));
    if (name !== undefined && toName(text) === name.name) found.add(name.name);
    else {
      wrong++;
      lines.push(
        `"${run.map((word) => word.text).join(" ")}" became "${text}" where "${name?.name ?? "no name"}" is said`,
      );
    }
    if (name === undefined) elsewhere += run.length;
  }
  const replaced = new Set(replacements.flatMap(({ from, to }) => words.slice(from, to)));
  for (const name of names)
    if (words.some((word) => !replaced.has(word) && overlaps(word, name) && toName(word.text) === name.name))
      found.add(name.name);
  return { right: found.size, wrong, elsewhere, lines };
}
