/** Loads the content of the timeline: audio peaks and video thumbnails. */
import { useEffect } from "preact/hooks";
import { mediaUrl, toApiError } from "../../app/api";
import { useRead } from "../../app/cache";
import { readWaveform, type Waveform } from "../../editor/timeline/peaks";
import type { Storyboard } from "../../editor/timeline/storyboard";
import type { Asset } from "./asset";
import type { AssetMedia } from "./use-media";

export type Strip = { waveform: Waveform | null; storyboard: Storyboard | null };

const NOTHING: Strip = { waveform: null, storyboard: null };

/**
 * Loads both, which the preparation makes. What it could not make comes with the preview. Without them, the timeline
 * shows only spans and words.
 */
export function useStrip(asset: Asset, media: AssetMedia | null): Strip {
  const isReady = media?.is_playable === true || media?.is_preview_ready === true;
  const strip = useRead<Strip>(
    isReady ? ["strip", asset.id] : null,
    async (signal) => {
      const [waveform, storyboard] = await Promise.all([
        asset.audio_tracks === 0 ? null : loadWaveform(asset.id, signal).catch(() => null),
        asset.type === "video" ? loadStoryboard(asset.id, signal).catch(() => null) : null,
      ]);
      return { waveform, storyboard };
    },
    { lasts: "forever" },
  );
  const { value } = strip.state;
  const isPreviewReady = media?.is_preview_ready === true;
  useEffect(() => {
    if (isPreviewReady && isReady) void strip.reload();
  }, [isPreviewReady, isReady, strip]);
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
