/** Loads the media of a recording that can be played and drawn. The preview is created after the preparation. */
import { useEffect } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { formatCount } from "../../app/format";
import { type Resource, useResource } from "../../app/resource";

export type AssetMedia = Schemas["AssetMedia"];

const REFRESH_MS = 2_000;
/** While the recording can be played without its preview. */
const SLOW_REFRESH_MS = 5_000;

/** Polls until the preview is ready or has failed. Sends no request unless `isWanted`. */
export function useMedia(assetId: string, isWanted: boolean): Resource<AssetMedia> {
  const media = useResource<AssetMedia>(
    async (signal) => {
      if (!isWanted) return new Promise<never>(() => {});
      const params = { path: { asset_id: assetId } };
      return must(api.GET("/api/v1/assets/{asset_id}/media", { params, signal }));
    },
    [assetId, isWanted],
  );
  const state = media.state.value;
  const isWaiting =
    state.kind === "failed" ||
    (state.kind === "ready" && !state.value.is_preview_ready && state.value.error_message === null);
  const refreshMs = state.kind === "ready" && state.value.is_playable ? SLOW_REFRESH_MS : REFRESH_MS;
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(() => void media.reload(), refreshMs);
    return () => clearInterval(timer);
  }, [isWaiting, refreshMs, media]);
  return media;
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
