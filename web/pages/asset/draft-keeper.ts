/** Keeps what is edited: in this browser at once, on the server a second later. */
import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { afterNextFrame } from "../../app/after-next-frame";
import { ApiError, toMessage } from "../../app/api";
import { connection } from "../../app/connection";
import { type DraftSource, fromDraft, toDraft } from "../../editor/model/draft";
import type { Content } from "../../editor/model/history";
import { isSameEdit, type StartDraft } from "./draft-choice";
import { adoptLocal, forgetLocal, forgetSame, keepLocal } from "./draft-local";
import { type Draft, deleteDraft, fetchDraft, putDraft } from "./draft-server";
import type { Editor } from "./editor-state";

/** `local`: only this browser has the edits; `message` says why. `conflict`: they were changed elsewhere. */
export type DraftState =
  | { kind: "none" }
  | { kind: "saving" }
  | { kind: "saved" }
  | { kind: "local"; message: string }
  | { kind: "conflict"; other: Draft };

export type DraftKeeper = {
  state: ReadonlySignal<DraftState>;
  /** Goes on with the edits of the other tab or person. Undo returns to one's own. */
  useOther(): void;
  /** Replaces the edits of the other tab or person. */
  useMine(): void;
  /** Resolves when no request runs, and starts none until `resume`. */
  hold(): Promise<void>;
  /** Goes on after `hold`. */
  resume(): void;
  /** Ends with the draft, of which `saved` has become a cut. What was edited after it, until that cut opens, becomes its draft. */
  finish(savedCutId: string, saved: Content): void;
  stop(): void;
};

const SAVE_AFTER_MS = 1_000;
const RETRY_MS = 5_000;

/** Keeps the edits of a cut, beginning with the draft that the editor started from. */
export function keepDraft(editor: Editor, { draft, isUnsaved, other }: StartDraft): DraftKeeper {
  let cutId = editor.cut!.id;
  const revision = draft?.revision ?? 0;
  // What the server has needs no copy; what it has not is this tab's from now on.
  if (draft !== null && isUnsaved) adoptLocal(cutId, draft);
  else if (draft !== null) forgetSame(cutId, draft);
  const state = signal<DraftState>(
    other !== null ? { kind: "conflict", other } : { kind: revision > 0 && !isUnsaved ? "saved" : "none" },
  );
  let base = revision;
  /** The draft that this tab knows the server to have. */
  let last: DraftSource | null = isUnsaved ? null : draft;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let saving: Promise<void> = Promise.resolve();
  let isStopped = false;
  /** Whether the server is asked for nothing. */
  let isHeld = false;
  let isCopyDue = false;
  /** The last edits that are no drag. */
  let known = editor.history.peek().present;
  /** Not when the copy is written: a tab in the background may do that only when it is closed. */
  let editedAt = Date.now();

  const show = (next: DraftState) => {
    if (!isStopped) state.value = next;
  };
  const schedule = (after: number) => {
    clearTimeout(timer);
    if (!isStopped && !isHeld && state.peek().kind !== "conflict") timer = setTimeout(() => void start(), after);
  };
  /** One request at a time: a later one needs the revision that the earlier one returns. */
  const start = () => {
    saving = saving.then(save);
    return saving;
  };

  async function save(): Promise<void> {
    if (isStopped) return;
    // What is dragged may be taken back.
    if (editor.isDragging.peek()) return schedule(SAVE_AFTER_MS);
    const { present } = editor.history.peek();
    show({ kind: "saving" });
    try {
      const sent = toDraft(present);
      const isChanged = editor.isChanged.peek();
      if (isChanged || base > 0) {
        base = await putDraft(cutId, { ...sent, revision: base });
        last = sent;
      }
      if (!isChanged && base > 0) {
        // Without a revision: what was sent first has made sure that no other tab or person had changed it.
        await deleteDraft(cutId);
        base = 0;
      }
      if (editor.getSettled() !== present) return;
      isCopyDue = false;
      forgetLocal(cutId);
      show({ kind: editor.isChanged.peek() ? "saved" : "none" });
    } catch (error) {
      await fail(error);
    }
  }

  async function fail(error: unknown): Promise<void> {
    if (error instanceof ApiError && error.code === "conflict") {
      const stored = await fetchDraft(cutId).catch(() => null);
      const isOwn = (draft: DraftSource | null) => stored !== null && draft !== null && isSameEdit(stored, draft);
      if (stored !== null && !isOwn(last) && !isOwn(toDraft(editor.getSettled()))) {
        show({ kind: "conflict", other: stored });
        return;
      }
      // It was deleted elsewhere, or another tab has sent what this one has.
      base = stored?.revision ?? 0;
      last = stored;
      schedule(0);
      return;
    }
    show({ kind: "local", message: toMessage(error) });
    schedule(RETRY_MS);
  }

  /** Writes the copy of this browser. A long recording's takes milliseconds, for which the frame that shows the edit does not wait. */
  const keep = () => {
    if (!isCopyDue) return;
    isCopyDue = false;
    keepLocal(cutId, { ...toDraft(known), revision: base }, editedAt);
  };
  const keepSoon = () => {
    if (isCopyDue) return;
    isCopyDue = true;
    afterNextFrame(keep);
  };
  addEventListener("pagehide", keep);

  const stopWatching = effect(() => {
    const { present } = editor.history.value;
    if (present === known || editor.isDragging.value) return;
    known = present;
    editedAt = Date.now();
    keepSoon();
    schedule(SAVE_AFTER_MS);
  });
  const stopConnection = effect(() => {
    if (connection.value === "online" && state.peek().kind === "local") schedule(0);
  });
  if (isUnsaved && other === null) schedule(0);

  /** The user has decided about the other edits. */
  const take = (chosen: Draft) => {
    base = chosen.revision;
    forgetSame(cutId, chosen);
  };
  const stop = () => {
    keep();
    removeEventListener("pagehide", keep);
    isStopped = true;
    clearTimeout(timer);
    stopWatching();
    stopConnection();
  };

  return {
    state,
    useOther: () => {
      const current = state.peek();
      if (current.kind !== "conflict") return;
      take(current.other);
      state.value = { kind: "saving" };
      editor.apply(fromDraft(editor.stored.plan, current.other), "Use the other edits", "The other edits are shown");
    },
    useMine: () => {
      const current = state.peek();
      if (current.kind !== "conflict") return;
      take(current.other);
      state.value = { kind: "saving" };
      schedule(0);
    },
    hold: () => {
      isHeld = true;
      clearTimeout(timer);
      return saving;
    },
    resume: () => {
      isHeld = false;
      schedule(0);
    },
    finish: (savedCutId, saved) => {
      forgetLocal(cutId);
      cutId = savedCutId;
      base = 0;
      isCopyDue = known !== saved;
      keep();
    },
    stop,
  };
}
