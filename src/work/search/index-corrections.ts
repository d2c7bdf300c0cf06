/** Makes texts of cuts searchable that users or a script have corrected, in the transaction that stores them. */
import type { PlanJson } from "../../domain/plan-json";
import type { EditedText } from "../../domain/plan-texts";
import {
  type CorrectedText,
  correctPassage,
  LINE_SEPARATOR,
  listOwnWords,
  listScriptTexts,
  splitText,
} from "../../domain/search/corrections";
import type { SpokenWord } from "../../domain/search/passages";
import { yieldToEventLoop } from "../../lib/event-loop";
import { type Cut, findCutById } from "../../store/cuts";
import type { Queries, Store } from "../../store/db";
import { listRewordedCutIds } from "../../store/library";
import {
  findLastPassageId,
  listCorrectedPassages,
  listPassages,
  replaceCorrectedPassages,
  type StoredPassage,
} from "../../store/search";
import { unpackBasis, unpackTexts } from "../cuts/stored-basis";

type CorrectedCut = Pick<Cut, "asset_id" | "plan" | "basis" | "script">;
/** `lastId` is that of the passages that were read. Null if nothing is corrected, neither now nor before. */
export type Corrections = { lastId: number | null; found: Omit<StoredPassage, "end">[] } | null;

const SECOND_MS = 1000;
/** Characters of the texts of a cut, and passages, after which requests are answered: a few milliseconds. */
const CHARACTERS_PER_YIELD = 10_000;
const PASSAGES_PER_YIELD = 50;
/** As much as is said in a day. Texts beyond this are not searchable. */
const MAX_CUT_CHARACTERS = 1_000_000;

/**
 * Reads the corrections in a completed cut. `editedFrom` is the ID of the cut that was edited: if it was cut by hand,
 * an older version has stored its corrections only here.
 */
export async function readCorrections(db: Queries, cut: CorrectedCut, editedFrom: string | null): Promise<Corrections> {
  const plan = JSON.parse(cut.plan ?? "null") as PlanJson | null;
  const texts = (plan && unpackTexts(cut.basis, plan)) ?? [];
  const isByHand = plan !== null && unpackBasis(cut.basis, plan) === null;
  const before = isByHand && editedFrom !== null ? await listCorrectedPassages(db, editedFrom) : [];
  const isScripted = plan !== null && cut.script !== "";
  if (texts.length === 0 && before.length === 0 && !isScripted) return null;
  const corrected = new Map(before.map((row) => [row.passage_id, row]));
  const passages = (await listPassages(db, cut.asset_id)).map((passage) => ({
    ...passage,
    text: passage.text.split(LINE_SEPARATOR, 1)[0]!,
  }));
  const split = await splitTexts(isScripted ? await addScriptTexts(texts, plan, passages) : texts);
  const found: Omit<StoredPassage, "end">[] = [];
  for (const [n, { id, ...passage }] of passages.entries()) {
    if (n % PASSAGES_PER_YIELD === PASSAGES_PER_YIELD - 1) await yieldToEventLoop();
    const row = corrected.get(id);
    const known = row && { start: row.start, text: row.text, ownLength: row.own_length, words: row.words };
    const now = correctPassage({ ...passage, ...known }, split) ?? known;
    if (now) found.push({ ...now, id });
  }
  return { lastId: passages.at(-1)?.id ?? null, found };
}

/** Returns the texts with the words that the plan has from a script, sorted. */
async function addScriptTexts(
  texts: readonly EditedText[],
  plan: PlanJson,
  passages: readonly StoredPassage[],
): Promise<EditedText[]> {
  const spoken: SpokenWord[] = [];
  // The first passage has the highest ID.
  for (const [n, passage] of passages.toReversed().entries()) {
    spoken.push(...listOwnWords(passage));
    if (n % PASSAGES_PER_YIELD === PASSAGES_PER_YIELD - 1) await yieldToEventLoop();
  }
  const all = [...texts];
  for (const segment of plan.segments) {
    all.push(...listScriptTexts(segment, spoken, texts));
    await yieldToEventLoop();
  }
  return all.sort((a, b) => a.start - b.start);
}

async function splitTexts(texts: readonly EditedText[]): Promise<CorrectedText[]> {
  const split: CorrectedText[] = [];
  let [characters, yieldAt] = [0, CHARACTERS_PER_YIELD];
  for (const { start, end, text } of texts) {
    characters += text.length;
    if (characters > MAX_CUT_CHARACTERS) break;
    split.push(splitText({ text, start: start * SECOND_MS, end: end * SECOND_MS }));
    if (characters < yieldAt) continue;
    yieldAt = characters + CHARACTERS_PER_YIELD;
    await yieldToEventLoop();
  }
  return split;
}

/**
 * Makes the corrected texts of a completed cut searchable. `read`: the corrections read before the transaction. They
 * are read again if the transcript has changed.
 */
export async function indexCorrections(
  tx: Queries,
  cut: CorrectedCut & { id: string },
  editedFrom: string | null,
  read?: Corrections,
): Promise<void> {
  const isCurrent = read !== undefined && read?.lastId === (await findLastPassageId(tx, cut.asset_id));
  const corrections = isCurrent || read === null ? read : await readCorrections(tx, cut, editedFrom);
  if (corrections) await replaceCorrectedPassages(tx, cut.id, corrections.found);
}

/** Makes the corrected texts of all listed cuts of an asset searchable. */
export async function indexAssetCorrections(tx: Queries, assetId: string): Promise<void> {
  for (const id of await listRewordedCutIds(tx, assetId)) {
    const cut = await findCutById(tx, id);
    if (cut !== null) await indexCorrections(tx, cut, null);
  }
}

/** Makes corrected texts that an older version has stored with a cut searchable. */
export async function indexOlderCut({ read, write }: Store, cutId: string): Promise<void> {
  const cut = await findCutById(read, cutId);
  if (cut === null) return;
  const corrections = await readCorrections(read, cut, null);
  await write(async (tx) => {
    const current = await findCutById(tx, cutId);
    if (current !== null && current.superseded_by === null) await indexCorrections(tx, cut, null, corrections);
  });
}
