/** Saves edits: in this browser immediately, and on the server a second later. */
import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { afterNextFrame } from "../../app/after-next-frame";
import { ApiError, toMessage } from "../../app/api";
import { connection } from "../../app/connection";
import { type DraftSource, fromDraft, toDraft } from "../../editor/model/draft";
import type { Content } from "../../editor/model/history";
import type { Editor } from "../../editor/state/editor-state";
import { isSameEdit, type StartDraft } from "./draft-choice";
import { adoptLocal, forgetLocal, forgetSame, keepLocal } from "./draft-local";
import { type Draft, deleteDraft, fetchDraft, putDraft } from "./draft-server";

/**
 * `saved`: the server has the edits since `at`, in milliseconds since 1970. `local`: only this browser has them, and
 * `message` says why. `conflict`: the draft was changed elsewhere.
 */
export type DraftState =
  | { kind: "none" }
  | { kind: "saving" }
  | { kind: "saved"; at: number }
  | { kind: "local"; message: string }
  | { kind: "conflict"; other: Draft };

export type DraftKeeper = {
  state: ReadonlySignal<DraftState>;
  /** The revision of the draft on the server, as far as this tab knows; 0 without one. */
  getRevision(): number;
  /** Continues with the edits of the other tab or person. Undo brings back the user's own. */
  useOther(): void;
  /** Overwrites the edits of the other tab or person. */
  useMine(): void;
  /**
   * Sends a request that changes the draft on the server too, between two saves. It returns the revisions of the draft
   * before and after it.
   */
  sendBetween(request: () => Promise<{ before: number; after: number }>): Promise<void>;
  /** Pauses saving until `resume`. Resolves when no request is running. */
  hold(): Promise<void>;
  /** Resumes saving after `hold`. */
  resume(): void;
  /**
   * Ends the draft after `saved` has become a cut. Edits made after that, until the new cut opens, become the new cut's
   * draft.
   */
  finish(savedCutId: string, saved: Content): void;
  stop(): void;
};

const SAVE_AFTER_MS = 1_000;
const RETRY_MS = 5_000;

/** Saves the edits of a cut, starting with the draft from which the editor started. */
export function keepDraft(editor: Editor, { draft, isUnsaved, other }: StartDraft): DraftKeeper {
  let cutId = editor.cut!.id;
  const revision = draft?.revision ?? 0;
  // A draft that the server has needs no copy. One that it does not have now belongs to this tab.
  if (draft !== null && isUnsaved) adoptLocal(cutId, draft);
  else if (draft !== null) forgetSame(cutId, draft);
  const state = signal<DraftState>(
    other !== null
      ? { kind: "conflict", other }
      : draft !== null && revision > 0 && !isUnsaved
        ? { kind: "saved", at: draft.updated_at === undefined ? Date.now() : Date.parse(draft.updated_at) }
        : { kind: "none" },
  );
  let base = revision;
  /** The draft that the server has, as far as this tab knows. */
  let last: DraftSource | null = isUnsaved ? null : draft;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let saving: Promise<void> = Promise.resolve();
  let isStopped = false;
  /** Whether saving is paused. */
  let isHeld = false;
  let isCopyDue = false;
  /** The latest edits, without an unfinished drag. */
  let known = editor.history.peek().present;
  /** The time of the edit, not of the copy: a background tab may not write the copy until it is closed. */
  let editedAt = Date.now();

  const show = (next: DraftState) => {
    if (!isStopped) state.value = next;
  };
  const schedule = (after: number) => {
    clearTimeout(timer);
    if (!isStopped && !isHeld && state.peek().kind !== "conflict") timer = setTimeout(() => void start(), after);
  };
  /** Requests run one at a time: each needs the revision that the previous one returned. */
  const start = () => {
    saving = saving.then(save);
    return saving;
  };

  async function save(): Promise<void> {
    if (isStopped) return;
    // The user may still cancel a drag.
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
        // The request needs no revision: the one before it has verified that nobody else changed the draft.
        await deleteDraft(cutId);
        base = 0;
      }
      if (editor.getSettled() !== present) return;
      isCopyDue = false;
      forgetLocal(cutId);
      show(editor.isChanged.peek() ? { kind: "saved", at: Date.now() } : { kind: "none" });
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
      // The draft was deleted elsewhere, or another tab has sent the same edits.
      base = stored?.revision ?? 0;
      last = stored;
      schedule(0);
      return;
    }
    show({ kind: "local", message: toMessage(error) });
    schedule(RETRY_MS);
  }

  /**
   * Writes the local copy. For a long recording this takes milliseconds, so it must not delay the frame that shows the
   * edit.
   */
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

  /** Applies the user's choice between the two drafts. */
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
    getRevision: () => base,
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
    sendBetween: (request) => {
      const sent = saving.then(async () => {
        const { before, after } = await request();
        if (before !== base || after === before) return;
        base = after;
        // The draft on the server may differ from the edits made since then.
        schedule(SAVE_AFTER_MS);
      });
      saving = sent.catch(() => {});
      return sent;
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
