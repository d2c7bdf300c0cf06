import { useState } from "preact/hooks";
import { api, must } from "../../../app/api";
import { canWrite } from "../../../app/session";
import { Button } from "../../../ui/button";
import { ConfirmDialog } from "../../../ui/dialog";
import { ErrorPanel } from "../../../ui/states";
import { RenderRow } from "./render-row";
import { ShareDialog } from "./share-dialog";
import { canTryAgain, type ListedRender, type Renders } from "./use-output";

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
