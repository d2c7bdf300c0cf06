/** Opens the version that somebody else saves from the open cut, with the edits that it does not have. */

import { useEffect, useRef } from "preact/hooks";
import { TICKS_PER_SECOND } from "../../../src/domain/time";
import { listenLive } from "../../app/live";
import { me } from "../../app/session";
import { showToast } from "../../app/toasts";
import { applyPlanTexts, rebaseCorrections } from "../../editor/model/corrections";
import type { Content } from "../../editor/model/history";
import { alignPlan, type Places } from "../../editor/model/merge";
import { readPlan } from "../../editor/model/plan";
import type { Words } from "../../editor/model/words";
import type { Cut, Editor } from "../../editor/state/editor-state";
import { nameVersion } from "../../editor/versions/name-version";
import type { DraftKeeper, Follower } from "./draft-keeper";
import { type Draft, fetchCutState } from "./draft-stores";
import { type Cuts, fetchCut, type ListedCut, listCuts } from "./use-cuts";

/** `places`: the places in which the edits differ from the cut. */
type SavedAs = { cutId: string; content: Content; places: Places | null };

/**
 * `keeper` is null if the cut is read-only. `saved` is the content that has become another cut, `recut` the ID of a cut
 * that is made again with it. The undo history continues in either.
 */
export type EditorWithDraft = {
  editor: Editor;
  keeper: DraftKeeper | null;
  saved: SavedAs | null;
  recut: string | null;
  /** The versions that were made from the cut, except those that this editor has yet to open. */
  known: Set<string>;
};

/** Returns whether another cut is about to continue the edits. */
export const isLeaving = ({ saved, recut }: EditorWithDraft): boolean => saved !== null || recut !== null;

/** Converts the saved edits of a version to a draft. */
export const toVersionDraft = ({ plan, created_by, created_at }: Cut): Draft => ({
  revision: 0,
  segments: plan?.segments.map(({ start, end }) => ({ start, end })) ?? [],
  texts: [],
  updated_by: created_by ? { id: created_by.id, name: created_by.name } : null,
  updated_at: created_at,
});

const isMadeFrom = (cut: Cut, { edited_from, state, is_set_aside: isSetAside }: ListedCut): boolean =>
  edited_from === cut.id && state === "completed" && !isSetAside;

/** Returns the version that took the place of a cut, or the newest one that was made from it and is not known. */
async function findNext(cut: Cut, known: ReadonlySet<string>): Promise<Cut | null> {
  const { superseded_by: successor } = await fetchCutState(cut.id);
  const listed = successor == null ? await listCuts(cut.asset_id) : [];
  const id = successor ?? listed.find((one) => isMadeFrom(cut, one) && !known.has(one.id))?.id;
  if (id === undefined) return null;
  const next = await fetchCut(id);
  return next.superseded_by == null ? next : findNext(next, known);
}

type FollowerSource = {
  cut: Cut;
  cuts(): Cuts;
  /** The recognized words. */
  words: Words;
  editor: Editor;
  both: EditorWithDraft;
};

export function createFollower({ cut, cuts, words, editor, both }: FollowerSource): Follower {
  return {
    find: async () => {
      const version = await findNext(cut, both.known);
      // Nothing is followed while another cut is being opened or made.
      if (cuts().openId !== cut.id) throw new Error("another cut is being opened");
      if (!version?.plan) return null;
      const { plan } = version;
      const texts = applyPlanTexts(words, [...plan.segments, ...plan.removed]);
      const halfFrame = plan.frame_rate ? (TICKS_PER_SECOND * plan.frame_rate.den) / plan.frame_rate.num / 2 : 0;
      const others = [editor.getSettled().plan, editor.stored.plan];
      return {
        version,
        content: {
          plan: alignPlan(readPlan(plan), others, halfFrame + 1),
          corrections: rebaseCorrections([], texts, editor.words),
        },
      };
    },
    open: ({ version, places, isIdle }) => {
      const content = editor.getSettled();
      both.saved = { cutId: version.id, content: isIdle ? content : { ...content }, places };
      const { list, choose } = cuts();
      choose(version.id, true);
      void list.reload().then(() => {
        const { items } = cuts();
        const all = items.kind === "ready" ? items.value : [];
        const kept = isIdle ? "" : ". Your edits are kept as a draft of it";
        showToast({ kind: "info", text: `${describeAuthor(version)} · ${nameVersion(version, all)}${kept}` });
      });
    },
  };
}

function describeAuthor({ created_by }: Cut): string {
  if (created_by?.id === me.peek()?.id) return "You saved a version in another tab";
  return `${created_by?.name ?? "Somebody else"} saved a version`;
}

/** Returns the IDs of the versions that were made from a cut. */
export const listVersions = (cut: Cut, { items }: Pick<Cuts, "items">): string[] =>
  items.kind === "ready" ? items.value.filter((one) => isMadeFrom(cut, one)).map(({ id }) => id) : [];

/** Reads drafts and versions again that others have saved. Viewers follow versions that take the place of theirs. */
export function useFollower(both: EditorWithDraft, cuts: Cuts, cut: Cut | null): void {
  const { keeper } = both;
  const isAway = cuts.openId !== (cut?.id ?? null);
  const wasAway = useRef(isAway);
  wasAway.current = isAway;
  useEffect(() => {
    if (keeper === null || cuts.awaited === null) return;
    void keeper.hold();
    return () => {
      if (wasAway.current) return;
      // The re-cut was cancelled or has failed.
      both.recut = null;
      keeper.resume();
      void keeper.sync({ hasVersion: true });
    };
  }, [both, cuts.awaited === null]);
  useEffect(() => {
    if (cut === null || keeper === null) return;
    return listenLive(["draft.updated"], ({ type, entityId, state, revision }) => {
      if (type !== "reset" && entityId !== cut.id) return;
      void keeper.sync({ revision: state === "deleted" ? 0 : revision });
    });
  }, [both]);
  const successor = cut?.superseded_by ?? null;
  const versions = cut === null ? [] : listVersions(cut, cuts);
  useEffect(() => {
    if (isAway) return;
    if (successor !== null && keeper === null) cuts.choose(successor, true);
    if (keeper === null || (successor === null && versions.every((id) => both.known.has(id)))) return;
    void keeper.sync({ hasVersion: true }).then((isRead) => {
      // A version that was stored beside the draft is not opened later either.
      for (const id of isRead && !isLeaving(both) ? versions : []) both.known.add(id);
    });
  }, [both, isAway, successor, versions.join()]);
}
