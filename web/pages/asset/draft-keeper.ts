/** Saves edits: in this browser immediately, and on the server a second later. Edits of others are merged into them. */
import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { afterNextFrame } from "../../app/after-next-frame";
import { ApiError, toMessage } from "../../app/api";
import { connection } from "../../app/connection";
import { formatCount } from "../../app/format";
import { type Content, type DraftSource, fromDraft, toDraft } from "../../editor/model/history";
import { applyToContent, isSameContent, listChangesIn, mergeContents, type Places } from "../../editor/model/merge";
import type { Cut, Editor } from "../../editor/state/editor-state";
import {
  adoptLocal,
  type Conflict,
  clearLocal,
  clearSame,
  type Draft,
  type DraftState,
  deleteDraft,
  describeAuthor,
  fetchCutState,
  fetchDraft,
  keepLocal,
  putDraft,
  readTime,
  type StartDraft,
} from "./draft-stores";

export type DraftKeeper = {
  state: ReadonlySignal<DraftState>;
  /** The revision of the draft on the server, as far as this tab knows; 0 without one. */
  getRevision(): number;
  /**
   * Ends a conflict: takes the edits of the other tab or person in its places, which undo reverts, or overwrites them
   * with the user's own. `shown`: the conflict that the user has seen. Later edits of others are merged after that.
   */
  resolve(takes: "mine" | "theirs", shown: Conflict): void;
  /**
   * Loads changes that others have saved: a draft with an unknown revision, or the version that the draft has become.
   * `revision`: that of the server, 0 without a draft. `hasVersion`: a new version exists. Resolves with whether it is
   * read.
   */
  sync(news: { revision?: number | undefined; hasVersion?: boolean }): Promise<boolean>;
  /** Saves now. Resolves when no request is running. */
  flush(): Promise<void>;
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

/**
 * A version that somebody has saved from the draft. `places`: those in which the user's edits differ from it, or null.
 * `isIdle`: the user has no edits that it does not have.
 */
export type Followed = { version: Cut; places: Places | null; isIdle: boolean };

/** Finds and opens versions that others save. */
export type Follower = {
  /** Returns the version that was saved from the draft, with its content in the words of this cut; null without one. */
  find(): Promise<{ version: Cut; content: Content } | null>;
  open(followed: Followed): void;
};

const SAVE_AFTER_MS = 1_000;
const RETRY_MS = 5_000;
/** Unlike any content of a history. */
const NONE = {} as Content;

/** Saves the edits of a cut, starting with the draft from which the editor started. */
export function keepDraft(
  editor: Editor,
  { draft, isUnsaved, other, places = null }: StartDraft,
  follower: Follower,
): DraftKeeper {
  let cutId = editor.cut!.id;
  const revision = draft?.revision ?? 0;
  // A draft that the server has needs no copy. One that it does not have now belongs to this tab.
  if (draft !== null && isUnsaved) adoptLocal(cutId, draft);
  else if (draft !== null) clearSame(cutId, draft);
  const state = signal<DraftState>(
    other !== null && places !== null
      ? { kind: "conflict", other, places }
      : draft !== null && revision > 0 && !isUnsaved
        ? { kind: "saved", at: readTime(draft) }
        : { kind: "none" },
  );
  let base = revision;
  /** The draft that the server has, as far as this tab knows. */
  let last: DraftSource | null = isUnsaved ? (draft?.base ?? null) : draft;
  /** The draft in which both sides of a conflict were made, with those changes of others that were applied. */
  let ancestor: DraftSource | null = null;
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
  const isAsking = () => state.peek().kind === "conflict";
  const schedule = (after: number) => {
    clearTimeout(timer);
    if (!isStopped && !isHeld && !isAsking()) timer = setTimeout(() => void start(), after);
  };
  /** Requests run one at a time: each needs the revision that the previous one returned. */
  const start = () => {
    saving = saving.then(save);
    return saving;
  };
  const toContent = (source: typeof last): Content =>
    source === null ? editor.stored : fromDraft(editor.stored.plan, source);

  async function save(): Promise<void> {
    if (isStopped || isAsking()) return;
    // The user may still cancel a drag.
    if (editor.isDragging.peek()) return schedule(SAVE_AFTER_MS);
    const { present } = editor.history.peek();
    show({ kind: "saving" });
    const before = base;
    try {
      const sent = toDraft(present);
      const isChanged = editor.isChanged.peek();
      if (isChanged || base > 0) {
        base = await putDraft(cutId, { ...sent, revision: base });
        last = sent;
      }
      if (!isChanged && base > 0) {
        await deleteDraft(cutId, base);
        base = 0;
        last = null;
      }
      if (editor.getSettled() !== present) return;
      settle(Date.now());
    } catch (error) {
      const isConflict = error instanceof ApiError && error.code === "conflict" && (await receive());
      // Other conflicts, such as a full quota, do not end by reading the draft.
      if (isConflict && (base !== before || isHeld || state.peek().kind !== "saving")) return;
      show({ kind: "local", message: toMessage(error) });
      schedule(RETRY_MS);
    }
  }

  /** The server has all edits. */
  function settle(at: number): void {
    isCopyDue = false;
    clearLocal(cutId);
    show(base > 0 ? { kind: "saved", at } : { kind: "none" });
  }

  /** Reads the draft of the server, and merges it. Returns whether the server has answered. */
  async function receive(hasNews = true): Promise<boolean> {
    try {
      const current = (await fetchCutState(cutId)).draft_revision ?? 0;
      if (!hasNews && current === base) return true;
      const stored = current === 0 ? null : await fetchDraft(cutId);
      // A superseded cut has no draft. Versions are not opened during a conflict.
      const next = stored === null && !isAsking() ? await follower.find() : null;
      if (isStopped || isHeld || (stored === null && isAsking())) return true;
      if (isAsking()) last = ancestor;
      if (next === null) merge(toContent(stored), stored);
      else {
        const isIdle = isSameContent(toContent(last), editor.getSettled());
        const asked = adopt(next.content, { updated_by: next.version.created_by ?? null });
        isHeld = true;
        clearTimeout(timer);
        // Edits that the version lacks become its draft.
        finish(next.version.id, isIdle ? editor.getSettled() : NONE);
        follower.open({ ...next, places: asked, isIdle });
      }
      return true;
    } catch {
      return false;
    }
  }

  /** Merges edits of others that were saved in this draft; null if it is gone. Returns whether they are all edits. */
  function merge(theirs: Content, stored: Draft | null): boolean {
    const isIdle = isSameContent(toContent(last), editor.getSettled());
    const asked = adopt(theirs, stored);
    base = stored?.revision ?? 0;
    last = stored;
    if (asked !== null && stored !== null) {
      show({ kind: "conflict", other: stored, places: asked });
      keepSoon();
      return false;
    }
    const isSame = isIdle || isSameContent(theirs, editor.getSettled());
    if (isAsking()) show({ kind: "saving" });
    if (isSame) settle(stored === null ? Date.now() : readTime(stored));
    else schedule(0);
    return isSame;
  }

  /** Applies other people's changes where the user has made none. Returns the places where both have, or null. */
  function adopt(theirs: Content, source: Pick<Draft, "updated_by"> | null): Places | null {
    const mine = editor.getSettled();
    const before = toContent(last);
    const { free, count, places: asked } = mergeContents(before, mine, theirs);
    ancestor = last;
    if (count === 0) return asked;
    ancestor = toDraft(applyToContent(before, free));
    const isIdle = isSameContent(before, mine);
    // A draft that was discarded comes back with undo.
    editor.adopt((content) => applyToContent(content, free), source === null ? "Discard edits" : undefined);
    if (!isIdle && source !== null) editor.announce(`${formatCount(count, "change")} ${describeAuthor(source)} added`);
    return asked;
  }

  /**
   * Writes the local copy. For a long recording this takes milliseconds, so it must not delay the frame that shows the
   * edit.
   */
  const keep = () => {
    if (!isCopyDue) return;
    isCopyDue = false;
    // Without the revision that was merged, the next visit asks again.
    const start = isAsking() ? { revision: 0, base: ancestor } : { revision: base, base: last };
    keepLocal(cutId, { ...toDraft(known), ...start }, editedAt);
  };
  function keepSoon(): void {
    if (isCopyDue) return;
    isCopyDue = true;
    afterNextFrame(keep);
  }
  addEventListener("pagehide", keep);

  const stopWatching = effect(() => {
    const { present } = editor.history.value;
    if (present === known || editor.isDragging.value) return;
    known = present;
    // Changes of others are saved already. If undo leads back to them later, that is an edit.
    const isAdopted = present === editor.adopted.current;
    editor.adopted.current = null;
    if (isAdopted) return;
    editedAt = Date.now();
    keepSoon();
    schedule(SAVE_AFTER_MS);
  });
  const stopConnection = effect(() => {
    if (connection.value === "online" && state.peek().kind === "local") schedule(0);
  });
  if (isUnsaved && other !== null && places === null) {
    // The server does not have the copy of another tab.
    const isCopy = other.updated_at === undefined;
    const stored = last;
    if (isCopy) last = other.base ?? null;
    const isStored = merge(toContent(other), other);
    if (isCopy) last = stored;
    if (!isAsking()) clearSame(cutId, other);
    isCopyDue = isCopy || !isStored;
    keep();
    if (isCopy) schedule(0);
  } else if (isUnsaved && other === null) schedule(0);

  const stop = () => {
    keep();
    removeEventListener("pagehide", keep);
    isStopped = true;
    clearTimeout(timer);
    stopWatching();
    stopConnection();
  };
  function finish(savedCutId: string, saved: Content): void {
    clearLocal(cutId);
    cutId = savedCutId;
    base = 0;
    last = null;
    known = editor.getSettled();
    isCopyDue = known !== saved;
    keep();
  }

  function resolve(takes: "mine" | "theirs", shown: Conflict): void {
    if (!isAsking()) return;
    // The server refuses a save that is based on the shown draft, so that later ones are merged.
    if (state.peek() !== shown) [base, last] = [shown.other.revision, shown.other];
    clearSame(cutId, shown.other);
    state.value = { kind: "saving" };
    const { present } = editor.history.peek();
    const theirs = applyToContent(present, listChangesIn(shown.places, present, toContent(shown.other)));
    if (takes === "theirs") editor.apply(theirs, "Take their edits", "Their edits are shown");
    schedule(0);
  }

  return {
    state,
    getRevision: () => base,
    resolve,
    sync: ({ revision, hasVersion }) => {
      const read = saving.then(async () => {
        const now = state.peek();
        // A conflict with a draft of the server includes its later edits.
        const isFixed = now.kind === "conflict" && (hasVersion || !now.other.revision || !now.other.updated_at);
        if (isStopped || isHeld || isFixed) return true;
        return (!hasVersion && revision === base) || receive(hasVersion === true);
      });
      saving = read.then(() => {});
      return read;
    },
    flush: () => {
      clearTimeout(timer);
      return start();
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
    finish,
    stop,
  };
}
