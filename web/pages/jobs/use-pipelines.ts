import { useMemo } from "preact/hooks";
import { api, must } from "../../app/api";
import { toOffsetQuery, toPage } from "../../app/offset-page";
import { type PagedList, usePagedList } from "../../app/pages-of";
import type { Pipeline } from "../../app/pipelines";
import { workspace } from "../../app/session";
import { useLiveReload } from "../../app/use-live-reload";

/** `state` null selects all open or all ended pipelines. */
type PipelineQuery = { isOpen: boolean; state: Pipeline["state"] | null };

/** Above this number of rows, a list is reloaded less often. */
const MANY_ROWS = 300;
const MANY_ROWS_DELAY_MS = 5_000;

/** Loads pipelines of the workspace, newest first, and keeps them current. */
export function usePipelines({ isOpen, state }: PipelineQuery): PagedList<Pipeline> {
  const list = usePagedList<Pipeline>(
    async (cursor, signal) => {
      const query = {
        ...toOffsetQuery(cursor),
        is_open: isOpen ? ("true" as const) : ("false" as const),
        ...(state !== null && { state }),
      };
      return toPage(await must(api.GET("/api/v1/pipelines", { params: { query }, signal })));
    },
    [workspace.value?.id, isOpen, state],
  );
  const paced = useMemo(() => ({ reload: () => reloadPaced(list) }), [list]);
  useLiveReload(["pipeline.updated"], paced);
  return list;
}

async function reloadPaced(list: PagedList<Pipeline>): Promise<void> {
  await list.reload();
  if ((list.items.value?.length ?? 0) > MANY_ROWS)
    await new Promise((resolve) => setTimeout(resolve, MANY_ROWS_DELAY_MS));
}
