/** The loudness of a render: a target with a name, or one's own number. */
import { useMemo, useState } from "preact/hooks";
import { type Loudness, type LoudnessSteps, measureSpans, readLoudness } from "../../../../src/domain/loudness";
import { MAX_LOUDNESS_LUFS, MIN_LOUDNESS_LUFS } from "../../../../src/domain/render-output";
import { mediaUrl } from "../../../app/api";
import { useRead } from "../../../app/cache";
import { fetchFile } from "../../../app/fetch-file";
import { formatLevel } from "../../../app/rare-formats";
import { listKept } from "../../../editor/model/plan";
import { useEditor } from "../../../editor/state/context";
import { Field, SelectField } from "../../../ui/form";
import { findFileRetryMs } from "../use-media";
import { AS_RECORDED, LOUDNESS_TARGETS } from "./render-choices";

const OWN = "own";

type LoudnessFieldsProps = { value: string; onChange(value: string): void };

export function LoudnessFields({ value, onChange }: LoudnessFieldsProps) {
  /** Null until a number is typed: on the way to -14.5, it is that of a target with a name. */
  const [typed, setTyped] = useState<string | null>(null);
  const isNamed = value === "" || LOUDNESS_TARGETS.some((target) => target.value === value);
  const isOwn = !isNamed || typed === value;
  const change = (text: string, isTyped: boolean) => {
    setTyped(isTyped ? text : null);
    onChange(text);
  };
  return (
    <div class="loudness-fields">
      <SelectField
        label="Loudness"
        value={isOwn ? OWN : value}
        options={[{ value: "", label: AS_RECORDED }, ...LOUDNESS_TARGETS, { value: OWN, label: "Other target" }]}
        onChange={(chosen) => change(chosen === OWN ? value : chosen, chosen === OWN)}
      />
      <LoudnessNow />
      {isOwn && (
        <Field
          label="Target"
          name="loudness_lufs"
          type="number"
          required
          min={MIN_LOUDNESS_LUFS}
          max={MAX_LOUDNESS_LUFS}
          step="any"
          value={value}
          hint={`LUFS, −${-MIN_LOUDNESS_LUFS} to −${-MAX_LOUDNESS_LUFS}`}
          onInput={(event) => change(event.currentTarget.value, true)}
        />
      )}
    </div>
  );
}

/** The loudness of the cut before it is rendered. */
function LoudnessNow() {
  const loudness = useCutLoudness();
  if (loudness === null) return null;
  if (loudness.kind === "absent") return <p class="hint">Current loudness: unknown. {loudness.reason}</p>;
  return (
    <p class="hint number">
      Current loudness: {loudness.kind === "measured" ? describeLoudness(loudness) : "measuring…"}
    </p>
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
    retryMs: findFileRetryMs,
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

/** Returns "−19.3 LUFS, peak −2.1 dBTP". */
function describeLoudness({ integrated, peak }: Loudness): string {
  if (integrated === null || peak === null) return "none (silence)";
  return `${formatLevel(integrated)} LUFS, peak ${formatLevel(peak)} dBTP`;
}
