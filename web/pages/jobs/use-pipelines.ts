import { api, must } from "../../app/api";
import type { PagedList } from "../../app/cache";
import { useOffsetList } from "../../app/cache";
import type { Pipeline } from "../../app/pipelines";
import { workspace } from "../../app/session";

/** `state` null selects all open or all ended pipelines. */
type PipelineQuery = { isOpen: boolean; state: Pipeline["state"] | null };

/** Loads pipelines of the workspace, newest first. */
export const usePipelines = ({ isOpen, state }: PipelineQuery): PagedList<Pipeline> =>
  useOffsetList<Pipeline>(["pipelines", workspace.value?.id, isOpen, state], (page, signal) => {
    const query = {
      ...page,
      is_open: isOpen ? ("true" as const) : ("false" as const),
      ...(state !== null && { state }),
    };
    return must(api.GET("/api/v1/pipelines", { params: { query }, signal }));
  });
