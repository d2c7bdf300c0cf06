/** A fresh database with the schema, and helpers that insert rows. */
import { join } from "node:path";
import type { WorkspaceRole } from "../../../src/domain/access";
import type { JobName } from "../../../src/domain/jobs";
import { newId } from "../../../src/lib/ids";
import { type Asset, insertAsset, type NewAsset } from "../../../src/store/assets";
import { insertLedgerEntry } from "../../../src/store/credits";
import type { Queries, Store } from "../../../src/store/db";
import { insertPipeline } from "../../../src/store/pipelines";
import { insertProject } from "../../../src/store/projects";
import { insertUser } from "../../../src/store/users";
import { insertMember } from "../../../src/store/workspaces";
import { createMigratedStore } from "../../migrated-database";
import { temporaryFolder } from "../../temporary-folder";

export type TestStore = AsyncDisposable & { store: Store; folder: string };

/** Opens a store: `await using fresh = await freshStore()`. */
export async function freshStore(): Promise<TestStore> {
  const folder = await temporaryFolder();
  const store = await createMigratedStore(join(folder.path, "test.db"));
  return {
    store,
    folder: folder.path,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Inserts an account and a project in its personal workspace. */
export async function addUser(tx: Queries): Promise<{ userId: string; workspaceId: string; projectId: string }> {
  const userId = newId();
  const projectId = newId();
  await insertUser(tx, { id: userId, email: `${userId}@example.test`, created_at: 0 });
  await insertProject(tx, {
    id: projectId,
    workspace_id: userId,
    created_by: userId,
    name: "Project",
    state: "active",
    archived_at: null,
    created_at: 0,
    updated_at: 0,
    last_activity_at: 0,
  });
  return { userId, workspaceId: userId, projectId };
}

/** Adds a user to a workspace. */
export const addMember = (tx: Queries, workspaceId: string, userId: string, role: WorkspaceRole) =>
  insertMember(tx, { workspace_id: workspaceId, user_id: userId, role, created_at: 0 });

/** Grants credits to a workspace. */
export async function grantWorkspace(tx: Queries, workspaceId: string, credits: number): Promise<void> {
  await insertLedgerEntry(tx, { id: newId(), workspace_id: workspaceId, type: "grant", delta: credits, created_at: 0 });
}

/** Inserts an asset, in preparation by default. */
export function addAsset(
  tx: Queries,
  owner: { workspaceId: string; projectId: string },
  change: Partial<NewAsset> = {},
): Promise<Asset> {
  return insertAsset(tx, {
    id: newId(),
    workspace_id: owner.workspaceId,
    project_id: owner.projectId,
    kind: "source",
    state: "processing",
    upload_length: 1000,
    upload_active_at: 0,
    payment: "none",
    created_at: 0,
    ...change,
  });
}

type StepOptions = { workspaceId: string; name?: JobName; subjectId?: string; runAfter?: number };

/** Inserts a pipeline with one pending step. */
export async function addStep(tx: Queries, options: StepOptions): Promise<{ stepId: string; pipelineId: string }> {
  const stepId = newId();
  const pipelineId = newId();
  await insertPipeline(tx, { id: pipelineId, workspace_id: options.workspaceId, state: "pending", created_at: 0 }, [
    {
      id: stepId,
      pipeline_id: pipelineId,
      workspace_id: options.workspaceId,
      step_order: 0,
      processor_name: options.name ?? "render",
      state: "pending",
      subject_id: options.subjectId ?? newId(),
      run_after: options.runAfter ?? 0,
      created_at: 0,
    },
  ]);
  return { stepId, pipelineId };
}
