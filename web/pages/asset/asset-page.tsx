import { useEffect } from "preact/hooks";
import { useRoute } from "preact-iso";
import { ApiError, api, must } from "../../app/api";
import { useResource } from "../../app/resource";
import { workspace } from "../../app/session";
import { useLiveReload } from "../../app/use-live-reload";
import { useTitle } from "../../app/use-title";
import { ErrorPanel } from "../../ui/states";
import { Missing } from "../missing";
import NotFoundPage from "../not-found";
import { type Asset, nameOf } from "./asset";
import { AssetSkeleton } from "./asset-skeleton";
import { AssetWaiting } from "./asset-waiting";
import { Studio } from "./studio";
import { type ListedCut, listCuts } from "./use-cuts";
import { useKept } from "./use-kept";
import { useMedia } from "./use-media";

/** Interval for progress, and for states while no event stream is open. */
const REFRESH_MS = 3_000;

/** Shows a recording: its cuts, and the editor. */
export default function AssetPage() {
  const assetId = useRoute().params.assetId ?? "";
  const asset = useResource<Asset>(
    (signal) => must(api.GET("/api/v1/assets/{asset_id}", { params: { path: { asset_id: assetId } }, signal })),
    [assetId, workspace.value?.id],
  );
  useLiveReload(["asset.updated"], asset, (id) => id === assetId);
  const state = useKept(asset.state.value, assetId);
  useTitle(state.kind === "ready" ? nameOf(state.value) : "Recording");
  const isEdited = state.kind !== "ready" || (state.value.cuttable && state.value.kind === "source");
  // Both are requested together with the recording: few recordings are opened before they are ready.
  const cuts = useResource<ListedCut[]>(
    async (signal) => (isEdited ? listCuts(assetId, signal) : []),
    [assetId, workspace.value?.id, isEdited],
  );
  const media = useMedia(assetId, isEdited && state.kind !== "failed");
  const isChanging =
    state.kind === "ready" && ["pending_upload", "processing", "pending_payment"].includes(state.value.state);
  useEffect(() => {
    if (!isChanging) return;
    const timer = setInterval(() => void asset.reload(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [isChanging, asset]);

  // When another recording is opened, the previous one is still loaded.
  const isOther = state.kind === "ready" && state.value.id !== assetId;
  if (state.kind === "loading" || isOther) return <AssetSkeleton />;
  if (state.kind === "failed") {
    const isMissing = state.error instanceof ApiError && (state.error.status === 404 || state.error.status === 422);
    if (!isMissing) return <ErrorPanel message={state.message} onRetry={() => void asset.reload()} />;
    return (
      <Missing id={assetId} skeleton={<AssetSkeleton />}>
        <NotFoundPage />
      </Missing>
    );
  }
  const { value } = state;
  return isEdited ? <Studio key={value.id} asset={value} list={cuts} media={media} /> : <AssetWaiting asset={value} />;
}
