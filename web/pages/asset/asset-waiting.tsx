/** Shown for a recording that cannot be cut yet: the reason, the progress, and what to do. */
import type { ComponentChildren } from "preact";
import { formatDuration, formatShare } from "../../app/format";
import { progressOf } from "../../app/live";
import { canWrite } from "../../app/session";
import { Icon } from "../../ui/icon";
import { Page } from "../../ui/page";
import { CreditsLink } from "../../ui/states";
import { AssetStatus } from "../../ui/status";
import { PlannedCut } from "./planned-cut";
import { adviseAsset } from "./problem-texts";
import { type Asset, nameOf } from "./use-media";

export const AssetWaiting = ({ asset }: { asset: Asset }) => (
  <Page
    title={nameOf(asset)}
    crumb={{ label: "Project", href: `/projects/${asset.project_id}` }}
    actions={<AssetStatus state={asset.state} cuttable={asset.cuttable} />}
  >
    <Explanation asset={asset} />
    {canWrite.value && asset.kind === "source" && asset.state !== "failed" && <PlannedCut asset={asset} />}
  </Page>
);

function Explanation({ asset }: { asset: Asset }) {
  const share = progressOf(asset.id).value ?? asset.progress ?? 0;
  const minutes = asset.duration_seconds === null ? null : Number(asset.duration_seconds);
  if (asset.kind !== "source")
    return <Note>This file is the output of a job. To change the cut, open the recording.</Note>;
  switch (asset.state) {
    case "pending_upload":
      return (
        <Note>
          The upload is not finished. Keep the uploading tab open, or drop the same file on the project page to resume.
        </Note>
      );
    case "pending_payment":
      return (
        <Note look="warning">
          The balance does not cover this recording{minutes !== null && ` of ${formatDuration(minutes)}`}. Buy credits,
          or ask an administrator for some. Preparation then continues automatically. <CreditsLink />
        </Note>
      );
    case "failed":
      return (
        <Note look="bad">
          <strong>{asset.error_message ?? "The recording could not be prepared."}</strong>{" "}
          {adviseAsset(asset.error_code)}
        </Note>
      );
    default:
      return (
        <div class="asset-waiting">
          <p>
            Offcut is reading the recording and recognizing its words. You can cut it as soon as that is done. This page
            updates automatically.
          </p>
          <progress class="progress" aria-label="Preparation" max={1} value={share} />
          <p class="soft number">{formatShare(share)}</p>
        </div>
      );
  }
}

const Note = ({ look = "", children }: { look?: "" | "warning" | "bad"; children: ComponentChildren }) => (
  <div class={`message ${look}`} role={look === "bad" ? "alert" : undefined}>
    <Icon name={look === "" ? "info" : "warning"} />
    <p>{children}</p>
  </div>
);
