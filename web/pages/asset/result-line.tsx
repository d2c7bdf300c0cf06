/** What the cut comes to, and the reply to each action. */
import { useEffect, useState } from "preact/hooks";
import { CUT_MODES, type CutMode, MANUAL_MODE } from "../../../src/domain/plan";
import { formatKeys, performAction } from "../../app/actions";
import { api, must } from "../../app/api";
import { toNumber } from "../../app/english";
import { formatCount, formatDuration } from "../../app/format";
import { canWrite } from "../../app/session";
import { showFailure, showToast, toastPlace } from "../../app/toasts";
import { type EditorPlan, getKeptDuration, type RemovalReason, toSeconds } from "../../editor/model/plan";
import { nameCount, REASONS } from "../../editor/reasons";
import { startReview, useReviewCount } from "../../editor/review/use-review";
import { openTab, useEditor } from "../../editor/state/context";
import { Toasts } from "../../shell/toasts";
import { Button } from "../../ui/button";
import { CutState } from "./cut-state";
import { DraftConflict } from "./draft-notice";
import { describeLoudness, useCutLoudness } from "./use-loudness";

export function ResultLine() {
  const { editor, cut, keeper } = useEditor();
  return (
    <section class="headline" aria-label="Result">
      {editor.cut === null ? <NoCut /> : <Result />}
      <Pill />
      {(keeper?.state.value.kind === "conflict" || (cut !== null && cut.state !== "completed")) && (
        <div class="headline-note">
          {keeper !== null && <DraftConflict keeper={keeper} />}
          {cut !== null && cut.state !== "completed" && <CutState cut={cut} />}
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
  return (
    <>
      <div class="result">
        <p class="result-times number">
          <span class="soft">{formatDuration(toSeconds(plan.duration))}</span>{" "}
          <span class="soft">
            <span aria-hidden="true">→</span>
            <span class="visually-hidden">to</span>
          </span>{" "}
          <strong>{formatDuration(toSeconds(kept))}</strong> <b>{describeSaving(plan.duration - kept)}</b>
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
        {places > 0 && (
          <Button icon="flag" onClick={startReview}>
            Review {places}
          </Button>
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

const MODES: { mode: CutMode; label: string }[] = [
  { mode: "tight", label: "Tight" },
  { mode: "natural", label: "Natural" },
  { mode: "loose", label: "Loose" },
];

/** Before the first cut: its length, and a cut with one press. */
function NoCut() {
  const { asset, cut, cuts, form } = useEditor();
  const [isSending, setIsSending] = useState(false);
  const make = async (mode: CutMode | typeof MANUAL_MODE) => {
    setIsSending(true);
    try {
      const body =
        mode === MANUAL_MODE
          ? { asset_id: asset.id, options: { mode } }
          : { asset_id: asset.id, script: form.script.value, options: CUT_MODES[mode] };
      cuts.choose((await must(api.POST("/api/v1/cuts", { body }))).id);
      openTab.value = "transcript";
    } catch (error) {
      showFailure(error);
    } finally {
      setIsSending(false);
    }
  };
  const canMake = cut === null && canWrite.value;
  // Only audio can be planned.
  const modes = asset.audio_tracks === 0 ? [] : MODES;
  return (
    <>
      <p class="result-times number">
        <strong>{formatDuration(Number(asset.duration_seconds ?? 0))}</strong>{" "}
        {cut === null && <span class="soft">no cut yet</span>}
      </p>
      <span class="spacer" />
      {canMake && (
        <span class="result-actions">
          {modes.map(({ mode, label }) => (
            <Button key={mode} disabled={isSending} aria-label={`Make a cut: ${label}`} onClick={() => void make(mode)}>
              {label}
            </Button>
          ))}
          <Button disabled={isSending} onClick={() => void make(MANUAL_MODE)}>
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
  if (seconds <= 0) return "nothing removed";
  const amount = seconds < 120 ? formatCount(seconds, "second") : formatCount(Math.round(seconds / 60), "minute");
  return `${amount} shorter`;
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
    const undo = { label: "Undo", keys: formatKeys("Mod+z"), run: () => performAction("edit.undo") };
    const action = isChange ? undo : undefined;
    showToast({ kind: "info", text, action });
  }, [editor, id]);
  return <Toasts place="pill" />;
}
