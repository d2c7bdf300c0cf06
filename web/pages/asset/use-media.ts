/** Loads the media of a recording that can be played and drawn. The preview is created after the preparation. */
import { useEffect } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { type Resource, useResource } from "../../app/resource";

export type AssetMedia = Schemas["AssetMedia"];

const REFRESH_MS = 2_000;

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
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(() => void media.reload(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [isWaiting, media]);
  return media;
}

/** Returns why playback is not ready, or null if it is. */
export function describeWait(media: AssetMedia | null): string | null {
  if (media === null) return "Looking for the preview…";
  if (media.is_preview_ready) return null;
  if (media.error_message !== null)
    return `The preview could not be created: ${media.error_message} You can still edit words and cuts.`;
  const share = media.progress === null ? "" : ` (${Math.round(100 * media.progress)}%)`;
  return `The preview is being created${share}. You can already edit words and cuts.`;
}
