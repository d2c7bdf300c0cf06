/** Actions of administrators on file problems. Each is written to the audit log in the transaction of its change. */
import { moveStrayToTrash } from "../../blobs/trash";
import { conflict, requireFound } from "../../domain/errors";
import type { Queries } from "../../store/db";
import {
  deleteFileChecks,
  type FileCheck,
  findOpenFinding,
  type OpenFinding,
  updateFileCheck,
} from "../../store/file-checks";
import { type AuditActor, recordAudit } from "../access/audit";
import { removeAsset, removeRender } from "../assets/deletion";
import { requireActingAdmin } from "../identity/administrators";
import type { PipelineNeeds } from "../pipelines/pipelines";
import type { FileRestores } from "./file-restores";
import { findOwnerOf, isStillUntracked, toAbsolute } from "./media-files";

/**
 * `accept`: the file stays as it is, and the problem is no longer shown. `delete_file`: of one that no row knows.
 * `restore`: from a backup. `delete_owner`: deletes the recording or the render.
 */
export const FINDING_ACTIONS = ["accept", "delete_file", "restore", "delete_owner"] as const;
export type FindingAction = (typeof FINDING_ACTIONS)[number];

type FindingNeeds = PipelineNeeds & { fileRestores: FileRestores };

export const listActions = ({ problem }: OpenFinding): FindingAction[] =>
  problem === "untracked" ? ["accept", "delete_file"] : ["accept", "restore", "delete_owner"];

/**
 * Performs an action on a problem. `started`: a restore continues in the background. Errors: `not_found`; `conflict` if
 * the problem does not allow the action, or has changed; `forbidden`.
 */
export async function resolveFinding(
  services: FindingNeeds,
  actor: AuditActor,
  action: FindingAction,
  findingId: string,
): Promise<"resolved" | "started"> {
  const { store } = services;
  const finding = requireFound(await findOpenFinding(store.read, findingId), "Problem");
  if (!listActions(finding).includes(action)) throw conflict(`A file that is ${finding.problem} does not allow this.`);
  if (services.fileRestores.isQueued(findingId)) {
    if (action === "restore") return "started";
    throw conflict("File is being restored.");
  }
  switch (action) {
    case "accept":
      await accept(services, actor, findingId);
      return "resolved";
    case "delete_file":
      await deleteUntracked(services, actor, finding);
      return "resolved";
    case "delete_owner":
      await deleteOwner(services, actor, finding);
      return "resolved";
    case "restore":
      await store.write(async (tx) => {
        await requireActingAdmin(tx, actor);
        await updateFileCheck(tx, findingId, { restore_error: null });
      });
      services.fileRestores.start(actor, finding);
      return "started";
  }
}

async function accept({ now, store }: FindingNeeds, actor: AuditActor, findingId: string): Promise<void> {
  await store.write(async (tx) => {
    await requireActingAdmin(tx, actor);
    const finding = requireFound(await findOpenFinding(tx, findingId), "Problem");
    await updateFileCheck(tx, findingId, acceptFound(finding, now()));
    const details = { path: finding.path, problem: finding.problem };
    await recordAudit(tx, actor, { action: "file.accepted", target: findingId, details }, now());
  });
}

/** Changed content is accepted as correct. Other problems remain, but are hidden. */
function acceptFound({ found }: OpenFinding, now: number): Partial<FileCheck> {
  if (found === null || found.sha256 === null) return { accepted_at: now, restore_error: null };
  const solved = { problem: null, detail: null, found: null, found_at: null, restore_error: null };
  return { ...found, ...solved, decoded_at: null };
}

async function deleteUntracked(
  { folders, now, store }: FindingNeeds,
  actor: AuditActor,
  { id, path, bytes }: OpenFinding,
): Promise<void> {
  const absolute = toAbsolute(folders, path);
  if (absolute === null || !(await isStillUntracked(folders, store.read, path, now())))
    throw conflict("File is gone or has changed since it was found. It is checked again.");
  await store.write(async (tx) => {
    await requireActingAdmin(tx, actor);
    await deleteFileChecks(tx, [id]);
    await recordAudit(tx, actor, { action: "file.deleted", target: id, details: { path, bytes } }, now());
  });
  await moveStrayToTrash(folders, absolute, now());
}

async function deleteOwner(services: FindingNeeds, actor: AuditActor, finding: OpenFinding): Promise<void> {
  const { now, store } = services;
  const { path, problem } = finding;
  const owner = await findOwnerOf(store.read, path);
  if (owner === null) throw conflict("Recording was deleted.");
  const onDelete = async (tx: Queries) => {
    await requireActingAdmin(tx, actor);
    const action = owner.kind === "asset" ? "asset.deleted" : "render.deleted";
    await recordAudit(
      tx,
      actor,
      { action, target: owner.id, workspaceId: owner.workspaceId, details: { path, problem } },
      now(),
    );
  };
  if (owner.kind === "asset") await removeAsset(services, owner.id, "administrator", onDelete);
  else await removeRender(services, owner, onDelete);
}
