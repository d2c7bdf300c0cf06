import { useMemo } from "preact/hooks";
import { createRemainingTime, formatRemaining } from "../../../app/format";
import { progressOf } from "../../../app/live";
import type { ListedRender } from "./use-renders";

/** Shows the progress of a render and the remaining time. */
export function RenderProgress({ render, name }: { render: ListedRender; name: string }) {
  const share = progressOf(render.id).value ?? render.progress ?? 0;
  const time = useMemo(createRemainingTime, [render.id]);
  const seconds = useMemo(() => time.update(render.id, share, performance.now()), [time, share]);
  const percent = `${Math.floor(share * 100)}%`;
  return (
    <>
      <progress class="progress" aria-label={`Progress of ${name}`} max={1} value={share} />
      <span class="soft number render-facts">
        {seconds === null ? percent : `${percent}, ${formatRemaining(seconds)}`}
      </span>
    </>
  );
}
