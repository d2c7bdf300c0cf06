/** The words of a recording. */
import { toApiError } from "../../app/api";
import { type Loaded, useRead } from "../../app/cache";
import { mediaUrl } from "../../app/media-url";
import { readWords, type Words } from "../../editor/model/words";
import type { Asset } from "./asset";

const NO_WORDS: Words = { text: [], start: [], end: [] };
const WAIT_MS = 2_000;

/** Loads the transcript. It is loading while the server still creates it, as for an old recording. */
export function useWords({ id, has_transcript: hasTranscript }: Asset): Loaded<Words> {
  const words = useRead<Words | null>(
    ["words", id, hasTranscript],
    async (signal) => (hasTranscript ? loadWords(id, signal) : NO_WORDS),
    { lasts: "forever", refreshMs: (read) => (read === null ? WAIT_MS : undefined) },
  );
  const state = words.state.value;
  if (state.kind !== "ready") return state;
  return state.value === null ? { kind: "loading" } : { kind: "ready", value: state.value };
}

/** Returns null if the transcript is not ready. */
async function loadWords(assetId: string, signal: AbortSignal): Promise<Words | null> {
  const response = await fetch(mediaUrl(assetId, "transcript"), { signal });
  if (response.ok) return readWords(await response.json());
  const error = toApiError(response, await response.json().catch(() => null));
  if (error.code === "asset_processing") return null;
  throw error;
}
