import { useId, useMemo } from "preact/hooks";
import { api, must } from "../../../app/api";
import { downloadRender, renderAgain } from "../../../app/ended-render";
import { formatBytes, formatRemaining, formatShare } from "../../../app/format";
import { progressOf } from "../../../app/live";
import { createRemainingTime } from "../../../app/rare-formats";
import { Button, IconButton } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { JobStatus } from "../../../ui/status";
import { RelativeTime } from "../../../ui/time";
import { useBusy } from "../../../ui/use-busy";
import { adviseRender } from "../problem-texts";
import { describeOutput } from "./render-choices";
import { isOpenRender, type ListedRender } from "./use-output";

type RenderRowProps = {
  render: ListedRender;
  name: string;
  canWrite: boolean;
  canTryAgain: boolean;
  onShare(): void;
  onDelete(): void;
  onChange(): void;
};

export function RenderRow({ render, name, canWrite, canTryAgain, onShare, onDelete, onChange }: RenderRowProps) {
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
