/**
 * The renders of a recording, and the cut from which files are created. Files are created from stored cuts, so unsaved
 * edits first become a new cut. Live events report changes and progress of renders.
 */

import { type Signal, useSignal } from "@preact/signals";
import { ApiError, api, must, type Schemas } from "../../../app/api";
import { type PagedList, useList } from "../../../app/cache";
import { isPermanent } from "../../../app/pipelines";
import { canWrite } from "../../../app/session";
import { Message } from "../../../ui/states";

/** The note about unsaved edits. */
export const UnsavedNote = () => <Message>Your edits are saved first.</Message>;

export type EditedCut = {
  /** The open cut; null before a cut is open and completed. */
  cutId: string | null;
  isEdited: boolean;
  /** Saves the edits as a cut, opens it and returns its ID; null if that failed. */
  save(): Promise<string | null>;
};

/** Returns the ID of a cut that contains all edits. Throws `ApiError`. */
export async function requireSaved({ cutId, isEdited, save }: EditedCut): Promise<string> {
  const saved = isEdited ? await save() : cutId;
  if (saved === null) throw new ApiError("The edits could not be saved, so no file was created.", "unsaved", 0);
  return saved;
}

export type ListedRender = Schemas["RenderDetail"];
export type Renders = PagedList<ListedRender>;

const PAGE_SIZE = 20;

export const isOpenRender = ({ state }: Pick<ListedRender, "state">): boolean =>
  state === "pending" || state === "processing";

/**
 * Returns whether a failed render may succeed when it is started again, and no later attempt was left to run. `all`:
 * newest first.
 */
export function canTryAgain({ id, state, error_code, cut_id, output }: ListedRender, all: ListedRender[]): boolean {
  const isSame = (one: ListedRender) =>
    one.state !== "cancelled" && one.cut_id === cut_id && JSON.stringify(one.output) === JSON.stringify(output);
  return canWrite.value && state === "failed" && !isPermanent(error_code) && all.find(isSame)?.id === id;
}

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
