/** The page of a file that cannot be cut now: the reason and the remedy. */
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { formatDuration, nameOf } from "../../app/format";
import { canWrite } from "../../app/session";
import { Icon } from "../../ui/icon";
import { Page } from "../../ui/page";
import { CreditsLink, ErrorMessage } from "../../ui/states";
import { AssetStatus } from "../../ui/status";
import { PlannedMode } from "./planned-cut";
import { adviseAsset } from "./problem-texts";
import { createScriptForm } from "./script";
import { PLANNED, ScriptField } from "./script-panel";
import { type Asset, useProjectName } from "./use-media";

export const AssetWaiting = ({ asset }: { asset: Asset }) => (
  <Page
    title={nameOf(asset)}
    crumb={{ label: useProjectName(asset.project_id) ?? "Project", href: `/projects/${asset.project_id}` }}
    actions={<AssetStatus state={asset.state} cuttable={asset.cuttable} />}
  >
    <Explanation asset={asset} />
    {canWrite.value && asset.kind === "source" && asset.state !== "failed" && <Plan asset={asset} />}
  </Page>
);

function Plan({ asset }: { asset: Asset }) {
  const form = useMemo(() => createScriptForm(asset.id), [asset.id]);
  const [error, setError] = useState<unknown>(null);
  return (
    <section class="panel card planned-cut" aria-labelledby="planned-title">
      <h2 id="planned-title">{PLANNED}</h2>
      <ScriptField form={form} onError={setError} />
      <ErrorMessage error={error} />
      <PlannedMode asset={asset} form={form} />
    </section>
  );
}

function Explanation({ asset }: { asset: Asset }) {
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
    default:
      return (
        <Note look="bad">
          <strong>{asset.error_message ?? "The recording could not be prepared."}</strong>{" "}
          {adviseAsset({ code: asset.error_code, message: asset.error_message })}
        </Note>
      );
  }
}

const Note = ({ look = "", children }: { look?: "" | "warning" | "bad"; children: ComponentChildren }) => (
  <div class={`message ${look}`} role={look === "bad" ? "alert" : undefined}>
    <Icon name={look === "" ? "info" : "warning"} />
    <p>{children}</p>
  </div>
);
