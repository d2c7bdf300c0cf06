/** The lists of projects and assets of the dashboard: searched, sorted, and with details. */
import { Type } from "@sinclair/typebox";
import { MAX_SEARCH_CHARACTERS, MAX_TAG_CHARACTERS } from "../../domain/field-limits";
import { oneOf, optional, parseSort, sortField, textField, uuidField } from "../../domain/schema-parts";
import { ASSET_STATES } from "../../domain/states";
import { toSeconds } from "../../domain/time";
import type { Asset } from "../../store/assets";
import type { Queries } from "../../store/db";
import { CUT_FILTERS, type RecordingFacts, readRecordingFacts } from "../../store/library";
import type { SortKey } from "../../store/paging";
import {
  ASSET_SORTS,
  listSortedAssets,
  listSortedProjects,
  PROJECT_SORTS,
  toAssetKey,
  toProjectKey,
} from "../../store/sorted-lists";
import { readProgress } from "../../store/steps";
import { getUploadCutoff } from "../../work/uploads/uploads";
import type { Call } from "../call";
import { listRoute } from "../list-route";
import { showAssetDetail } from "../public/assets";
import { stateFilter } from "../public/projects";
import type { Resource } from "../schemas";
import { formatTime } from "../schemas";
import { type ListedProject, readListedProjects, showListedProject } from "./projects";

const q = Type.Optional(
  Type.String({
    maxLength: MAX_SEARCH_CHARACTERS,
    description: "Only those whose name contains this text, in upper or lower case",
    errorText: `must have at most ${MAX_SEARCH_CHARACTERS} characters`,
  }),
);

const MAX_LIST_IDS = 100;
const UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
const ID_LIST = `^${UUID}(?:,${UUID})*$`;

const idsFilter = (nouns: string) =>
  Type.Optional(
    Type.String({
      maxLength: MAX_LIST_IDS * 37,
      pattern: ID_LIST,
      description: `Returns only the ${nouns} with these IDs. At most ${MAX_LIST_IDS}, separated by commas.`,
      errorText: `must be at most ${MAX_LIST_IDS} IDs, separated by commas`,
    }),
  );
const parseIds = (ids: string | undefined): string[] | null => ids?.toLowerCase().split(",") ?? null;

type SortFilter = { sort?: string; q?: string };
type ProjectSort = (typeof PROJECT_SORTS)[number];
const parseProjectSort = (filters: SortFilter) => parseSort<ProjectSort>(filters.sort, "last_activity_at", true);
type AssetSort = (typeof ASSET_SORTS)[number];
const parseAssetSort = (filters: SortFilter) => parseSort<AssetSort>(filters.sort, "created_at", true);

export const projects = listRoute({
  summary: "List projects with their totals and newest assets, most recently active first",
  filters: {
    state: stateFilter,
    q,
    ids: idsFilter("projects"),
    sort: Type.Optional(sortField(PROJECT_SORTS)),
  },
  item: "ListedProject",
  description: "A page of projects",
  read: async ({ services, principal }, { filters, after, limit }) => {
    const sorting = parseProjectSort(filters as SortFilter);
    const page = await listSortedProjects(services.store.read, principal.workspace.id, {
      ...sorting,
      state: filters.state,
      q: filters.q || null,
      ids: parseIds(filters.ids),
      after,
      limit,
    });
    const listed = await readListedProjects(services.store.read, page.rows);
    return { ...page, rows: listed.map((project) => ({ ...project, sort: sorting.sort })) };
  },
  sortKey: ({ row, sort }: ListedProject & { sort: ProjectSort }): SortKey => toProjectKey(row, sort),
  show: showListedProject,
});

export const assets = listRoute({
  summary: "List assets with details but without download links, newest first",
  filters: {
    project_id: Type.Optional(uuidField("Only assets of this project")),
    state: Type.Optional(oneOf(...ASSET_STATES)),
    q,
    tag: optional(textField(MAX_TAG_CHARACTERS), "Only assets with this tag"),
    created_by: Type.Optional(uuidField("Only assets that this user has added")),
    cut: optional(
      oneOf(...CUT_FILTERS),
      "Only assets by their newest cut: `none` without one, `to_review` with open marks, `reviewed` without open marks",
    ),
    ids: idsFilter("assets"),
    sort: Type.Optional(sortField(ASSET_SORTS)),
  },
  item: "ListedAsset",
  description: "A page of assets. Their links are null",
  read: async ({ services, principal }, { filters, after, limit }) => {
    const sorting = parseAssetSort(filters as SortFilter);
    const page = await listSortedAssets(services.store.read, principal.workspace.id, {
      ...sorting,
      projectId: filters.project_id ?? null,
      state: filters.state ?? null,
      uploads: getUploadCutoff(services.now()),
      q: filters.q || null,
      tag: filters.tag ?? null,
      createdBy: filters.created_by ?? null,
      cut: filters.cut ?? null,
      ids: parseIds(filters.ids),
      after,
      limit,
    });
    const recordings = await readRecordings(services.store.read, principal.workspace.id, page.rows);
    return { ...page, rows: recordings.map((recording) => ({ ...recording, sort: sorting.sort })) };
  },
  sortKey: ({ row, sort }: Recording & { sort: AssetSort }): SortKey => toAssetKey(row, sort),
  show: showRecording,
});

/** `progress`: that of the recordings, cuts and renders of the page, by ID. */
type Recording = { row: Asset; facts: RecordingFacts; progress: ReadonlyMap<string, number> };

/** Reads the fields of these assets that the library shows. */
async function readRecordings(db: Queries, workspaceId: string, rows: Asset[]): Promise<Recording[]> {
  const ids = rows.map(({ id }) => id);
  const found = await readRecordingFacts(db, workspaceId, ids);
  const running = rows.flatMap(({ id, state }) => {
    const { openCut, lastRender } = found.get(id)!;
    return [state === "processing" && id, openCut?.id, lastRender?.completed_at === null && lastRender.id];
  });
  const subjects = running.filter((id) => typeof id === "string");
  const progress = await readProgress(db, subjects);
  return rows.map((row) => ({ row, facts: found.get(row.id)!, progress }));
}

async function showRecording(call: Call, recording: Recording): Promise<Resource<"ListedAsset">> {
  const { row, facts, progress } = recording;
  const { latestCut, openCut, lastRender } = facts;
  const toProgress = (id: string) => progress.get(id) ?? null;
  return {
    ...(await showAssetDetail(call, row, { hasLinks: false, progress: toProgress(row.id) })),
    latest_cut: latestCut && {
      id: latestCut.cut_id,
      kept_duration: latestCut.kept === null ? null : toSeconds(latestCut.kept),
      open_marks: latestCut.open_marks,
    },
    open_cut: openCut && { ...openCut, progress: toProgress(openCut.id) },
    last_render: lastRender && {
      ...lastRender,
      progress: toProgress(lastRender.id),
      completed_at: formatTime(lastRender.completed_at),
    },
  };
}
