/** The length of the cut, and the reply to each action. */

import { useComputed } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type Loudness, type LoudnessSteps, measureSpans, readLoudness } from "../../../src/domain/loudness";
import { CUT_MODES, type CutMode, MANUAL_MODE } from "../../../src/domain/plan";
import { findAction, formatKeys, performAction } from "../../app/actions";
import { api, mediaUrl, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { toNumber } from "../../app/english";
import { formatCount, formatDuration, formatMinutes, formatRemaining, formatShare } from "../../app/format";
import { progressOf } from "../../app/live";
import { openJobs } from "../../app/open-jobs";
import { createRemainingTime, formatLevel } from "../../app/rare-formats";
import { fetchFile } from "../../app/save-file";
import { canWrite } from "../../app/session";
import { showFailure, showToast, toastPlace } from "../../app/toasts";
import { type EditorPlan, getKeptDuration, listKept, type RemovalReason, toSeconds } from "../../editor/model/plan";
import { nameCount, REASONS } from "../../editor/reasons";
import { useReviewCount } from "../../editor/review/use-review";
import { openTab, useEditor } from "../../editor/state/context";
import type { Cut } from "../../editor/state/editor-state";
import { MODES } from "../../editor/versions/name-version";
import { Toasts } from "../../shell/toasts";
import { ActionButton, Button } from "../../ui/button";
import { useGlide } from "../../ui/glide";
import { Icon } from "../../ui/icon";
import { useBusy } from "../../ui/use-busy";
import { DraftConflict } from "./draft-notice";
import { adviseCut } from "./problem-texts";
import { deleteCut } from "./use-cuts";
import { type Asset, hasSpeech } from "./use-media";

export function ResultLine() {
  const { asset, editor, cut, cuts, keeper } = useEditor();
  const unfinished = cuts.awaited ?? cuts.failed ?? (cut?.state === "completed" ? null : cut);
  return (
    <section class="headline" aria-label="Result">
      {editor.cut !== null ? <Result /> : asset.cuttable ? <NoCut /> : <Preparation asset={asset} />}
      <Pill />
      {(keeper?.state.value.kind === "conflict" || unfinished !== null) && (
        <div class="headline-note">
          {keeper !== null && <DraftConflict keeper={keeper} />}
          {unfinished !== null && <CutState cut={unfinished} />}
        </div>
      )}
    </section>
  );
}

function Result() {
  const { editor, playback } = useEditor();
  const plan = editor.latePlan.value;
  const places = useReviewCount();
  const kept = getKeptDuration(plan);
  const shown = useGlide(kept);
  const length = useComputed(() => formatDuration(toSeconds(shown.value)));
  return (
    <>
      <div class="result">
        <p class="result-times number">
          <span class="soft">{formatDuration(toSeconds(plan.duration))}</span>{" "}
          <span class="soft">
            <span aria-hidden="true">→</span>
            <span class="visually-hidden">to</span>
          </span>{" "}
          <strong>{length}</strong> <b>{describeSaving(plan.duration - kept)}</b>
        </p>
        <div class="soft result-facts">
          <p class="result-reasons">{describeRemovals(plan)}</p>
          <LoudnessText />
        </div>
      </div>
      <span class="spacer" />
      <span class="result-actions">
        <Button
          icon="play"
          disabled={!playback.isReady.value}
          aria-label="Play the cut"
          onClick={() => {
            playback.seek(0);
            playback.play("cut");
          }}
        >
          Play
        </Button>
        {places > 0 && openTab.value !== "review" && (
          <ActionButton name="review.start" isLabeled>
            Review {places}
          </ActionButton>
        )}
      </span>
    </>
  );
}

/** Integrated loudness and true peak of the cut, before it is encoded. */
function LoudnessText() {
  const loudness = useCutLoudness();
  if (loudness === null) return null;
  const isMeasured = loudness.kind === "measured";
  const texts = { measured: "", waiting: "is being measured", absent: "unknown" };
  const title =
    loudness.kind === "absent" ? loudness.reason : "Integrated loudness and true peak of the cut (EBU R128)";
  return (
    <p class="number" title={title}>
      Loudness {isMeasured ? describeLoudness(loudness) : texts[loudness.kind]}
      {loudness.kind === "absent" && <span class="visually-hidden">. {loudness.reason}</span>}
    </p>
  );
}

/** Before the first cut: its length, and a cut with one press. */
function NoCut() {
  const { asset, cut, cuts, form, editor } = useEditor();
  const { isBusy, run } = useBusy();
  const make = (mode: CutMode | typeof MANUAL_MODE) =>
    run(async () => {
      const body =
        mode === MANUAL_MODE
          ? { asset_id: asset.id, options: { mode } }
          : { asset_id: asset.id, script: form.script.value, options: CUT_MODES[mode] };
      cuts.choose((await must(api.POST("/api/v1/cuts", { body }))).id);
      openTab.value = "transcript";
    });
  const canMake = cut === null && canWrite.value;
  const modes = hasSpeech(asset, editor.words.text.length) ? MODES : [];
  return (
    <>
      <p class="result-times number">
        <strong>{formatDuration(Number(asset.duration_seconds ?? 0))}</strong>{" "}
        {cut === null && <span class="soft">· no cut yet</span>}
      </p>
      <span class="spacer" />
      {canMake && (
        <span class="result-actions">
          {modes.map(({ value: mode, label }) => (
            <Button key={mode} disabled={isBusy} aria-label={`Make a cut: ${label}`} onClick={() => void make(mode)}>
              {label}
            </Button>
          ))}
          <Button disabled={isBusy} onClick={() => void make(MANUAL_MODE)}>
            Cut by hand
          </Button>
        </span>
      )}
    </>
  );
}

/** Returns "4 minutes shorter". */
function describeSaving(time: number): string {
  const seconds = Math.round(toSeconds(time));
  if (time <= 0) return "nothing removed";
  if (seconds === 0) return "less than a second shorter";
  return `${formatMinutes(seconds)} shorter`;
}

/** Returns "196 pauses, 52 fillers, 11 retakes". */
function describeRemovals({ spans }: EditorPlan): string {
  const counts = new Map<RemovalReason, number>();
  for (const span of spans) if (!span.isKept) counts.set(span.reason, (counts.get(span.reason) ?? 0) + 1);
  return REASONS.filter((reason) => counts.has(reason))
    .map((reason) => `${toNumber(counts.get(reason)!)} ${nameCount(reason, counts.get(reason)!)}`)
    .join(", ");
}

/** The reply to the last action with its undo. Messages of other parts of the page are shown here, too. */
function Pill() {
  const { editor } = useEditor();
  const { id, text, isChange } = editor.announcement.value;
  useEffect(() => {
    toastPlace.value = "pill";
    return () => {
      toastPlace.value = "corner";
    };
  }, []);
  useEffect(() => {
    if (text === "") return;
    const undo = findAction("edit.undo");
    const keys = undo?.keys[0] && formatKeys(undo.keys[0]);
    const action =
      isChange && undo ? { label: undo.label, ...(keys && { keys }), run: () => performAction(undo.name) } : undefined;
    showToast({ kind: "info", text, action });
  }, [editor, id]);
  return <Toasts place="pill" />;
}

/** The progress of the preparation, the reason for waiting, and the remaining time. */
function Preparation({ asset }: { asset: Asset }) {
  const share = progressOf(asset.id).value ?? asset.progress ?? 0;
  const time = useMemo(createRemainingTime, [asset.id]);
  const seconds = useMemo(() => time.update(asset.id, share, performance.now()), [time, share]);
  const isPending = openJobs.value.some(({ state, input_asset_id: id }) => state === "pending" && id === asset.id);
  const tracks = asset.audio_tracks;
  const what = tracks === null ? "Reading the recording" : tracks === 0 ? "Preparing" : "Transcribing";
  return (
    <div class="result preparation">
      <p class="result-times number">
        {asset.duration_seconds !== null && <strong>{formatDuration(Number(asset.duration_seconds))}</strong>}{" "}
        <b>
          {isPending
            ? describePlace(null)
            : `${what}, ${seconds === null ? formatShare(share) : formatRemaining(seconds)}`}
        </b>
      </p>
      <progress class="progress" aria-label="Preparation" max={1} value={share} />
    </div>
  );
}

/** Returns "In line, 2 jobs before yours"; null if the number is not known. */
function describePlace(jobsBefore: number | null): string {
  if (jobsBefore === null) return "In line…";
  return jobsBefore === 0 ? "Next in line" : `In line, ${formatCount(jobsBefore, "job")} before yours`;
}

/** Shows the state of a cut that is not completed or has failed. A re-cut can be cancelled. */
function CutState({ cut }: { cut: Cut }) {
  const { cuts } = useEditor();
  const { recutOf } = cuts;
  const cancel = async (openId: string) => {
    // The cut is left first: a page of a deleted cut opens another one.
    cuts.choose(openId, true);
    await deleteCut(cut.id);
    await cuts.list.reload();
  };
  return cut.state === "failed" ? (
    <div class="message bad" role="alert">
      <Icon name="warning" />
      <p>
        <strong>{cut.error_message ?? "The cut could not be created."}</strong>{" "}
        {adviseCut({ code: cut.error_code, message: cut.error_message })}
      </p>
    </div>
  ) : (
    <div class="message" role="status">
      <Icon name="cut" />
      <p>
        {recutOf !== null && "Cutting again. You can edit the new cut when it opens. "}
        {cut.state === "pending" ? describePlace(cut.jobs_before ?? null) : recutOf === null && "Creating the cut…"}
      </p>
      {recutOf !== null && (
        <span class="message-actions">
          <Button onClick={() => void cancel(recutOf).catch(showFailure)}>Cancel</Button>
        </span>
      )}
    </div>
  );
}

/** `reason`: why it is not known. */
type CutLoudness = ({ kind: "measured" } & Loudness) | { kind: "waiting" } | { kind: "absent"; reason: string };

/** Returns the loudness of the cut with its latest edits; null without audio or before it is read. */
function useCutLoudness(): CutLoudness | null {
  const { asset, editor, media } = useEditor();
  const isReady = media?.loudness.is_ready === true;
  const { state } = useRead(isReady ? ["loudness", asset.id] : null, (signal) => loadLoudness(asset.id, signal), {
    lasts: "forever",
  });
  const loaded = state.value;
  const plan = editor.latePlan.value;
  const measured = useMemo(
    () => (loaded.kind === "ready" ? measureSpans(loaded.value, listKept(plan)) : null),
    [loaded, plan],
  );
  if (asset.audio_tracks === 0 || media === null) return null;
  if (measured !== null) return { kind: "measured", ...measured };
  if (loaded.kind === "failed") return { kind: "absent", reason: loaded.message };
  const reason = media.loudness.absent_reason;
  if (reason !== null) return { kind: "absent", reason };
  return isReady ? null : { kind: "waiting" };
}

async function loadLoudness(assetId: string, signal: AbortSignal): Promise<LoudnessSteps> {
  const response = await fetchFile(mediaUrl(assetId, "loudness"), signal);
  return readLoudness(await response.arrayBuffer());
}

/** Returns "−19.3 LUFS, −2.1 dBTP". */
function describeLoudness({ integrated, peak }: Loudness): string {
  if (integrated === null || peak === null) return "none (silence)";
  return `${formatLevel(integrated)} LUFS, ${formatLevel(peak)} dBTP`;
}
