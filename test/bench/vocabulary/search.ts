/**
 * Processor time of the search for the terms of a large vocabulary in an hour of speech:
 * `bun test/bench/vocabulary/search.ts [TERMS] [WORDS]`. Every fifth word is doubtful, and every fiftieth is part of a
 * misheard name.
 */
import { listCandidates } from "../../../src/domain/vocabulary/candidates";
import { createCommonFormCheck } from "../../../src/domain/vocabulary/common-forms";
import { prepareTerms } from "../../../src/domain/vocabulary/terms";
import { isFrequentWord } from "../../../src/speech/tokens";
import { createRandom } from "../cut-quality/talk";
import { SENTENCES } from "../speech/material";
import { FOREIGN_CARRIERS, FOREIGN_LISTS, FOREIGN_SENTENCES } from "./foreign-names";
import { FRESH_CARRIERS, FRESH_LISTS, FRESH_SENTENCES } from "./fresh-names";
import { NAME_LISTS, OTHER_LISTS } from "./names";

const WORD_TICKS = 400_000;
const [terms = 5_000, wordCount = 9_000] = process.argv.slice(2).map(Number);
const random = createRandom(1);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

const names = [...NAME_LISTS, ...OTHER_LISTS, ...FRESH_LISTS, ...FOREIGN_LISTS.map((list) => list.names)].flat();
/** Returns a name of the beginning of one and the end of another. */
const mix = (): string => {
  const [a, b] = [pick(names), pick(names)];
  return (
    a.slice(0, Math.ceil(a.length * (0.3 + 0.4 * random()))) + b.slice(Math.floor(b.length * (0.3 + 0.4 * random())))
  );
};
const texts = new Set(names);
while (texts.size < terms) texts.add(mix());
const spoken = [...SENTENCES, ...FOREIGN_SENTENCES, ...FRESH_SENTENCES, ...FOREIGN_CARRIERS, ...FRESH_CARRIERS].flatMap(
  (text) => text.split(" ").filter((word) => word !== "{}"),
);
const words = Array.from({ length: wordCount }, (_, n) => ({
  text: n % 50 === 0 ? mix() : pick(spoken),
  start: n * WORD_TICKS,
  end: (n + 1) * WORD_TICKS,
  confidence: n % 50 === 0 || random() < 0.2 ? 0.3 + 0.5 * random() : 0.9 + 0.1 * random(),
}));

const rules = {
  isCommon: isFrequentWord,
  isCommonForm: createCommonFormCheck("en", isFrequentWord),
  kept: new Set<string>(),
};
const startedMs = process.cpuUsage().user / 1000;
const prepared = prepareTerms([...texts].slice(0, terms).map((text) => ({ text, spoken_as: [] })));
const preparedMs = process.cpuUsage().user / 1000;
let [count, distance] = [0, 0];
for (const found of listCandidates(words, prepared, rules))
  for (const { similar } of found) {
    count++;
    distance += similar?.distance ?? 0;
  }
const searchedMs = process.cpuUsage().user / 1000;
console.log({
  terms: Math.min(terms, texts.size),
  words: words.length,
  candidates: count,
  meanDistance: Number((distance / count).toFixed(4)),
  prepareSeconds: Number(((preparedMs - startedMs) / 1000).toFixed(2)),
  searchSeconds: Number(((searchedMs - preparedMs) / 1000).toFixed(2)),
});
