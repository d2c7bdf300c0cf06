import { type Signal, useComputed } from "@preact/signals";
import { useCallback, useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { formatBytes, formatDuration } from "../../app/format";
import { progressOf } from "../../app/live";
import { mediaUrl } from "../../app/media-url";
import { canWrite, isBilled } from "../../app/session";
import { ConfirmDialog } from "../../ui/dialog";
import { CreditsLink } from "../../ui/error-message";
import { Icon } from "../../ui/icon";
import { Menu } from "../../ui/menu";
import { RowList } from "../../ui/row-list";
import { AssetStatus, Status } from "../../ui/status";
import { RelativeTime } from "../../ui/time";
import { type UploadItem, uploads } from "../../upload/queue";
import type { Asset } from "../asset/asset";
import { nameOf } from "../asset/asset";

type AssetListProps = {
  items: Asset[];
  selection: Signal<ReadonlySet<string>>;
  /** Must stay the same function between renders. */
  onChange(): Promise<void>;
};

/** The recordings of a project. */
export function AssetList({ items, selection, onChange }: AssetListProps) {
  const row = useCallback(
    (asset: Asset) => <AssetRow key={asset.id} asset={asset} selection={selection} onChange={() => void onChange()} />,
    [selection, onChange],
  );
  return <RowList items={items} row={row} />;
}

type AssetRowProps = Pick<AssetListProps, "selection"> & { asset: Asset; onChange(): void };

function AssetRow({ asset, selection, onChange }: AssetRowProps) {
  const name = nameOf(asset);
  const upload = findUpload(asset);
  // A row is rendered again only when its own state changes.
  const isSelected = useComputed(() => selection.value.has(asset.id));
  const toggle = () => {
    const next = new Set(selection.value);
    if (!next.delete(asset.id)) next.add(asset.id);
    selection.value = next;
  };
  return (
    <li class="row asset-row">
      {canWrite.value && (
        <label class="row-check">
          <input type="checkbox" aria-label={`Select ${name}`} checked={isSelected.value} onChange={toggle} />
        </label>
      )}
      <Poster asset={asset} />
      <div class="asset-text">
        <a class="truncate" href={`/assets/${asset.id}`} title={name} dir="auto">
          {name}
        </a>
        <span class="soft asset-facts">
          <Facts asset={asset} />
        </span>
      </div>
      <span class="asset-state">
        {upload !== undefined ? (
          <Status {...UPLOAD_LOOKS[upload.state === "paused" ? "paused" : "uploading"]} />
        ) : (
          <AssetStatus state={asset.state} cuttable={asset.cuttable} />
        )}
        {asset.state === "processing" && (
          <progress
            class="progress"
            aria-label={`Preparation of ${name}`}
            max={1}
            value={progressOf(asset.id).value ?? asset.progress ?? 0}
          />
        )}
      </span>
      {canWrite.value && <AssetMenu asset={asset} name={name} onChange={onChange} />}
    </li>
  );
}

/** The middle frame of a video, or an icon. */
function Poster({ asset }: { asset: Asset }) {
  const [isMissing, setIsMissing] = useState(false);
  return (
    <span class="poster">
      {asset.state === "ready" && asset.type === "video" && !isMissing ? (
        <img
          src={mediaUrl(asset.id, "poster")}
          alt=""
          loading="lazy"
          decoding="async"
          onError={() => setIsMissing(true)}
        />
      ) : (
        <Icon name={asset.type === "audio" ? "audio" : "play"} />
      )}
    </span>
  );
}

const UNFINISHED = {
  writer: "Upload not finished: drop the file here again to continue",
  viewer: "Upload not finished",
};

const UPLOAD_LOOKS = {
  uploading: { text: "Uploading", look: "busy" },
  paused: { text: "Paused", look: "waiting" },
};

/** Returns this tab's upload of a recording, unless it has failed. Reads a signal. */
const findUpload = ({ state, filename, project_id: projectId }: Asset): UploadItem | undefined =>
  state === "pending_upload"
    ? uploads.value.find((one) => one.name === filename && one.projectId === projectId && one.state !== "failed")
    : undefined;

function Facts({ asset }: { asset: Asset }) {
  const upload = findUpload(asset);
  if (upload !== undefined) return <>{upload.state === "paused" ? "Upload paused" : "Uploading"}</>;
  if (asset.state === "pending_upload") return <>{UNFINISHED[canWrite.value ? "writer" : "viewer"]}</>;
  if (asset.state === "pending_payment")
    return (
      <>
        The balance does not cover this recording. <CreditsLink />
      </>
    );
  if (asset.state === "failed") return <>{asset.error_message}</>;
  const facts = [
    asset.duration_seconds !== null && formatDuration(Number(asset.duration_seconds)),
    asset.width !== null && `${asset.width} × ${asset.height}`,
    asset.size_bytes !== null && formatBytes(asset.size_bytes),
  ];
  return (
    <>
      <span class="number">{facts.filter(Boolean).join(" · ")}</span> · <RelativeTime iso={asset.created_at} />
    </>
  );
}

/** The actions for a recording. */
function AssetMenu({ asset, name, onChange }: { asset: Asset; name: string; onChange(): void }) {
  const [isDeleting, setIsDeleting] = useState(false);
  return (
    <>
      <Menu
        label={`Actions for ${name}`}
        items={[{ label: "Delete", icon: "trash", isDangerous: true, run: () => setIsDeleting(true) }]}
      >
        <Icon name="more" />
      </Menu>
      {isDeleting && (
        <ConfirmDialog
          title="Delete this recording?"
          confirmLabel="Delete recording"
          onConfirm={async () => {
            await must(api.DELETE("/api/v1/assets/{asset_id}", { params: { path: { asset_id: asset.id } } }));
            onChange();
          }}
          onClose={() => setIsDeleting(false)}
        >
          <p>
            <strong dir="auto">{name}</strong> is deleted with its cuts and renders, from the server's disk too.
            {isBilled.value && " Credits that were spent are not refunded."} This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
