/** Loads the media of a recording that can be played and drawn. The preview is created after the preparation. */
import { api, must, type Schemas } from "../../app/api";
import { type Resource, useRead } from "../../app/cache";
import { formatCount } from "../../app/format";

export type AssetMedia = Schemas["AssetMedia"];

const WAIT_MS = 2_000;
/** While the recording can be played without its preview. */
const PLAYABLE_WAIT_MS = 5_000;

/** Reads until preview and loudness are ready or have failed. Sends no request unless `isWanted`. */
export const useMedia = (assetId: string, isWanted: boolean): Resource<AssetMedia> =>
  useRead(
    isWanted ? ["media", assetId] : null,
    (signal) => must(api.GET("/api/v1/assets/{asset_id}/media", { params: { path: { asset_id: assetId } }, signal })),
    { refreshMs: toWaitMs, retryMs: WAIT_MS },
  );

function toWaitMs(media: AssetMedia): number | undefined {
  const isMeasuring = !media.loudness.is_ready && media.loudness.absent_reason === null;
  if (media.error_message !== null || (media.is_preview_ready && !isMeasuring)) return undefined;
  return media.is_playable ? PLAYABLE_WAIT_MS : WAIT_MS;
}

/** Returns why playback is not ready, or null if it is. */
export function describeWait(media: AssetMedia | null): string | null {
  if (media === null) return "Loading playback…";
  if (media.is_preview_ready) return null;
  if (media.error_message !== null)
    return `The preview could not be created: ${media.error_message} You can still edit words and cuts.`;
  if (media.wait === null) return "Playback is not ready yet. You can already edit.";
  const { position, seconds } = media.wait;
  const time = seconds < 60 ? "less than a minute" : `about ${formatCount(Math.round(seconds / 60), "minute")}`;
  const place = position === 1 ? "" : ` (${toOrdinal(position)} in line)`;
  return `Playback is ready in ${time}${place}. You can already edit.`;
}

const ORDINALS = new Intl.PluralRules("en-US", { type: "ordinal" });
const SUFFIXES: Partial<Record<Intl.LDMLPluralRule, string>> = { one: "st", two: "nd", few: "rd" };

/** Returns "3rd". */
const toOrdinal = (position: number): string => `${position}${SUFFIXES[ORDINALS.select(position)] ?? "th"}`;
