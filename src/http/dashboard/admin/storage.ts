/** Storage of workspaces, the disk, and the weekly check of all files, for administrators. */

import { Type } from "@sinclair/typebox";
import { measureTrash } from "../../../blobs/trash";
import { AppError } from "../../../domain/errors";
import { MAX_RESOLVED_FINDINGS, MAX_SEARCH_CHARACTERS } from "../../../domain/field-limits";
import { listField, oneOf, optional, strictObject, textField, uuidField } from "../../../domain/schema-parts";
import { FILE_PROBLEMS } from "../../../domain/states";
import { countOpenFindings, listOpenFindings, type OpenFinding, readCheckTotals } from "../../../store/file-checks";
import {
  listStorageByWorkspace,
  readDatabaseBytes,
  readStorageTotals,
  type WorkspaceStorage,
} from "../../../store/storage";
import { type DiskState, readDisk } from "../../../work/health/system-health";
import { findEffectiveQuota } from "../../../work/storage/limits";
import { FINDING_ACTIONS, type FindingAction, listActions, resolveFinding } from "../../../work/upkeep/file-findings";
import { findOwnerOf } from "../../../work/upkeep/media-files";
import { type Call, ok } from "../../call";
import { offsetListRoute } from "../../list-route";
import { respondsWith } from "../../response-docs";
import { route } from "../../route";
import { type Resource, SCHEMAS, showRow } from "../../schemas";
import { toCallActor } from "../sign-in-client";

const showWorkspace = ({ services }: Call, row: WorkspaceStorage): Resource<"WorkspaceStorage"> =>
  showRow(SCHEMAS.WorkspaceStorage, row, {
    workspace: { id: row.id, name: row.name, is_personal: row.isPersonal },
    used_bytes: row.sourceBytes + row.derivedBytes + row.renderBytes + row.textBytes,
    storage_quota_bytes: findEffectiveQuota(services, row.quotaBytes),
  });

export const list = offsetListRoute({
  summary: "List the storage of each workspace, largest first",
  filters: {
    q: optional(textField(MAX_SEARCH_CHARACTERS), "part of the name of the workspace or of an owner's email address"),
  },
  item: "WorkspaceStorage",
  description: "A page of workspaces",
  read: ({ services }, { filters, ...page }) => listStorageByWorkspace(services.store.read, filters, page),
  show: showWorkspace,
});

export const readTotals = route({
  summary: "Retrieve the storage of all workspaces by kind, and the free disk space",
  responses: { 200: respondsWith("StorageTotals", "The totals") },
  handle: async ({ services }) => {
    const { read } = services.store;
    const [totals, disk, databaseBytes, trashBytes] = await Promise.all([
      readStorageTotals(read),
      readDisk(services),
      readDatabaseBytes(read),
      measureTrash(services.folders),
    ]);
    const shown = showRow(SCHEMAS.StorageTotals, totals, {
      used_bytes: totals.sourceBytes + totals.derivedBytes + totals.renderBytes + totals.textBytes,
      database_bytes: databaseBytes,
      trash_bytes: trashBytes,
      disk: showDisk(disk),
    });
    return ok(shown);
  },
});

export const showDisk = (disk: DiskState): Resource<"SystemHealth">["disk"] =>
  showRow(SCHEMAS.SystemHealth.properties.disk, disk, {});

export const readChecks = route({
  summary: "Retrieve the number of checked files, and of files with a problem",
  responses: { 200: respondsWith("StorageChecks", "The state of the weekly check") },
  handle: async ({ services: { store } }) => {
    const [totals, open] = await Promise.all([readCheckTotals(store.read), countOpenFindings(store.read)]);
    return ok(showRow(SCHEMAS.StorageChecks, totals, { open_findings: open }));
  },
});

async function showFinding({ services }: Call, finding: OpenFinding): Promise<Resource<"StorageFinding">> {
  const owner = await findOwnerOf(services.store.read, finding.path);
  return showRow(SCHEMAS.StorageFinding, finding, {
    detail: finding.detail ?? "",
    owner: owner && { kind: owner.kind, id: owner.id, name: owner.label, workspace_id: owner.workspaceId },
    actions: listActions(finding),
    is_being_restored: services.fileRestores.isQueued(finding.id),
  });
}

export const listFindings = offsetListRoute({
  summary: "List the files that are missing, changed, untracked or undecodable, newest first",
  filters: { problem: Type.Optional(oneOf(...FILE_PROBLEMS)) },
  item: "StorageFinding",
  description: "A page of files with a problem that was not accepted",
  read: ({ services }, { filters, ...page }) => listOpenFindings(services.store.read, filters, page),
  show: showFinding,
});

export const resolveFindings = route({
  summary: "Accept files with a problem as they are, delete or restore them, or delete their recordings and renders",
  example: { action: "restore", ids: ["01941f29-7c00-7000-8000-000000000000"] },
  body: strictObject({
    action: {
      ...oneOf(...FINDING_ACTIONS),
      description:
        "`delete_file`: deletes an untracked file. `restore`: restores the file from the newest backup with the correct content. `delete_owner`: deletes the recording or render",
    },
    ids: { ...listField(uuidField("a problem"), 1, MAX_RESOLVED_FINDINGS, "different IDs"), uniqueItems: true },
  }),
  responses: { 200: respondsWith("ResolvedFindings", "The result of each, in the order of the request") },
  handle: async (call, { body }) => {
    const items: Resource<"ResolvedFindings">["items"] = [];
    for (const id of body.ids) items.push(await resolveOne(call, body.action, id));
    return ok({ items } satisfies Resource<"ResolvedFindings">);
  },
});

async function resolveOne(
  call: Call,
  action: FindingAction,
  id: string,
): Promise<Resource<"ResolvedFindings">["items"][0]> {
  try {
    const state = await resolveFinding(call.services, toCallActor(call), action, id.toLowerCase());
    return { id, state, error: null };
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "forbidden") throw error;
    return { id, state: "failed", error: error.message };
  }
}
