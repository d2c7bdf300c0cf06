/** The editor: bar, picture, right column and timeline in one window. */

import { effect, untracked, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useLocation } from "preact-iso";
import { MANUAL_MODE } from "../../../src/domain/plan";
import { TICKS_PER_SECOND } from "../../../src/domain/time";
import { api, must } from "../../app/api";
import { formatCount, formatDuration } from "../../app/format";
import { canWrite } from "../../app/session";
import { ContextMenu } from "../../editor/context-menu";
import { type Difference, isRemoved, type Range } from "../../editor/model/plan";
import { createClock } from "../../editor/model/timecodes";
import type { Words } from "../../editor/model/words";
import { PacingPanel } from "../../editor/pacing/pacing-panel";
import { useReviewSession } from "../../editor/review/use-review";
import { EditorContext, type EditorContextValue, openTab } from "../../editor/state/context";
import { toggleMarked } from "../../editor/state/edit-actions";
import type { Cut, Editor } from "../../editor/state/editor-state";
import type { Playback } from "../../editor/state/playback";
import { Bar } from "./bar";
import type { EditorWithDraft } from "./follow-versions";
import { useOutput } from "./output/use-output";
import { findSize, panelSizes } from "./panel-resizers";
import type { ScriptForm } from "./script";
import { useDroppedScript } from "./script-panel";
import { Side } from "./side";
import { Stage } from "./stage";
import { TimelinePanel } from "./timeline-panel";
import { Dock, Transport } from "./transport";
import type { Cuts, OpenCut } from "./use-cuts";
import { useDraftedEditor } from "./use-editor";
import { type Asset, type AssetMedia, useStrip } from "./use-media";
import { useSave } from "./use-save";
import { useWorkspaceActions } from "./workspace-actions";

/** Substitute for the duration of a frame in a recording without video. */
const AUDIO_STEP = 40_000;

/** Returns the `cutByHand` of the context. */
function useCutByHand(
  { asset, cut }: Pick<EditorContextValue, "asset" | "cut">,
  { choose }: Cuts,
  editor: Editor,
): EditorContextValue["cutByHand"] {
  const first = useRef<{ cutId: string | null; range: Range | null } | null>(null);
  useEffect(() => {
    if (editor.cut === null || first.current?.cutId !== editor.cut.id) return;
    const { range } = first.current;
    first.current = null;
    if (range !== null) toggleMarked(editor, range);
  }, [editor]);
  return async (range) => {
    // A second press of the key before the cut is open makes no other one, unless that has failed.
    const hasFailed = cut !== null && cut.id === first.current?.cutId && cut.state === "failed";
    if (first.current !== null && !hasFailed) return;
    first.current = { cutId: null, range };
    try {
      const { id } = await must(
        api.POST("/api/v1/cuts", { body: { asset_id: asset.id, options: { mode: MANUAL_MODE } } }),
      );
      first.current = { cutId: id, range };
      choose(id);
      openTab.value = "transcript";
    } catch (error) {
      first.current = null;
      throw error;
    }
  };
}

/** While a cut is made again, its edits are settled: later ones would not be in the new cut. */
const lock = (both: EditorWithDraft): EditorWithDraft => ({
  ...both,
  editor: { ...both.editor, canEdit: false },
  keeper: null,
});

const showReview = () => {
  openTab.value = "review";
};

type WorkspaceProps = {
  asset: Asset;
  cuts: Cuts;
  opened: OpenCut;
  media: AssetMedia | null;
  form: ScriptForm;
  playback: Playback;
  words: Words;
  /** The reason for missing words; null if the recording has words. */
  problem: string | null;
};

export function Workspace({ asset, cuts, opened, media, form, playback, words, problem }: WorkspaceProps) {
  const { cut } = opened;
  const drafted = useDraftedEditor({ asset, cuts, opened, words, playback });
  const { awaited } = cuts;
  const both = useMemo(() => (awaited === null ? drafted : lock(drafted)), [drafted, awaited === null]);
  const { editor, keeper } = both;
  const save = useSave(both, cuts);
  // The editor of this render may be gone when its edits have been saved for another plan.
  const latest = useRef(drafted);
  latest.current = drafted;
  const recut = (cutId: string, kept: string) => {
    const { editor: open, saved } = latest.current;
    // Another version may have been opened while the cut was requested.
    if (open.cut?.id === kept || saved?.cutId === kept) latest.current.recut = cutId;
    cuts.choose(cutId, false, kept);
  };
  const output = useOutput(asset.id);
  const differences = useSignal<readonly Difference[]>([]);
  const rate = cut?.plan?.frame_rate ?? asset.frame_rate;
  const frame = rate === null ? AUDIO_STEP : (TICKS_PER_SECOND * rate.den) / rate.num;
  const clock = useMemo(() => createClock(rate, media?.start_timecode ?? null), [rate?.num, rate?.den, media]);
  const strip = useStrip(asset, media);
  const cutByHand = useCutByHand({ asset, cut }, cuts, drafted.editor);
  useWorkspaceActions({ asset, cut, editor, playback, frame, save, cutByHand });
  // The card stays open while the cut is made again.
  useReviewSession({ ...drafted, canEdit: editor.canEdit, playback, onStart: showReview });
  useReadyAnnouncement(editor, asset, awaited ?? cut, form);
  useStartPlace({ editor, playback });
  useEffect(() => {
    if (cut?.plan) form.clearSaved(cut.script);
  }, [form, cut]);
  // A recording without a cut opens on the Script tab, which stays open when a planned cut starts: somebody may be
  // writing.
  const hasScript = asset.audio_tracks !== 0 && (!asset.cuttable || words.text.length > 0);
  const isFirst = cut === null && canWrite.value && hasScript;
  useLayoutEffect(() => {
    if (cut !== null && document.activeElement?.matches(".of-script textarea")) return;
    openTab.value = isFirst ? "script" : "transcript";
  }, [asset.id, cut === null]);
  useDroppedScript(form, canWrite.value && hasScript);
  // A recording that turns out to be without speech has no use for a script.
  useLayoutEffect(() => {
    if (!hasScript && cut === null && openTab.peek() === "script") openTab.value = "transcript";
  }, [hasScript]);
  const value: EditorContextValue = {
    ...{
      asset,
      cut,
      cuts,
      editor,
      playback,
      keeper,
      save,
      recut,
      cutByHand,
      media,
      strip,
      output,
      frame,
      differences,
      form,
      clock,
      problem,
    },
  };
  const sideWidth = findSize(panelSizes.sideWidth);
  return (
    <EditorContext.Provider value={value}>
      <div
        class={asset.type === "audio" ? "workspace of-audio" : "workspace"}
        data-cut={cut?.id}
        style={sideWidth === undefined ? undefined : { "--side": `${sideWidth}px` }}
      >
        <Bar both={both} />
        <PacingPanel />
        <Stage />
        <Transport />
        <Side />
        <TimelinePanel key={asset.duration_seconds} />
        <Dock />
        <ContextMenu />
      </div>
    </EditorContext.Provider>
  );
}

/** Announces when the words of a recording, or an unfinished cut, are ready. */
function useReadyAnnouncement(editor: Editor, { cuttable }: Asset, cut: Cut | null, form: ScriptForm): void {
  const wasCuttable = useRef(cuttable);
  useEffect(() => {
    if (cuttable && !wasCuttable.current && cut === null) {
      const isPlanned = form.savedPlan.peek() !== "off";
      const isUnsaved = !isPlanned && (form.planned.peek() ?? "off") !== "off";
      const canCut = canWrite.value && editor.words.text.length > 0 && !isPlanned;
      const advice = isUnsaved ? "The mode was not saved: press “Make cut”." : "You can cut now.";
      editor.announce(canCut ? `Transcribed. ${advice}` : "The recording is ready.");
    }
    wasCuttable.current = cuttable;
  }, [editor, cuttable]);
  const awaited = useRef<string | null>(null);
  useEffect(() => {
    if (cut === null) return;
    if (cut.state === "pending" || cut.state === "processing") awaited.current = cut.id;
    else if (awaited.current === cut.id) {
      awaited.current = null;
      if (cut.plan !== null) {
        const { kept_duration: kept, source_duration: whole, missing, warnings } = cut.plan;
        const notes = missing.length + warnings.length;
        const more = notes === 0 ? "" : `. ${formatCount(notes, "note")} under Script`;
        editor.announce(`The cut is ready: ${formatDuration(kept)} of ${formatDuration(whole)}${more}`);
      }
    }
  }, [editor, cut?.id, cut?.state]);
}

/** The player may snap the playhead to a frame. */
const MAX_SNAP = 200_000;

/**
 * Moves the playhead there and plays as soon as that is possible, unless it was moved in the meantime. Removed parts
 * are played from the source. The time is removed from the address, so that a reload does not play again.
 */
function useStartPlace({ editor, playback }: Pick<EditorContextValue, "editor" | "playback">): void {
  const { query, path, route } = useLocation();
  const wanted = useSignal<number | null>(null);
  const { at, cut } = query;
  useEffect(() => {
    if (at === undefined) return;
    const time = /^\d{1,9}(\.\d{1,9})?$/.test(at) ? Math.round(Number(at) * TICKS_PER_SECOND) : null;
    if (time !== null && time < editor.plan.peek().duration) {
      openTab.value = "transcript";
      playback.seek(time);
      wanted.value = time;
    }
    route(cut === undefined ? path : `${path}?cut=${cut}`, true);
  }, [at]);
  useEffect(
    () =>
      effect(() => {
        const { value: time } = wanted;
        if (time === null || !playback.isReady.value) return;
        wanted.value = null;
        untracked(() => {
          if (Math.abs(playback.playhead.value - time) > MAX_SNAP) return;
          const isGone = isRemoved(editor.plan.value, { start: time, end: time + 1 });
          playback.play(isGone ? "source" : undefined);
        });
      }),
    [editor, playback],
  );
}
