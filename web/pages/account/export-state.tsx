import { useState } from "preact/hooks";
import { api, must, type Schemas, toMessage } from "../../app/api";
import type { Resource } from "../../app/cache";
import { formatBytes, formatTime } from "../../app/format";
import { toLocalAddress } from "../../app/local-address";
import { openDownload } from "../../app/save-file";
import { Button } from "../../ui/button";
import { RelativeTime } from "../../ui/relative-time";
import { ErrorPanel } from "../../ui/states";

type Notification = Schemas["Notification"];
type Latest = Schemas["LatestDataExport"];
type Export = Extract<Notification, { type: "data_export_ready" }>["payload"];

export const toExport = ({ notification }: Latest): Export | null =>
  notification?.type === "data_export_ready" ? notification.payload : null;

/** Returns the latest export that was requested, or null. */
export function findExport(latest: Resource<Latest>): Export | null {
  const state = latest.state.value;
  return state.kind === "ready" ? toExport(state.value) : null;
}

/** Shows the state of the latest export. */
export const ExportState = ({ latest }: { latest: Resource<Latest> }) => {
  const status = findExport(latest)?.status;
  return (
    <>
      <p class="visually-hidden" role="status">
        {status && ANNOUNCEMENTS[status]}
      </p>
      <StateText latest={latest} />
    </>
  );
};

/** Announced separately, because times and sizes change every few seconds. */
const ANNOUNCEMENTS: Record<Export["status"], string> = {
  pending: "Export in progress.",
  ready: "Export ready.",
  failed: "Export failed.",
  expired: "Export expired.",
};

function StateText({ latest }: { latest: Resource<Latest> }) {
  const payload = findExport(latest);
  if (payload === null) return null;
  const { status, has_media: hasMedia } = payload;
  const written = latest.state.value.kind === "ready" ? latest.state.value.value.written_bytes : null;
  const content = hasMedia ? "with recordings and renders" : "without media";
  if (status === "pending")
    return (
      <div class="export-state">
        <p>
          <span class="status busy">In progress</span> Requested <RelativeTime iso={payload.requested_at} />, {content}.
        </p>
        <progress class="progress" aria-label="Export in progress" />
        <p class="soft">
          {written === null ? "Waiting for other exports." : `${formatBytes(written)} written.`} You can leave this
          page: you get a notification when the export is ready.
        </p>
      </div>
    );
  if (status === "failed")
    return (
      <div class="export-state">
        <p>
          <span class="status bad">Failed</span> {payload.error_message ?? "The export could not be written."} Your data
          was not changed.
        </p>
      </div>
    );
  if (status === "expired" || payload.expires_at === null)
    return (
      <div class="export-state">
        <p>
          <span class="status">Expired</span> The archive of{" "}
          {payload.finished_at === null ? "the last export" : <RelativeTime iso={payload.finished_at} />} was deleted
          from the server. Your data was not changed. You can request a new export.
        </p>
      </div>
    );
  return <Ready payload={payload} expiresAt={payload.expires_at} content={content} latest={latest} />;
}

type ReadyProps = { payload: Export; expiresAt: string; content: string; latest: Resource<Latest> };

function Ready({ payload, expiresAt, content, latest }: ReadyProps) {
  const [error, setError] = useState<string | null>(null);
  // The link on the page may be older than its lifetime of 15 minutes.
  const download = async () => {
    setError(null);
    try {
      const { notification } = await must(api.GET("/api/v1/users/me/export"));
      const url = notification?.type === "data_export_ready" ? notification.payload.download_url : null;
      if (url) openDownload(toLocalAddress(url), "");
      else await latest.reload();
    } catch (thrown) {
      setError(toMessage(thrown));
    }
  };
  return (
    <div class="export-state">
      <p>
        <span class="status good">Ready</span> {formatBytes(payload.size_bytes ?? 0)}, {content}, created{" "}
        <RelativeTime iso={payload.finished_at ?? payload.requested_at} />. It can be downloaded until{" "}
        {formatTime(expiresAt)}.
      </p>
      {error && <ErrorPanel message={error} />}
      <div class="toolbar">
        <Button icon="download" look="primary" onClick={() => void download()}>
          Download
        </Button>
      </div>
    </div>
  );
}
