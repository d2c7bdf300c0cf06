/** The editor: video above the timeline, transcript beside it, script and lists below. */
import { useSignal } from "@preact/signals";
import { canWrite } from "../../app/session";
import type { Difference } from "../../editor/model/compare";
import type { Words } from "../../editor/model/words";
import { ReviewTab } from "../../editor/review/review-tab";
import { TakesTab } from "../../editor/review/takes-tab";
import { useReviewSession } from "../../editor/review/use-review";
import { EditorContext, type EditorContextValue } from "../../editor/state/context";
import type { Playback } from "../../editor/state/playback";
import { TranscriptTab } from "../../editor/transcript/transcript-tab";
import type { Asset } from "./asset";
import { ComparePanel } from "./compare-panel";
import { CutMenu } from "./cut-menu";
import { CutState } from "./cut-state";
import { DraftConflict, DraftStatus } from "./draft-notice";
import { EditButtons } from "./edit-buttons";
import { Feedback } from "./feedback";
import { Hints } from "./hints";
import { MarksBar } from "./marks-bar";
import { NotesPanel } from "./notes-panel";
import { OpenOutput } from "./open-output";
import { OutputButtons } from "./output/output-panel";
import { useOutput } from "./output/use-renders";
import { SideResizer, TimelineResizer, TranscriptResizer, VideoResizer } from "./panel-resizers";
import { findSize, panelSizes } from "./panel-sizes";
import type { ScriptForm } from "./script-form";
import { ScriptPanel } from "./script-panel";
import { SpanInspector } from "./span-inspector";
import { StudioBar } from "./studio-bar";
import { TimelinePanel } from "./timeline-panel";
import { Transport } from "./transport";
import type { Cuts, OpenCut } from "./use-cuts";
import { useDraftedEditor } from "./use-editor";
import type { AssetMedia } from "./use-media";
import { useReadyAnnouncement } from "./use-ready-announcement";
import { useSave } from "./use-save";
import { useStrip } from "./use-strip";
import { VideoPanel } from "./video-panel";
import { useWorkspaceActions } from "./workspace-actions";

const MICROSECONDS = 1_000_000;
/** Substitute for the duration of a frame in a recording without video. */
const AUDIO_STEP = 40_000;

type WorkbenchProps = {
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

export function Workbench({ asset, cuts, opened, media, form, playback, words, problem }: WorkbenchProps) {
  const { cut } = opened;
  const both = useDraftedEditor({ asset, opened, words, playback });
  const { editor, keeper } = both;
  const save = useSave(both, cuts);
  const output = useOutput(asset.id);
  const otherId = useSignal<string | null>(null);
  const differences = useSignal<readonly Difference[]>([]);
  const rate = cut?.plan?.frame_rate ?? asset.frame_rate;
  const frame = rate === null ? AUDIO_STEP : (MICROSECONDS * rate.den) / rate.num;
  useWorkspaceActions({ editor, playback, frame, save });
  useReviewSession({ editor, playback, keeper, onStart: () => {} });
  useReadyAnnouncement(editor, cut);
  const hasPlan = editor.cut !== null;
  const sideWidth = findSize(panelSizes.sideWidth);
  const canCut = asset.audio_tracks !== 0;
  const script = canWrite.value && canCut && <ScriptPanel asset={asset} cut={cut} cuts={cuts} form={form} />;
  const strip = useStrip(asset, media);
  const value: EditorContextValue = {
    ...{ asset, cut, cuts, editor, playback, keeper, save, media, strip, output, frame, differences, problem },
  };
  return (
    <EditorContext.Provider value={value}>
      <div class="studio-page">
        <StudioBar asset={asset} cuts={cuts}>
          {canWrite.value && cut !== null && <CutMenu cut={cut} cuts={cuts} both={both} />}
          {keeper !== null && <DraftStatus keeper={keeper} />}
          <div class="studio-tools">
            {keeper !== null && <EditButtons editor={editor} save={save} />}
            <OutputButtons output={output} canExport={hasPlan} />
          </div>
        </StudioBar>
        <Feedback editor={editor} />
        {keeper !== null && <DraftConflict keeper={keeper} />}
        {cut !== null && cut.state !== "completed" && <CutState cut={cut} />}
        {canCut && <Hints />}
        <div
          class="studio"
          style={sideWidth === undefined ? undefined : { gridTemplateColumns: `minmax(0, 1fr) ${sideWidth}px` }}
        >
          <div class="studio-main">
            <div class="sized">
              <VideoPanel asset={asset} media={media} playback={playback} />
              {asset.type === "video" && <VideoResizer />}
            </div>
            <Transport editor={editor} playback={playback} />
            <div class="sized">
              <TimelinePanel />
              <TimelineResizer />
            </div>
            <SpanInspector editor={editor} />
            <MarksBar editor={editor} />
          </div>
          <div class="studio-side">
            <SideResizer />
            {!hasPlan && script}
            <div class="sized">
              <TranscriptTab />
              <TranscriptResizer />
            </div>
          </div>
        </div>
        <div class="studio-panels">
          <OpenOutput output={output} asset={asset} cuts={cuts} editor={editor} save={save} />
          {hasPlan && script}
          {editor.cut?.plan && <NotesPanel plan={editor.cut.plan} />}
          <ReviewTab />
          <TakesTab />
          <ComparePanel editor={editor} cuts={cuts} playback={playback} otherId={otherId} differences={differences} />
        </div>
      </div>
    </EditorContext.Provider>
  );
}
