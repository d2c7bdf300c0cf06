/**
 * Counts names that are right with a vocabulary, and other words that it changes: `bun test/bench/vocabulary/run.ts
 * [slow|normal|others|heldBack|foreign|FOLDER] [even|odd|all] [big]`. Recordings say twenty unusual names each, `slow` and at a `normal` pace. Rules
 * were tuned with `slow` and `others`; `heldBack` and `foreign` have other names, sentences and voices. `foreign` ones are said by espeak as in their
 * language. `big`: the vocabulary has the names of all recordings. A folder with `real.json` has real recordings, in which no name is said.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AlignmentRequest, ForcedAlignment, Word } from "../../../src/domain/speech";
import { TICKS_PER_SECOND } from "../../../src/domain/time";
import type { Replacement } from "../../../src/domain/vocabulary/candidates";
import { findReplacements } from "../../../src/work/vocabulary/replace-words";
import { openModels, openPcm } from "../cut-quality/recording";
import { decodeAudio, toPcmBytes } from "../speech/material";
import { createForeignRecordings, createRecordings, type NamedRecording, type SaidName, SPEAKERS } from "./material";
import { NAME_LISTS } from "./names";

const [speakers = "slow", which = "all", size] = process.argv.slice(2);
const recordings = await openRecordings();
const all = recordings.flatMap(({ names }) => names);
const models = await openModels();
const scratch = await mkdtemp(join(tmpdir(), "offcut-vocabulary-"));

/** Times of words are exact to about this. */
const MARGIN_TICKS = 0.05 * TICKS_PER_SECOND;

const overlap = (word: Word, { start, end }: SaidName, margin = 0): number =>
  Math.min(word.end, end * TICKS_PER_SECOND + margin) - Math.max(word.start, start * TICKS_PER_SECOND - margin);
const toName = (text: string): string => text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").replace(/['’]s$/u, "");

const count = { names: 0, before: 0, byText: 0, right: 0, wrong: 0, changed: 0, words: 0, seconds: 0 };
for (const [index, { title, names, said, samples }] of recordings.entries()) {
  if (which !== "all" && (which === "odd") !== (index % 2 === 1)) continue;
  const path = join(scratch, `${index}.pcm`);
  await writeFile(path, toPcmBytes(samples));
  const pcm = await openPcm(path);
  const transcript = (await models.analyze(pcm)).transcript!;
  const answer = models.openEngine(pcm, path);
  const forcedAlign = async (requests: AlignmentRequest[]) =>
    (await answer({ kind: "align", requests })).results as ForcedAlignment[];
  const entries = (size === "big" ? all : names).map((text) => ({ text, spoken_as: [] }));
  const use = { entries, kept: new Set<string>() };
  const started = performance.now();
  const byAudio = judge(transcript.words, said, await findReplacements(transcript, { ...use, forcedAlign }));
  count.seconds += (performance.now() - started) / 1000;
  const byText = judge(transcript.words, said, await findReplacements(transcript, { ...use, forcedAlign: null }));
  const before = judge(transcript.words, said, []);
  count.names += said.length;
  count.words += transcript.words.length;
  count.before += before.right;
  count.byText += byText.right;
  for (const key of ["right", "wrong", "changed"] as const) count[key] += byAudio[key];
  console.log(
    `${title}: ${before.right} of ${said.length} names are right without it, ${byAudio.right} with it (${byText.right} by text alone), ${byAudio.wrong} wrong, ${byAudio.changed} other words changed`,
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

/** Loads the English recordings of a folder: up to a minute of each, with a vocabulary of names that nobody says there. */
async function loadReal(folder: string): Promise<NamedRecording[]> {
  const { items }: { items: { file: string; kind: string }[] } = await Bun.file(join(folder, "real.json")).json();
  return items
    .filter(({ kind }) => kind === "english")
    .map(({ file }, index) => ({
      title: file,
      names: NAME_LISTS[index % NAME_LISTS.length]!,
      said: [],
      samples: decodeAudio(join(folder, file)).subarray(0, 60 * 16_000),
    }));
}

/** Counts names that are right, terms in the wrong place, and changed words of which most is outside of the name. */
function judge(words: readonly Word[], names: readonly SaidName[], replacements: readonly Replacement[]) {
  let [changed, wrong] = [0, 0];
  const lines: string[] = [];
  const found = new Set<string>();
  for (const { from, to, texts } of replacements) {
    const run = words.slice(from, to);
    const text = texts.join(" ");
    const name = names.find((one) => run.some((word) => overlap(word, one) > 0));
    const isRight = name !== undefined && toName(text) === name.name;
    const recognized = run.map((word) => word.text).join(" ");
    const others = run.filter((word) => !name || overlap(word, name, MARGIN_TICKS) < (word.end - word.start) / 2);
    if (isRight) found.add(name.name);
    else wrong++;
    if (recognized !== text) changed += others.length;
    if (!isRight || (recognized !== text && others.length > 0))
      lines.push(`"${recognized}" became "${text}" where "${name?.name ?? "no name"}" is said`);
  }
  const replaced = new Set(replacements.flatMap(({ from, to }) => words.slice(from, to)));
  for (const name of names)
    if (words.some((word) => !replaced.has(word) && overlap(word, name) > 0 && toName(word.text) === name.name))
      found.add(name.name);
  return { right: found.size, wrong, changed, lines };
}
