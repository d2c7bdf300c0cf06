/** Makes the texts searchable that users have corrected in cuts, in the transaction that stores them. */
import type { PlanJson } from "../../domain/plan-json";
import type { EditedText } from "../../domain/plan-texts";
import { correctPassage, LINE_SEPARATOR } from "../../domain/search/corrections";
import { type Cut, findCutById } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { listEditedCutIds } from "../../store/library";
import { listCorrectedPassages, listPassages, replaceCorrectedPassages, type StoredPassage } from "../../store/search";
import { unpackBasis } from "../cuts/stored-basis";

/** Texts that were corrected in a cut without a basis, beyond those of the cut that was edited. */
type LaterTexts = { texts: readonly EditedText[]; cutId: string };

/** Makes the corrected texts of a completed cut searchable. `later` is needed only for a cut without a basis. */
export async function indexCorrections(tx: Queries, cut: Cut, later: LaterTexts | null): Promise<void> {
  const plan = JSON.parse(cut.plan ?? "null") as PlanJson | null;
  const basis = plan && unpackBasis(cut.basis, plan);
  const texts = basis?.texts ?? later?.texts ?? [];
  const before = basis === null && later !== null ? await listCorrectedPassages(tx, later.cutId) : [];
  if (texts.length === 0 && before.length === 0) return;
  const corrected = new Map(before.map((row) => [row.passage_id, row]));
  const spoken = texts.map(({ start, end, text }) => ({ text, start: start * SECOND_MS, end: end * SECOND_MS }));
  const found = (await listPassages(tx, cut.asset_id)).flatMap(({ id, ...passage }) => {
    const text = passage.text.split(LINE_SEPARATOR, 1)[0]!;
    const row = corrected.get(id);
    const known = row && { start: row.start, text: row.text, ownLength: row.own_length, words: row.words };
    const now = correctPassage({ ...passage, text, ...known }, spoken) ?? known;
    return now === undefined ? [] : ({ ...now, id } satisfies Omit<StoredPassage, "end">);
  });
  await replaceCorrectedPassages(tx, cut.id, found);
}

const SECOND_MS = 1000;

/** Makes the corrected texts of all cuts of an asset searchable that lists show. */
export async function indexAssetCorrections(tx: Queries, assetId: string): Promise<void> {
  for (const id of await listEditedCutIds(tx, assetId)) {
    const cut = await findCutById(tx, id);
    if (cut !== null) await indexCorrections(tx, cut, null);
  }
}
