import { useRoute } from "preact-iso";
import { ApiError, api, must } from "../../app/api";
import { useKept, useRead } from "../../app/cache";
import { workspace } from "../../app/session";
import { useTitle } from "../../ui/page";
import { ErrorPanel } from "../../ui/states";
import { Missing } from "../missing";
import NotFoundPage from "../not-found";
import { type Asset, nameOf } from "./asset";
import { AssetSkeleton } from "./asset-skeleton";
import { AssetWaiting } from "./asset-waiting";
import { Studio } from "./studio";
import { type ListedCut, listCuts } from "./use-cuts";
import { useMedia } from "./use-media";

/** The states of a recording that change by themselves. */
const CHANGING = ["pending_upload", "processing", "pending_payment"];
/** Interval for progress, and for states while no event stream is open. */
const PROGRESS_MS = 3_000;

/** Shows a recording: its cuts, and the editor. */
export default function AssetPage() {
  const assetId = useRoute().params.assetId ?? "";
  const asset = useRead<Asset>(
    ["asset", assetId, workspace.value?.id],
    (signal) => must(api.GET("/api/v1/assets/{asset_id}", { params: { path: { asset_id: assetId } }, signal })),
    { refreshMs: ({ state }) => (CHANGING.includes(state) ? PROGRESS_MS : undefined) },
  );
  const state = useKept(asset.state.value, assetId);
  useTitle(state.kind === "ready" ? nameOf(state.value) : "Recording");
  const isEdited = state.kind !== "ready" || (state.value.cuttable && state.value.kind === "source");
  // Both are requested together with the recording: few recordings are opened before they are ready.
  const cuts = useRead<ListedCut[]>(isEdited ? ["cuts", assetId, workspace.value?.id] : null, (signal) =>
    listCuts(assetId, signal),
  );
  const media = useMedia(assetId, isEdited && state.kind !== "failed");

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
