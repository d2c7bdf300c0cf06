/** Parts of the cards and rows of recordings. */
import { formatBytes, formatCount, formatDuration, formatShare } from "../../app/format";
import { progressOf } from "../../app/live";
import { canWrite } from "../../app/session";
import { Icon } from "../../ui/icon";
import { CreditsLink } from "../../ui/states";
import { type UploadItem, uploads } from "../../upload/queue";
import { findKeptShare, findState, type Recording, type RecordingState } from "./recording";

/** Returns this tab's upload of a recording, unless it has failed. Reads a signal. */
export const findUpload = ({ state, filename, project_id: projectId }: Recording): UploadItem | undefined =>
  state === "pending_upload"
    ? uploads.value.find((one) => one.name === filename && one.projectId === projectId && one.state !== "failed")
    : undefined;

/** The state of a recording where it is not normal. */
export function StateBadge({ recording }: { recording: Recording }) {
  const state = findState(recording, findUpload(recording));
  if (state === null) return null;
  return (
    <span class={`picture-state ${state.look}`} title={recording.error_message ?? undefined}>
      {state.icon !== null ? <Icon name={state.icon} /> : state.look === "busy" && <i class="spinner" />}
      <span>{state.text}</span>
      {state.progress && <Share {...state.progress} />}
    </span>
  );
}

function Share({ id, known }: NonNullable<RecordingState["progress"]>) {
  const share = progressOf(id).value ?? known;
  return share === null ? null : <span class="number">{formatShare(share)}</span>;
}

const UNFINISHED = {
  writer: "Choose the file again to continue",
  viewer: "Upload not finished",
};

/** The length of a recording and of its newest cut, or the reason why it has no cut. */
export function Lengths({ recording }: { recording: Recording }) {
  const { state, duration_seconds: duration, latest_cut: cut, error_message: message } = recording;
  if (state === "pending_upload")
    return (
      <span class="soft truncate">
        {findUpload(recording)
          ? formatBytes(recording.size_bytes ?? 0)
          : UNFINISHED[canWrite.value ? "writer" : "viewer"]}
      </span>
    );
  if (state === "pending_payment")
    return (
      <span class="soft">
        Not enough credits. <CreditsLink />
      </span>
    );
  if (state === "failed")
    return (
      <span class="bad-text truncate" title={message ?? undefined}>
        {message}
      </span>
    );
  if (duration === null) return <span class="soft">Length not known yet</span>;
  const kept = cut?.kept_duration ?? null;
  return (
    <span class="number soft lengths">
      {formatDuration(Number(duration))}
      {kept !== null && (
        <>
          {" "}
          <span role="img" aria-label="cut to">
            →
          </span>{" "}
          <b>{formatDuration(kept)}</b>
        </>
      )}
    </span>
  );
}

/** The marks that are left to review. */
export function Marks({ recording }: { recording: Recording }) {
  const { state, latest_cut: cut, open_cut: open } = recording;
  if (state === "failed") return null;
  if (cut === null) return state === "ready" && open === null ? <span class="soft">No cut yet</span> : null;
  if (cut.open_marks === null) return null;
  if (cut.open_marks === 0)
    return (
      <span class="marks soft" title="All checked" role="img" aria-label="All checked">
        <Icon name="check" />
      </span>
    );
  const text = `${formatCount(cut.open_marks, "place")} to review`;
  return (
    <span class="marks number" title={text} role="img" aria-label={text}>
      <Icon name="flag" />
      {cut.open_marks}
    </span>
  );
}

/** How much of the recording the newest cut keeps. */
export function KeptBar({ recording }: { recording: Recording }) {
  const share = findKeptShare(recording);
  return <span class="kept-bar" style={{ "--kept-share": `${Math.round((share ?? 0) * 1000) / 10}%` }} />;
}
