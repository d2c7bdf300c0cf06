/** Recordings with words, and cuts of them, for tests of the search. */
import { CUT_MODES } from "../../../../src/domain/plan";
import type { EditedText } from "../../../../src/domain/plan-texts";
import { splitPassages } from "../../../../src/domain/search/passages";
import { newId } from "../../../../src/lib/ids";
import { insertCut } from "../../../../src/store/cuts";
import type { Queries, Store } from "../../../../src/store/db";
import { saveCutSummary } from "../../../../src/store/library";
import { replacePassages } from "../../../../src/store/search";
import { packBasis } from "../../../../src/work/cuts/stored-basis";
import { searchTranscripts } from "../../../../src/work/search/search";
import { addAsset } from "../../store/test-store";

export type Owner = { workspaceId: string; projectId: string };

export const speak = (text: string) =>
  text.split(" ").map((word, n) => ({ text: word, start: 600 * n, end: 600 * n + 500 }));

export const PLAN = { segments: [], removed: [], takes: [], kept_duration: 0 };
const pack = (texts: EditedText[]) => packBasis({ spans: [], wordPauses: [], edgeMargin: 0, texts }, PLAN as never);

/** The text in place of some words of `speak`. */
export const write = (text: string, first: number, last = first): EditedText => ({
  text,
  start: 0.6 * first,
  end: 0.6 * last + 0.5,
});

/** Adds an edited cut with these corrected texts, which lists show. */
export async function addCut(
  tx: Queries,
  { workspaceId }: Owner,
  assetId: string,
  texts: EditedText[] | null,
  basis: string | null = texts && pack(texts),
) {
  const times = { created_at: 0, completed_at: 0 };
  const cut = await insertCut(tx, {
    ...{ id: newId(), workspace_id: workspaceId, asset_id: assetId, state: "completed" as const, ...times },
    ...{ script: "", options: CUT_MODES.natural, plan: JSON.stringify(PLAN), basis },
    edited_from: newId(),
  });
  await saveCutSummary(tx, { cut_id: cut.id, asset_id: assetId, kept: 0, open_marks: 0 });
  return cut;
}

export const addRecording = (store: Store, owner: Owner, text: string) =>
  store.write(async (tx) => {
    const { id } = await addAsset(tx, owner, { state: "ready" });
    await replacePassages(tx, id, splitPassages(speak(text)));
    return id;
  });

export const search = async (store: Store, { workspaceId }: Owner, text: string) =>
  (await searchTranscripts({ store }, workspaceId, text, { projectId: null, afterId: null, limit: 100 })).rows;
