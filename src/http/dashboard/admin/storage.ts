/** What workspaces occupy, and the disk, for administrators. */
import { Type } from "@sinclair/typebox";
import { measureTrash } from "../../../blobs/trash";
import { readDatabaseBytes } from "../../../store/db-size";
import { listStorageByWorkspace, readStorageTotals, type WorkspaceStorage } from "../../../store/storage";
import { type DiskState, readDisk } from "../../../work/health/system-health";
import { findEffectiveQuota } from "../../../work/storage/limits";
import { type Call, ok } from "../../call";
import { MAX_SEARCH_CHARACTERS, textField } from "../../fields";
import { offsetListRoute } from "../../offset-list-route";
import { respondsWith } from "../../response-docs";
import { route } from "../../route";
import type { Resource } from "../../schemas";
import { ADMIN_ACCESS } from "./access";

const showWorkspace = ({ services }: Call, row: WorkspaceStorage): Resource<"WorkspaceStorage"> => ({
  workspace: { id: row.id, name: row.name, is_personal: row.isPersonal },
  owners: row.owners,
  used_bytes: row.sourceBytes + row.derivedBytes + row.renderBytes + row.textBytes,
  source_bytes: row.sourceBytes,
  derived_bytes: row.derivedBytes,
  render_bytes: row.renderBytes,
  text_bytes: row.textBytes,
  storage_quota_bytes: findEffectiveQuota(services, row.quotaBytes),
});

export const list = offsetListRoute({
  summary: "List the storage of each workspace, largest first",
  access: ADMIN_ACCESS,
  filters: {
    q: Type.Optional({
      ...textField(MAX_SEARCH_CHARACTERS),
      description: "part of the name of the workspace or of an owner's email address",
    }),
  },
  item: "WorkspaceStorage",
  description: "A page of workspaces",
  read: ({ services }, { filters, ...page }) => listStorageByWorkspace(services.store.read, filters, page),
  show: showWorkspace,
});

export const readTotals = route({
  summary: "Retrieve the storage of all workspaces by kind, and the free disk space",
  access: ADMIN_ACCESS,
  responses: { 200: respondsWith("StorageTotals", "The totals") },
  handle: async ({ services }) => {
    const { read } = services.store;
    const [totals, disk, databaseBytes, trashBytes] = await Promise.all([
      readStorageTotals(read),
      readDisk(services),
      readDatabaseBytes(read),
      measureTrash(services.folders),
    ]);
    return ok({
      used_bytes: totals.sourceBytes + totals.derivedBytes + totals.renderBytes + totals.textBytes,
      source_bytes: totals.sourceBytes,
      derived_bytes: totals.derivedBytes,
      render_bytes: totals.renderBytes,
      text_bytes: totals.textBytes,
      recordings: totals.recordings,
      renders: totals.renders,
      database_bytes: databaseBytes,
      trash_bytes: trashBytes,
      disk: showDisk(disk),
    } satisfies Resource<"StorageTotals">);
  },
});

export const showDisk = (disk: DiskState): Resource<"SystemHealth">["disk"] => ({
  free_bytes: disk.freeBytes,
  total_bytes: disk.totalBytes,
  reserve_bytes: disk.reserveBytes,
  is_low: disk.isLow,
});
