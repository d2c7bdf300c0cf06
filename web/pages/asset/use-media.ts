/** What of a recording can be played and drawn: its preview is made after the preparation. */
import { useEffect } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { type Resource, useResource } from "../../app/resource";

export type AssetMedia = Schemas["AssetMedia"];

const REFRESH_MS = 2_000;

/** Asks again until the preview is ready or has failed. Asks nothing unless it `isWanted`. */
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
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(() => void media.reload(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [isWaiting, media]);
  return media;
}

/** Returns why nothing can be played yet; null when it can. */
export function describeWait(media: AssetMedia | null): string | null {
  if (media === null) return "Looking for the preview…";
  if (media.is_preview_ready) return null;
  if (media.error_message !== null)
    return `The preview could not be created: ${media.error_message} Words and cuts can be edited all the same.`;
  const share = media.progress === null ? "" : ` (${Math.round(100 * media.progress)}%)`;
  return `The preview is being created${share}. Words and cuts can be edited meanwhile.`;
}
