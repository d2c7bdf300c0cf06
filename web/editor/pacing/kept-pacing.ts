/**
 * The pacing of unsaved edits, kept in this browser beside the draft. A draft has only the kept spans, so without the
 * pacing everything it removes would count as removed by hand.
 */
import { effect } from "@preact/signals";
import { type BasisJson, basisFromJson } from "../../../src/domain/pacing/basis-json";
import { judgePlan } from "../../../src/domain/pacing/judge-plan";
import { type PacingOptions, repace } from "../../../src/domain/pacing/repace";
import type { PlanJson } from "../../../src/domain/plan-json";
import { api, must } from "../../app/api";
import { createKept } from "../../app/kept";
import { keepOnly, listKept, readPlan } from "../model/plan";
import type { Editor } from "../state/editor-state";

const kept = createKept(
  "pacing",
  (value): value is PacingOptions => typeof value === "object" && value !== null && !Array.isArray(value),
);

/** Keeps the options of a cut's edits. Returns a function that stops it. */
export function keepPacing(editor: Editor): () => void {
  const { cut } = editor;
  if (cut === null || !editor.canEdit) return () => {};
  const ended = new AbortController();
  const options = kept.read(cut.id);
  const { present } = editor.history.peek();
  if (options !== null && present.pacing === undefined && editor.isChanged.peek())
    void explainDraft(editor, options, ended.signal).catch(() => {});
  const stop = effect(() => {
    const { pacing } = editor.history.value.present;
    const isKept = pacing !== undefined && editor.isChanged.value;
    if (isKept && !editor.isDragging.value) kept.write(cut.id, pacing);
    else if (!editor.isChanged.value) kept.clear(cut.id);
  });
  return () => {
    ended.abort();
    stop();
  };
}

/** Sets the reasons of the spans that a draft removes, according to these options. */
async function explainDraft(editor: Editor, options: PacingOptions, signal: AbortSignal): Promise<void> {
  const { present: draft } = editor.history.peek();
  const cut = editor.cut!;
  const pacing = await fetchPacing(cut.id, signal);
  if (pacing === null) return;
  const basis = basisFromJson(pacing);
  const paced = readPlan(judgePlan(repace(cut.plan as PlanJson, null, basis, options).plan, basis.spans));
  editor.adopt((content) =>
    content === draft ? { ...content, plan: keepOnly(paced, listKept(content.plan)), pacing: options } : content,
  );
}

/** The facts from which a cut was assembled, and its options. */
export type Pacing = BasisJson & { options: PacingOptions };

/** Returns the data for other pacing; null for cuts of older versions. */
export async function fetchPacing(cutId: string, signal: AbortSignal): Promise<Pacing | null> {
  const params = { path: { cut_id: cutId } };
  const { pacing } = await must(api.GET("/api/v1/cuts/{cut_id}/explanation", { params, signal }));
  return pacing as Pacing | null;
}
