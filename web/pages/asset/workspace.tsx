/** The editor: bar, picture, right column and timeline in one window. */
import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { canWrite } from "../../app/session";
import { ContextMenu } from "../../editor/context-menu";
import type { Difference } from "../../editor/model/compare";
import { createClock } from "../../editor/model/timecodes";
import type { Words } from "../../editor/model/words";
import { PacingPanel } from "../../editor/pacing/pacing-panel";
import { useReviewSession } from "../../editor/review/use-review";
import { EditorContext, type EditorContextValue, openTab } from "../../editor/state/context";
import type { Playback } from "../../editor/state/playback";
import type { Asset } from "./asset";
import { Bar } from "./bar";
import { useOutput } from "./output/use-renders";
import { findSize, panelSizes } from "./panel-sizes";
import type { ScriptForm } from "./script-form";
import { Side } from "./side";
import { Stage } from "./stage";
import { TimelinePanel } from "./timeline-panel";
import { Dock, Transport } from "./transport";
import type { Cuts, OpenCut } from "./use-cuts";
import { useDraftedEditor } from "./use-editor";
import type { AssetMedia } from "./use-media";
import { useReadyAnnouncement } from "./use-ready-announcement";
import { useSave } from "./use-save";
import { useStartPlace } from "./use-start-place";
import { useStrip } from "./use-strip";
import { useWorkspaceActions } from "./workspace-actions";

const MICROSECONDS = 1_000_000;
/** Substitute for the duration of a frame in a recording without video. */
const AUDIO_STEP = 40_000;

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
  /** Why there are no words; null if there are some. */
  problem: string | null;
};

export function Workspace({ asset, cuts, opened, media, form, playback, words, problem }: WorkspaceProps) {
  const { cut } = opened;
  const both = useDraftedEditor({ asset, cuts, opened, words, playback });
  const { editor, keeper } = both;
  const save = useSave(both, cuts);
  const recut = (cutId: string) => {
    both.saved = { cutId, content: null, places: null };
  };
  const output = useOutput(asset.id);
  const differences = useSignal<readonly Difference[]>([]);
  const rate = cut?.plan?.frame_rate ?? asset.frame_rate;
  const frame = rate === null ? AUDIO_STEP : (MICROSECONDS * rate.den) / rate.num;
  const clock = useMemo(() => createClock(rate, media?.start_timecode ?? null), [rate?.num, rate?.den, media]);
  const strip = useStrip(asset, media);
  useWorkspaceActions({ editor, playback, frame, save });
  useReviewSession({ editor, playback, keeper, onStart: showReview });
  useReadyAnnouncement(editor, cut);
  useStartPlace({ editor, playback });
  // A recording without a cut begins with its script.
  useLayoutEffect(() => {
    const isFirst = cut === null && canWrite.value && asset.audio_tracks !== 0 && words.text.length > 0;
    openTab.value = isFirst ? "script" : "transcript";
  }, [asset.id, cut === null]);
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
        <TimelinePanel />
        <Dock />
        <ContextMenu />
      </div>
    </EditorContext.Provider>
  );
}
