import { formatBytes, formatRemaining } from "../app/format";
import { Button, IconButton } from "../ui/button";
import { CreditsLink } from "../ui/error-message";
import { cancelUpload, continueUpload, dismissFinished, pauseUpload, type UploadItem, uploads } from "./queue";

/** The uploads of a project and their progress. */
export function UploadPanel({ projectId }: { projectId: string }) {
  const own = uploads.value.filter((item) => item.projectId === projectId);
  if (own.length === 0) return null;
  return (
    <section class="card uploads" aria-label="Uploads">
      <div class="toolbar">
        <h2>Uploads</h2>
        <span class="spacer" />
        {own.some(({ state }) => state === "finished") && (
          <Button look="quiet" onClick={dismissFinished}>
            Clear finished
          </Button>
        )}
      </div>
      <ul class="upload-list">
        {own.map((item) => (
          <UploadRow key={item.id} item={item} />
        ))}
      </ul>
    </section>
  );
}

const STATE_TEXTS: Record<UploadItem["state"], string> = {
  waiting: "Waiting",
  uploading: "Uploading",
  paused: "Paused",
  retrying: "Connection lost, trying again",
  finished: "Uploaded",
  failed: "Failed",
};

function UploadRow({ item }: { item: UploadItem }) {
  const { id, name, state, sentBytes, sizeBytes, bytesPerSecond, secondsLeft, isResumed, error, needsCredits } = item;
  const facts = [
    isResumed && state === "uploading" ? "Continued" : STATE_TEXTS[state],
    `${formatBytes(sentBytes)} of ${formatBytes(sizeBytes)}`,
    bytesPerSecond !== null && `${formatBytes(bytesPerSecond)}/s`,
    secondsLeft !== null && formatRemaining(secondsLeft),
  ];
  return (
    <li class="upload">
      <div class="upload-text">
        <span class="truncate" title={name} dir="auto">
          {name}
        </span>
        <span class="soft number">{facts.filter(Boolean).join(" · ")}</span>
        {error && (
          <span class="field-error" role="alert">
            {error} {needsCredits && <CreditsLink />}
          </span>
        )}
      </div>
      <progress class="progress" aria-label={`Upload of ${name}`} max={sizeBytes} value={sentBytes} />
      <span class="upload-actions">
        {(state === "uploading" || state === "retrying" || state === "waiting") && (
          <IconButton icon="pause" label={`Pause ${name}`} onClick={() => pauseUpload(id)} />
        )}
        {state === "paused" && <IconButton icon="play" label={`Continue ${name}`} onClick={() => continueUpload(id)} />}
        {state === "failed" && item.canRetry && <Button onClick={() => continueUpload(id)}>Try again</Button>}
        {state !== "finished" && (
          <IconButton icon="close" label={`Cancel ${name}`} onClick={() => void cancelUpload(id)} />
        )}
      </span>
    </li>
  );
}
