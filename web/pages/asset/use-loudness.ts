/** Loads the loudness of the recording, and measures that of the edited cut. */
import { useMemo } from "preact/hooks";
import { type Loudness, type LoudnessSteps, measureSpans, readLoudness } from "../../../src/domain/loudness";
import { toApiError } from "../../app/api";
import { useRead } from "../../app/cache";
import { mediaUrl } from "../../app/media-url";
import { listKept } from "../../editor/model/plan";
import { useEditor } from "../../editor/state/context";

type RecordingLoudness =
  | { kind: "measured"; steps: LoudnessSteps }
  | { kind: "waiting" }
  | { kind: "absent"; reason: string };

/** `reason`: why it is not known. */
export type CutLoudness = ({ kind: "measured" } & Loudness) | { kind: "waiting" } | { kind: "absent"; reason: string };

const WAIT_MS = 5_000;

/** Returns the loudness of the cut with its latest edits; null without audio or before it is read. */
export function useCutLoudness(): CutLoudness | null {
  const { asset, editor, media } = useEditor();
  const isWanted = asset.audio_tracks !== 0 && media !== null;
  const { state } = useRead<RecordingLoudness>(
    isWanted ? ["loudness", asset.id] : null,
    (signal) => loadLoudness(asset.id, signal),
    { lasts: "forever", refreshMs: ({ kind }) => (kind === "waiting" ? WAIT_MS : undefined), retryMs: WAIT_MS },
  );
  const loaded = state.value;
  const plan = editor.latePlan.value;
  return useMemo(() => {
    if (loaded.kind !== "ready") return null;
    const { value } = loaded;
    return value.kind === "measured" ? { kind: "measured", ...measureSpans(value.steps, listKept(plan)) } : value;
  }, [loaded, plan]);
}

async function loadLoudness(assetId: string, signal: AbortSignal): Promise<RecordingLoudness> {
  const response = await fetch(mediaUrl(assetId, "loudness"), { signal });
  if (response.ok) return { kind: "measured", steps: readLoudness(await response.arrayBuffer()) };
  const error = toApiError(response, await response.json().catch(() => null));
  if (error.code === "asset_processing") return { kind: "waiting" };
  if (response.status === 404 || error.code === "asset_failed") return { kind: "absent", reason: error.message };
  throw error;
}

const formatTenths = (value: number): string => value.toFixed(1).replace("-", "−");

/** Returns "−19.3 LUFS, −2.1 dBTP". */
export function describeLoudness({ integrated, peak }: Loudness): string {
  if (integrated === null || peak === null) return "silent";
  return `${formatTenths(integrated)} LUFS, ${formatTenths(peak)} dBTP`;
}
