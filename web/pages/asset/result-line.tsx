/** The length of the cut, and the reply to each action. */

import { useComputed } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { CUT_MODES, type CutMode } from "../../../src/domain/plan";
import { findAction, formatKeys, performAction } from "../../app/actions";
import { api, must } from "../../app/api";
import { toNumber } from "../../app/english";
import { formatCount, formatDuration, formatMinutes, formatRemaining, formatShare } from "../../app/format";
import { progressOf } from "../../app/live";
import { openJobs } from "../../app/open-jobs";
import { createRemainingTime } from "../../app/rare-formats";
import { canWrite } from "../../app/session";
import { showFailure, showToast, toastPlace } from "../../app/toasts";
import { type EditorPlan, getKeptDuration, type RemovalReason, toSeconds } from "../../editor/model/plan";
import { countReasons } from "../../editor/model/reason-edits";
import { nameCount, REASONS } from "../../editor/reasons";
import { useReviewCount } from "../../editor/review/use-review";
import { openTab, useEditor } from "../../editor/state/context";
import type { Cut } from "../../editor/state/editor-state";
import { MODES } from "../../editor/versions/name-version";
import { Toasts } from "../../shell/toasts";
import { ActionButton, Button } from "../../ui/button";
import { useGlide } from "../../ui/glide";
import { Message } from "../../ui/states";
import { useBusy } from "../../ui/use-busy";
import { DraftConflict } from "./draft-notice";
import { MODE_HINTS } from "./planned-cut";
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
        <p class="soft result-reasons">{describeRemovals(plan)}</p>
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

/** Before the first cut, and if it failed: the length of the recording, and a cut with one press. */
function NoCut() {
  const { asset, cut, cuts, form, editor, cutByHand } = useEditor();
  const { isBusy, run } = useBusy();
  const make = (mode: CutMode) =>
    run(async () => {
      const body = { asset_id: asset.id, script: form.script.value, options: CUT_MODES[mode] };
      cuts.choose((await must(api.POST("/api/v1/cuts", { body }))).id);
      openTab.value = "transcript";
    });
  const canMake = (cut === null || cut.state === "failed") && canWrite.value;
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
            <Button
              key={mode}
              disabled={isBusy}
              aria-label={`Make a cut: ${label}`}
              title={MODE_HINTS[mode]}
              onClick={() => void make(mode)}
            >
              {label}
            </Button>
          ))}
          <Button disabled={isBusy} onClick={() => void run(() => cutByHand(null))}>
            Cut by hand
          </Button>
        </span>
      )}
    </>
  );
}

/** Returns "4 minutes shorter" or "1 min 40 s shorter". */
function describeSaving(time: number): string {
  const seconds = Math.round(toSeconds(time));
  if (time <= 0) return "nothing removed";
  if (seconds === 0) return "less than a second shorter";
  return `${formatMinutes(seconds)} shorter`;
}

/** Returns "196 pauses, 52 fillers, 11 retakes, 3 off script". */
function describeRemovals(plan: EditorPlan): string {
  const totals = countReasons(plan);
  return REASONS.flatMap((reason) => {
    const count = totals.get(reason)?.count;
    return count === undefined ? [] : [`${toNumber(count)} ${SHORT_NAMES[reason] ?? nameCount(reason, count)}`];
  }).join(", ");
}

/** In a list of counts, the noun is not needed. */
const SHORT_NAMES: Partial<Record<RemovalReason, string>> = { off_script: "off script", manual: "by hand" };

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
    <Message look="bad" role="alert">
      <p>
        <strong>{cut.error_message ?? "The cut could not be created."}</strong>{" "}
        {adviseCut({ code: cut.error_code, message: cut.error_message })}
      </p>
    </Message>
  ) : (
    <Message icon="cut" role="status">
      <p>
        {recutOf !== null && "Cutting again. You can edit the new cut when it opens. "}
        {cut.state === "pending" ? describePlace(cut.jobs_before ?? null) : recutOf === null && "Creating the cut…"}
      </p>
      {recutOf !== null && (
        <span class="message-actions">
          <Button onClick={() => void cancel(recutOf).catch(showFailure)}>Cancel</Button>
        </span>
      )}
    </Message>
  );
}
