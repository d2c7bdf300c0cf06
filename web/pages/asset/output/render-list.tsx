import { useId, useMemo, useState } from "preact/hooks";
import { api, must } from "../../../app/api";
import { downloadRender, renderAgain } from "../../../app/ended-render";
import { formatBytes, formatRemaining, formatShare } from "../../../app/format";
import { progressOf } from "../../../app/live";
import { createRemainingTime } from "../../../app/rare-formats";
import { canWrite } from "../../../app/session";
import { Button, IconButton } from "../../../ui/button";
import { ConfirmDialog } from "../../../ui/dialog";
import { Icon } from "../../../ui/icon";
import { ErrorPanel } from "../../../ui/states";
import { JobStatus } from "../../../ui/status";
import { RelativeTime } from "../../../ui/time";
import { useBusy } from "../../../ui/use-busy";
import { adviseRender } from "../problem-texts";
import { describeOutput } from "./render-choices";
import { ShareDialog } from "./share-dialog";
import { canTryAgain, isOpenRender, type ListedRender, type Renders } from "./use-output";

type RenderListProps = {
  renders: Renders;
  /** Whether a render can be started. */
  canRender: boolean;
  /** Returns a description of the render's source: a cut, or the whole recording. */
  describeSource(cutId: string | null): string;
  /** Opens the dialog for a new render. */
  onRender(): void;
};

type Opened = { kind: "share" | "delete"; render: ListedRender };

/** The rendered files of a recording, newest first. */
export function RenderList({ renders, canRender, describeSource, onRender }: RenderListProps) {
  const [opened, setOpened] = useState<Opened | null>(null);
  const items = renders.items.value;
  const close = () => setOpened(null);
  return (
    <section id="renders" class="panel" aria-labelledby="renders-title" tabIndex={-1}>
      <h2 id="renders-title">Renders</h2>
      {renders.error.value !== null && <ErrorPanel error={renders.error.value} onRetry={() => void renders.reload()} />}
      {items === null && renders.error.value === null && <div class="skeleton skeleton-row" />}
      {items?.length === 0 && (
        <>
          <p class="soft">Nothing has been rendered yet.</p>
          {canWrite.value && (
            <Button class="filled" disabled={!canRender} onClick={onRender}>
              Render…
            </Button>
          )}
        </>
      )}
      <ul class="render-list">
        {items?.map((render) => (
          <RenderRow
            key={render.id}
            render={render}
            name={describeSource(render.cut_id)}
            canWrite={canWrite.value}
            canTryAgain={canTryAgain(render, items)}
            onShare={() => setOpened({ kind: "share", render })}
            onDelete={() => setOpened({ kind: "delete", render })}
            onChange={() => void renders.reload()}
          />
        ))}
      </ul>
      {items !== null && renders.hasMore.value && <Button onClick={() => renders.loadMore()}>Show more</Button>}
      {opened?.kind === "share" && (
        <ShareDialog
          renderId={opened.render.id}
          name={`${describeSource(opened.render.cut_id)} (${opened.render.output.format.toUpperCase()})`}
          onClose={close}
        />
      )}
      {opened?.kind === "delete" && (
        <ConfirmDialog
          title="Delete this file?"
          confirmLabel="Delete file"
          onConfirm={async () => {
            await must(
              api.DELETE("/api/v1/renders/{render_id}", { params: { path: { render_id: opened.render.id } } }),
            );
            await renders.reload();
          }}
          onClose={close}
        >
          <p>
            The file is deleted from the server's disk, and shared links stop working. The recording and its cuts stay.
          </p>
        </ConfirmDialog>
      )}
    </section>
  );
}

type RenderRowProps = {
  render: ListedRender;
  name: string;
  canWrite: boolean;
  canTryAgain: boolean;
  onShare(): void;
  onDelete(): void;
  onChange(): void;
};

function RenderRow({ render, name, canWrite, canTryAgain, onShare, onDelete, onChange }: RenderRowProps) {
  const id = useId();
  const { isBusy, run } = useBusy();
  const params = { path: { render_id: render.id } };
  const download = () => run(() => downloadRender(render.id));
  const tryAgain = () => run(() => renderAgain(render.id).finally(onChange));
  const cancel = () =>
    run(async () => {
      await must(api.POST("/api/v1/renders/{render_id}/cancel", { params }));
      onChange();
    });
  return (
    <li class="render">
      <div class="render-text" id={id}>
        <span class="truncate" title={name}>
          {name}
        </span>
        <span class="soft render-facts">
          <span class="number">
            {describeOutput(render.output)}
            {render.state !== "failed" && render.size_bytes !== null && ` · ${formatBytes(render.size_bytes)}`}
          </span>{" "}
          · <RelativeTime iso={render.completed_at ?? render.created_at} />
        </span>
      </div>
      <div class="render-actions">
        {isOpenRender(render) && canWrite && (
          <Button isBusy={isBusy} aria-describedby={id} onClick={() => void cancel()}>
            Cancel
          </Button>
        )}
        {canTryAgain && (
          <Button icon="retake" isBusy={isBusy} aria-describedby={id} onClick={() => void tryAgain()}>
            Try again
          </Button>
        )}
        {render.state === "completed" && (
          <Button icon="download" isBusy={isBusy} aria-describedby={id} onClick={() => void download()}>
            Download
          </Button>
        )}
        {render.state === "completed" && canWrite && (
          <IconButton icon="link" label="Share" aria-describedby={id} onClick={onShare} />
        )}
        {!isOpenRender(render) && canWrite && (
          <IconButton icon="trash" label="Delete" aria-describedby={id} onClick={onDelete} />
        )}
      </div>
      {render.state !== "completed" && render.state !== "failed" && (
        <span class="render-state">
          <JobStatus state={render.state} />
          {render.state === "processing" && <RenderProgress render={render} name={name} />}
        </span>
      )}
      {render.state === "failed" && (
        <p class="render-problem">
          <Icon name="warning" />
          <span>
            <strong>Failed.</strong> {render.error_message}{" "}
            {adviseRender({ code: render.error_code, message: render.error_message })}
          </span>
        </p>
      )}
      <RenderWarnings warnings={render.warnings} />
    </li>
  );
}

/** Shows the progress of a render and the remaining time. */
function RenderProgress({ render, name }: { render: ListedRender; name: string }) {
  const share = progressOf(render.id).value ?? render.progress ?? 0;
  const time = useMemo(createRemainingTime, [render.id]);
  const seconds = useMemo(() => time.update(render.id, share, performance.now()), [time, share]);
  const percent = formatShare(share);
  return (
    <>
      <progress class="progress" aria-label={`Progress of ${name}`} max={1} value={share} />
      <span class="soft number render-facts">
        {seconds === null ? percent : `${percent} · ${formatRemaining(seconds)}`}
      </span>
    </>
  );
}

/** Warns about unexpected properties of the file. */
const RenderWarnings = ({ warnings }: { warnings: string[] }) =>
  warnings.length === 0 ? null : (
    <ul class="render-warnings">
      {warnings.map((warning) => (
        <li key={warning}>
          <Icon name="warning" />
          <span>{warning}</span>
        </li>
      ))}
    </ul>
  );
