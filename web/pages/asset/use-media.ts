/** Loads a recording's playable media, the images of its timeline and the name of its project. */

import type { QueryKey } from "@tanstack/preact-query";
import { api, mediaUrl, must, type Schemas } from "../../app/api";
import { type Resource, useKept, useRead } from "../../app/cache";
import { fetchFile } from "../../app/fetch-file";
import { formatCount } from "../../app/format";
import { toOrdinal } from "../../app/rare-formats";
import { findRetryMs } from "../../app/retry";
import { useProject } from "../../app/shared-reads";
import { hasMediaSource } from "../../editor/player/media-source";
import { readWaveform, type Waveform } from "../../editor/timeline/peaks";
import { findPicture, type Storyboard } from "../../editor/timeline/storyboard";

export type AssetMedia = Schemas["AssetMedia"];

const WAIT_MS = 2_000;
/** While the recording can be played without its preview. */
const PLAYABLE_WAIT_MS = 5_000;

/** Reads until preview and loudness are ready or have failed. Sends no request unless `isWanted`. */
export const useMedia = (assetId: string, isWanted: boolean): Resource<AssetMedia> =>
  useRead(
    isWanted ? ["media", assetId] : null,
    (signal) => must(api.GET("/api/v1/assets/{asset_id}/media", { params: { path: { asset_id: assetId } }, signal })),
    { refreshMs: toWaitMs, retryMs: () => WAIT_MS },
  );

function toWaitMs(media: AssetMedia): number | undefined {
  const isMeasuring = !media.loudness.is_ready && media.loudness.absent_reason === null;
  if (media.error_message !== null || (media.is_preview_ready && !isMeasuring)) return undefined;
  return media.is_playable ? PLAYABLE_WAIT_MS : WAIT_MS;
}

/** Returns the name of a project; null until it is read. */
export function useProjectName(id: string): string | null {
  const state = useProject(id).state.value;
  return state.kind === "ready" ? state.value.name : null;
}

/** Returns why playback is not ready, or null if it is. */
export function describeWait(media: AssetMedia | null, { cuttable }: Asset): string | null {
  if (media === null) return "Loading playback…";
  if (media.is_preview_ready) return null;
  // Without Media Source, the browser plays only the preview, which is created last.
  if (!cuttable)
    return hasMediaSource() ? "Playback will be ready before the transcript." : "Playback is not ready yet.";
  if (media.error_message !== null)
    return `The preview could not be created: ${media.error_message} You can still edit words and cuts.`;
  if (media.wait === null) return "Playback is not ready yet. You can already edit.";
  const { position, seconds } = media.wait;
  const time = seconds < 60 ? "less than a minute" : `about ${formatCount(Math.round(seconds / 60), "minute")}`;
  const place = position === 1 ? "" : ` (${toOrdinal(position)} in line)`;
  return `Playback is ready in ${time}${place}. You can already edit.`;
}

const FILE_RETRY_MS = 5_000;
const MAX_FILE_RETRY_MS = 60_000;

/**
 * Returns when to request a file again that has failed a number of times: only if the server was busy or the response
 * incomplete. A damaged file stays damaged.
 */
export const findFileRetryMs = (error: unknown, failures: number): number | false =>
  findRetryMs(error) !== null && Math.min(MAX_FILE_RETRY_MS, failures * FILE_RETRY_MS);

export type Strip = { waveform: Waveform | null; storyboard: Storyboard | null };

/**
 * Loads both as soon as the preparation has created them. Missing ones are created with the preview. Without them, the
 * timeline shows only spans and words.
 */
export function useStrip(asset: Asset, media: AssetMedia | null): Strip {
  const { is_playable: isPlayable = false, is_preview_ready: isPreviewReady = false } = media ?? {};
  const isMade = isPlayable || isPreviewReady;
  const hasWaveform = asset.audio_tracks !== 0 && ((isMade && asset.cuttable) || media?.has_waveform === true);
  const hasStoryboard = media?.has_storyboard === true;
  const toKey = (name: string, isThere: boolean) => (isThere ? [name, asset.id, isPreviewReady] : null);
  const waveform = useKeptFile(toKey("waveform", hasWaveform), asset.id, loadWaveform);
  const storyboard = useKeptFile(toKey("storyboard", hasStoryboard), asset.id, (id, signal) =>
    loadStoryboard(id, asset, signal),
  );
  return { waveform, storyboard };
}

/**
 * Loads a file of a recording. Returns the previous one until it is loaded, and null without one. A missing file is
 * requested again only once the preview is ready: each request may start to create it.
 */
function useKeptFile<T>(key: QueryKey | null, id: string, load: (id: string, signal: AbortSignal) => Promise<T>) {
  const { value } = useRead<T>(key, (signal) => load(id, signal), { lasts: "forever", retryMs: findFileRetryMs }).state;
  const kept = useKept(value, id);
  return kept.kind === "ready" ? kept.value : null;
}

async function loadWaveform(assetId: string, signal: AbortSignal): Promise<Waveform> {
  return readWaveform(await (await fetchFile(mediaUrl(assetId, "waveform"), signal)).arrayBuffer());
}

async function loadStoryboard(id: string, { width, height }: Asset, signal: AbortSignal): Promise<Storyboard> {
  const response = await fetchFile(mediaUrl(id, "storyboard"), signal);
  const board = (await response.json()) as Omit<Storyboard, "getSheetUrl" | "picture">;
  const picture = findPicture(board, width && height ? width / height : board.width / board.height);
  return { ...board, picture, getSheetUrl: (sheet) => mediaUrl(id, `storyboard/${sheet}`) };
}

export type Asset = Schemas["AssetDetail"];

/**
 * Returns whether a plan can be made of a recording. `wordCount`: of its transcript. Without a transcript, its pauses
 * are cut.
 */
export const hasSpeech = ({ audio_tracks, has_transcript }: Asset, wordCount: number): boolean =>
  audio_tracks !== 0 && !(has_transcript && wordCount === 0);
