/** Loads the renders of a recording. Live events report changes and progress. */
import { type Signal, useSignal } from "@preact/signals";
import { api, must, type Schemas } from "../../../app/api";
import { type PagedList, useList } from "../../../app/cache";

export type ListedRender = Schemas["RenderDetail"];
export type Renders = PagedList<ListedRender>;

const PAGE_SIZE = 20;

export const isOpenRender = ({ state }: Pick<ListedRender, "state">): boolean =>
  state === "pending" || state === "processing";

/** The renders of the recording, and the open dialog. */
export type Output = { renders: Renders; opened: Signal<"export" | "render" | "share" | null> };

export const useOutput = (assetId: string): Output => ({
  renders: useRenders(assetId),
  opened: useSignal<"export" | "render" | "share" | null>(null),
});

const useRenders = (assetId: string): Renders =>
  useList<ListedRender>(["renders", assetId], (cursor, signal) => {
    const query = { asset_id: assetId, limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) };
    return must(api.GET("/api/v1/renders", { params: { query }, signal }));
  });
