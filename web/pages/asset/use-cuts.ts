/** Loads the cuts of a recording and the open one. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api, isNotFound, must, type Schemas } from "../../app/api";
import { type Loaded, type Resource, useKept, useRead } from "../../app/cache";
import { runDeletion } from "../../app/query-client";
import { canWrite } from "../../app/session";
import { showToast, type Toast } from "../../app/toasts";
import { isUuid } from "../../app/use-query";
import type { Cut } from "../../editor/state/editor-state";
import { chooseDraft, fetchDraft, recallLocal, type StartDraft } from "./draft-stores";

export type ListedCut = Schemas["Cut"];

/** `cut` is null if the recording has none. */
export type OpenCut = { cut: Cut | null; draft: StartDraft };

const NO_DRAFT: StartDraft = { draft: null, isUnsaved: false, other: null };
const NO_CUT: Loaded<OpenCut> = { kind: "ready", value: { cut: null, draft: NO_DRAFT } };
/** Interval at which an unfinished cut is read. */
const PROGRESS_MS = 1_000;
const MAX_CUTS = 100;

export type Cuts = {
  list: Resource<ListedCut[]>;
  /** The list. If a later read fails, the last successful one stays. */
  items: Loaded<ListedCut[]>;
  openId: string | null;
  /** The open cut. While another one is loading or being made, the previous one stays. */
  open: Loaded<OpenCut>;
  /** The cut that is being made, and is opened after that; null if none is, or the open one is that. */
  awaited: Cut | null;
  /** The version to return to if the awaited cut is a re-cut that was requested on this page; otherwise null. */
  recutOf: string | null;
  /** The awaited cut that has failed, until another one is opened. */
  failed: Cut | null;
  reload(): void;
  /**
   * Opens a cut and adds its ID to the address. `isReplacement`: it takes the place of the open one, which is gone.
   * `recutOf`: the version whose edits the cut keeps.
   */
  choose(cutId: string, isReplacement?: boolean, recutOf?: string): void;
  /** Opens the newest cut other than this one, which was deleted. */
  leave(cutId: string): void;
};

export const fetchCut = (cutId: string, signal?: AbortSignal): Promise<Schemas["CutWithDraft"]> =>
  must(api.GET("/api/v1/cuts/{cut_id}", { params: { path: { cut_id: cutId } }, signal: signal ?? null }));

/** Deletes a cut, which ends its job. Throws `ApiError`. */
export const deleteCut = (cutId: string): Promise<void> =>
  runDeletion(cutId, must(api.DELETE("/api/v1/cuts/{cut_id}", { params: { path: { cut_id: cutId } } })));

const isChanging = ({ state }: Cut): boolean => state === "pending" || state === "processing";

async function loadOpenCut(cutId: string, signal: AbortSignal): Promise<OpenCut> {
  const cut = await fetchCut(cutId, signal);
  const canEdit = cut.state === "completed" && canWrite.value;
  return { cut, draft: canEdit ? await loadDraft(cut, signal) : NO_DRAFT };
}

export async function listCuts(assetId: string, signal?: AbortSignal): Promise<ListedCut[]> {
  const params = { query: { asset_id: assetId, limit: MAX_CUTS } };
  return (await must(api.GET("/api/v1/cuts", { params, signal: signal ?? null }))).items;
}

/** Returns the newest completed cut, or the newest one. Those that are set aside count if all completed ones are. */
function findNewest(cuts: readonly ListedCut[]): ListedCut | undefined {
  const completed = cuts.filter(({ state }) => state === "completed");
  return completed.find(({ is_set_aside: isSetAside }) => !isSetAside) ?? completed[0] ?? cuts[0];
}

export function useCuts(assetId: string, list: Resource<ListedCut[]>): Cuts {
  const { route, query } = useLocation();
  const loaded = list.state.value;
  const items = loaded.kind === "ready" ? loaded.value : null;
  const byDefault = useRef<string | null>(null);
  // The choice stays when somebody creates another cut in the meantime.
  if (items !== null && !items.some(({ id }) => id === byDefault.current))
    byDefault.current = findNewest(items)?.id ?? null;
  const named = (query.cut ?? "").toLowerCase();
  /** False if the cut ID in the address is malformed, as in a truncated link. */
  const isWhole = named === "" || isUuid(named);
  const openId = isWhole && named !== "" ? named : byDefault.current;
  const open = useRead<OpenCut>(
    openId === null ? null : ["cut", openId, "open"],
    (signal) => loadOpenCut(openId!, signal),
    {
      lasts: "visit",
      refreshMs: ({ cut }) => (cut !== null && isChanging(cut) ? PROGRESS_MS : undefined),
    },
  );
  // Without a response, the list of cuts is not known to be empty.
  const state: Loaded<OpenCut> = openId === null && items !== null ? NO_CUT : open.state.value;
  const keptList = useKept(loaded, assetId);
  const leave = (cutId: string) => {
    list.change((known) => known.filter(({ id }) => id !== cutId));
    void list.reload();
    route(`/assets/${assetId}`, true);
  };
  const opened = isWhole ? openId : named;
  const problem = findProblem(state, assetId) ?? (isWhole ? null : UNKNOWN_CUT);
  const opening = state.kind === "ready" ? state.value.cut : null;
  const awaitedId = useRef<string | null>(null);
  const recut = useRef<{ id: string; of: string } | null>(null);
  const [failure, setFailure] = useState<{ cut: Cut; backId: string } | null>(null);
  const hasFailed = opening?.state === "failed" && opening.id === awaitedId.current;
  const isMaking = opening !== null && (isChanging(opening) || hasFailed);
  // The cut of another recording is not kept.
  const kept = useKept<OpenCut>(problem === null && !isMaking ? state : { kind: "loading" }, openId);
  const keptId = kept.kind === "ready" && kept.value.cut?.plan != null ? kept.value.cut.id : null;
  const isKept = isMaking && keptId !== null;
  if (isKept) awaitedId.current = opening.id;
  const recutOf = isKept && canWrite.value && recut.current?.id === opening.id ? recut.current.of : null;
  const shown = isMaking && !isKept ? state : kept;
  useEffect(() => {
    if (!hasFailed || keptId === null) return;
    const backId = recutOf ?? keptId;
    setFailure({ cut: opening, backId });
    route(`/assets/${assetId}?cut=${backId}`, true);
  }, [hasFailed]);
  useEffect(() => {
    if (problem === null) return;
    showToast({ kind: "bad", ...problem });
    leave(opened ?? "");
  }, [problem !== null, opened]);
  return {
    list,
    openId,
    open: problem === null ? shown : { kind: "loading" },
    awaited: isKept ? opening : null,
    recutOf,
    failed: failure?.backId === openId ? failure.cut : null,
    items: keptList,
    reload: () => void open.reload(),
    choose: (cutId, isReplacement = false, of = undefined) => {
      // A re-cut may already have failed at the first read.
      awaitedId.current = of === undefined ? null : cutId;
      setFailure(null);
      if (of !== undefined) recut.current = { id: cutId, of };
      void list.reload();
      route(`/assets/${assetId}?cut=${cutId}`, isReplacement);
    },
    leave,
  };
}

type Problem = Pick<Toast, "text" | "link">;

const UNKNOWN_CUT: Problem = { text: "That cut was not found. It may have been deleted." };

/** Returns why an address does not lead to a cut of the recording, or null. */
function findProblem(state: Loaded<OpenCut>, assetId: string): Problem | null {
  if (state.kind === "failed") return isNotFound(state.error) ? UNKNOWN_CUT : null;
  const cut = state.kind === "ready" ? state.value.cut : null;
  if (cut === null || cut.asset_id === assetId) return null;
  return {
    text: "That cut belongs to another recording.",
    link: { label: "Open it", href: `/assets/${cut.asset_id}?cut=${cut.id}` },
  };
}

type StoredCut = { id: string; draft_revision: number | null };

/** Returns the draft to continue with. If the server does not respond, this is the local draft. */
async function loadDraft({ id, draft_revision }: StoredCut, signal: AbortSignal): Promise<StartDraft> {
  const copies = recallLocal(id);
  try {
    return chooseDraft(draft_revision === null ? null : await fetchDraft(id, signal), copies);
  } catch (error) {
    if (signal.aborted) throw error;
    const [newest = null] = copies;
    return { draft: newest, isUnsaved: newest !== null, other: null };
  }
}
