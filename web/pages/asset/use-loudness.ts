/** Loads the loudness of the recording, and measures that of the edited cut. */
import { useMemo } from "preact/hooks";
import { type Loudness, type LoudnessSteps, measureSpans, readLoudness } from "../../../src/domain/loudness";
import { toApiError } from "../../app/api";
import { useRead } from "../../app/cache";
import { mediaUrl } from "../../app/media-url";
import { listKept } from "../../editor/model/plan";
import { useEditor } from "../../editor/state/context";

/** `reason`: why it is not known. */
export type CutLoudness = ({ kind: "measured" } & Loudness) | { kind: "waiting" } | { kind: "absent"; reason: string };

/** Returns the loudness of the cut with its latest edits; null without audio or before it is read. */
export function useCutLoudness(): CutLoudness | null {
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
  const response = await fetch(mediaUrl(assetId, "loudness"), { signal });
  if (!response.ok) throw toApiError(response, await response.json().catch(() => null));
  return readLoudness(await response.arrayBuffer());
}

const formatTenths = (value: number): string => value.toFixed(1).replace("-", "−");

/** Returns "−19.3 LUFS, −2.1 dBTP". */
export function describeLoudness({ integrated, peak }: Loudness): string {
  if (integrated === null || peak === null) return "silent";
  return `${formatTenths(integrated)} LUFS, ${formatTenths(peak)} dBTP`;
}
