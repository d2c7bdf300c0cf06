/** Loads the content of the timeline: audio peaks and video thumbnails. */
import { toApiError } from "../../app/api";
import { mediaUrl } from "../../app/media-url";
import { useResource } from "../../app/resource";
import { readWaveform, type Waveform } from "../../editor/timeline/peaks";
import type { Storyboard } from "../../editor/timeline/storyboard";
import type { Asset } from "./asset";

export type Strip = { waveform: Waveform | null; storyboard: Storyboard | null };

const NOTHING: Strip = { waveform: null, storyboard: null };

/** Loads both once the preview is ready. Without them, the timeline shows only spans and words. */
export function useStrip(asset: Asset, isReady: boolean): Strip {
  const strip = useResource<Strip>(
    async (signal) => {
      if (!isReady) return NOTHING;
      const [waveform, storyboard] = await Promise.all([
        asset.audio_tracks === 0 ? null : loadWaveform(asset.id, signal).catch(() => null),
        asset.type === "video" ? loadStoryboard(asset.id, signal).catch(() => null) : null,
      ]);
      return { waveform, storyboard };
    },
    [asset.id, isReady],
  );
  const { value } = strip.state;
  return value.kind === "ready" ? value.value : NOTHING;
}

async function read(assetId: string, path: string, signal: AbortSignal): Promise<Response> {
  const response = await fetch(mediaUrl(assetId, path), { signal });
  if (!response.ok) throw toApiError(response, await response.json().catch(() => null));
  return response;
}

async function loadWaveform(assetId: string, signal: AbortSignal): Promise<Waveform> {
  return readWaveform(await (await read(assetId, "waveform", signal)).arrayBuffer());
}

async function loadStoryboard(assetId: string, signal: AbortSignal): Promise<Storyboard> {
  const board = (await (await read(assetId, "storyboard", signal)).json()) as Omit<Storyboard, "getSheetUrl">;
  return { ...board, getSheetUrl: (sheet) => mediaUrl(assetId, `storyboard/${sheet}`) };
}
