import { useState } from "preact/hooks";
import { GRACE_DAYS } from "../../../src/domain/access";
import { api, must, type Schemas } from "../../app/api";
import { type Resource, useRead } from "../../app/cache";
import { formatBytes, formatCount, formatTime } from "../../app/format";
import { loadSession } from "../../app/load-session";
import { openDownload } from "../../app/save-file";
import { isBilled, type Me, me } from "../../app/session";
import { Button } from "../../ui/button";
import { ConfirmButton } from "../../ui/dialog";
import { Section } from "../../ui/section";
import { ErrorMessage, ResourceView } from "../../ui/states";
import { RelativeTime } from "../../ui/time";
import { useBusy } from "../../ui/use-busy";
import { AccountFrame } from "../frames";

/** The page for exporting the user's data and deleting the account. */
export default function DataPage() {
  const profile = me.value;
  if (profile === null) return null;
  return (
    <AccountFrame title="Your data">
      <ExportSection />
      {profile.deleted_at === null && <DeletionSection profile={profile} />}
    </AccountFrame>
  );
}

/** Requests the export of the user's data, and shows its state. */
function ExportSection() {
  const latest = useRead(["export"], (signal) => must(api.GET("/api/v1/users/me/export", { signal })), {
    // The event stream is closed during the grace period.
    refreshMs: (latest) => (toExport(latest)?.status === "pending" ? 4_000 : undefined),
  });
  const isPending = findExport(latest)?.status === "pending";
  return (
    <Section
      title="Export your data"
      hint={`A ZIP archive of your personal workspace and of your work in shared ones: projects, transcripts, cuts, renders${isBilled.value ? ", credits" : ""} and settings as JSON files. It contains no passwords and no keys.`}
    >
      <ResourceView resource={latest}>
        {({ notification }) => (
          <>
            <ExportState latest={latest} />
            {!isPending && <ExportForm isFirst={notification === null} onRequested={() => void latest.reload()} />}
          </>
        )}
      </ResourceView>
    </Section>
  );
}

function ExportForm({ isFirst, onRequested }: { isFirst: boolean; onRequested(): void }) {
  const [hasMedia, setHasMedia] = useState(false);
  const { isBusy, error, run } = useBusy({ isShown: true });
  const request = () =>
    run(async () => {
      await must(api.POST("/api/v1/users/me/export", { params: { query: hasMedia ? { media: "true" } : {} } }));
      onRequested();
    });
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={hasMedia} onChange={(event) => setHasMedia(event.currentTarget.checked)} />
        Include recordings and renders. This makes the archive much larger.
      </label>
      <ErrorMessage error={error} />
      <div class="toolbar">
        <Button isBusy={isBusy} onClick={() => void request()}>
          {isFirst ? "Request an export" : "Request a new export"}
        </Button>
      </div>
    </>
  );
}

type Notification = Schemas["Notification"];
type Latest = Schemas["LatestDataExport"];
type Export = Extract<Notification, { type: "data_export_ready" }>["payload"];

const toExport = ({ notification }: Latest): Export | null =>
  notification?.type === "data_export_ready" ? notification.payload : null;

/** Returns the latest export that was requested, or null. */
function findExport(latest: Resource<Latest>): Export | null {
  const state = latest.state.value;
  return state.kind === "ready" ? toExport(state.value) : null;
}

/** Shows the state of the latest export. */
const ExportState = ({ latest }: { latest: Resource<Latest> }) => {
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
  const { isBusy, error, run } = useBusy({ isShown: true });
  // The link on the page may be older than its lifetime of 15 minutes.
  const download = () =>
    run(async () => {
      const { notification } = await must(api.GET("/api/v1/users/me/export"));
      const url = notification?.type === "data_export_ready" ? notification.payload.download_url : null;
      if (url) openDownload(url, "");
      else await latest.reload();
    });
  return (
    <div class="export-state">
      <p>
        <span class="status good">Ready</span> {formatBytes(payload.size_bytes ?? 0)}, {content}, created{" "}
        <RelativeTime iso={payload.finished_at ?? payload.requested_at} />. It can be downloaded until{" "}
        {formatTime(expiresAt)}.
      </p>
      <ErrorMessage error={error} />
      <div class="toolbar">
        <Button icon="download" look="primary" isBusy={isBusy} onClick={() => void download()}>
          Download
        </Button>
      </div>
    </div>
  );
}

/** Deletes the account after a warning about the losses. */
function DeletionSection({ profile }: { profile: Me }) {
  return (
    <Section
      title="Delete your account"
      hint={`You can restore it for ${GRACE_DAYS} days. After that, all of its data is permanently deleted.`}
    >
      <div class="toolbar">
        <ConfirmButton
          button={{ look: "danger", icon: "trash", children: "Delete account…" }}
          title="Delete your account?"
          confirmLabel="Delete account"
          onConfirm={async () => {
            await must(api.DELETE("/api/v1/users/me"));
            await loadSession();
          }}
        >
          <Losses profile={profile} />
        </ConfirmButton>
      </div>
    </Section>
  );
}

/** Lists the content that is erased after the grace period. */
function Losses({ profile }: { profile: Me }) {
  const params = { path: { workspace_id: profile.id } };
  const personal = useRead(["workspace", profile.id], (signal) =>
    must(api.GET("/api/v1/workspaces/{workspace_id}", { params, signal })),
  );
  return (
    <div class="losses">
      <p>
        The account <strong dir="auto">{profile.email}</strong> is closed immediately, and its API keys and webhooks
        stop working. After {GRACE_DAYS} days, this is permanently deleted:
      </p>
      <ResourceView resource={personal} skeleton={<p class="soft">Counting…</p>}>
        {(content) => (
          <ul>
            <li>
              {formatCount(content.project_count, "project")} with {formatCount(content.asset_count, "recording")} and{" "}
              {formatCount(content.render_count, "render")}: {formatBytes(content.storage_used_bytes)}
            </li>
            {isBilled.value && (
              <li>
                {formatCount(Math.max(0, content.credits_balance + content.credits_held), "credit")}, not refunded
              </li>
            )}
            <li>your profile, sessions, API keys, notifications and data exports</li>
          </ul>
        )}
      </ResourceView>
      <p>
        What you added to shared workspaces stays there. Export your data first if you want a copy. To restore the
        account within the {GRACE_DAYS} days, sign in.
      </p>
    </div>
  );
}
