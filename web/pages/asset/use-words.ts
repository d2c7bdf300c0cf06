/** The words of a recording. */
import { toApiError } from "../../app/api";
import { mediaUrl } from "../../app/media-url";
import { type Resource, useResource } from "../../app/resource";
import { readWords, type Words } from "../../editor/model/words";
import type { Asset } from "./asset";

const NO_WORDS: Words = { text: [], start: [], end: [] };
const MAX_WAITS = 60;
const MAX_WAIT_SECONDS = 5;

/** Loads the transcript. Waits for one that is still being created, as for an old recording. */
export const useWords = (asset: Asset): Resource<Words> =>
  useResource(
    (signal) => (asset.has_transcript ? loadWords(asset.id, signal) : Promise.resolve(NO_WORDS)),
    [asset.id, asset.has_transcript],
  );

async function loadWords(assetId: string, signal: AbortSignal): Promise<Words> {
  for (let wait = 0; ; wait++) {
    const response = await fetch(mediaUrl(assetId, "transcript"), { signal });
    if (response.ok) return readWords(await response.json());
    const error = toApiError(response, await response.json().catch(() => null));
    if (error.code !== "asset_processing" || wait === MAX_WAITS) throw error;
    await new Promise((resolve) =>
      setTimeout(resolve, 1000 * Math.min(MAX_WAIT_SECONDS, error.retryAfterSeconds ?? 1)),
    );
    signal.throwIfAborted();
  }
}
