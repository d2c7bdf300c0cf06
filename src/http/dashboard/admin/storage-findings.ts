/** The weekly check of all files, and the files with a problem, for administrators. */
import { Type } from "@sinclair/typebox";
import { AppError } from "../../../domain/errors";
import { FILE_PROBLEMS } from "../../../domain/states";
import { countOpenFindings, listOpenFindings, type OpenFinding, readCheckTotals } from "../../../store/file-checks";
import {
  FINDING_ACTIONS,
  type FindingAction,
  findOwnerOf,
  listActions,
  resolveFinding,
} from "../../../work/upkeep/file-findings";
import { type Call, ok } from "../../call";
import { oneOf, strictObject, uuidField } from "../../fields";
import { formatTime } from "../../format-time";
import { offsetListRoute } from "../../offset-list-route";
import { respondsWith } from "../../response-docs";
import { route } from "../../route";
import { type Resource, SCHEMAS } from "../../schemas";
import { showRow } from "../../show-row";
import { toCallActor } from "../sign-in-client";
import { ADMIN_ACCESS } from "./access";

export const readChecks = route({
  summary: "Retrieve the number of checked files, and of files with a problem",
  access: ADMIN_ACCESS,
  responses: { 200: respondsWith("StorageChecks", "The state of the weekly check") },
  handle: async ({ services: { store } }) => {
    const [totals, open] = await Promise.all([readCheckTotals(store.read), countOpenFindings(store.read)]);
    return ok({
      files: totals.files,
      open_findings: open,
      last_checked_at: formatTime(totals.lastCheckedAt),
      oldest_checked_at: formatTime(totals.oldestCheckedAt),
    } satisfies Resource<"StorageChecks">);
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

export const list = offsetListRoute({
  summary: "List the files that are missing, changed, untracked or undecodable, newest first",
  access: ADMIN_ACCESS,
  filters: { problem: Type.Optional(oneOf(...FILE_PROBLEMS)) },
  item: "StorageFinding",
  description: "A page of files with a problem that was not accepted",
  read: ({ services }, { filters, ...page }) => listOpenFindings(services.store.read, filters, page),
  show: showFinding,
});

const MAX_IDS = 100;

export const resolve = route({
  summary: "Accept files with a problem as they are, delete or restore them, or delete their recordings and renders",
  access: ADMIN_ACCESS,
  example: { action: "restore", ids: ["01941f29-7c00-7000-8000-000000000000"] },
  body: strictObject({
    action: {
      ...oneOf(...FINDING_ACTIONS),
      description:
        "`delete_file`: deletes an untracked file. `restore`: restores the file from the newest backup with the correct content. `delete_owner`: deletes the recording or render",
    },
    ids: Type.Array(uuidField("a problem"), {
      minItems: 1,
      maxItems: MAX_IDS,
      uniqueItems: true,
      errorText: `must be a list of 1 to ${MAX_IDS} different IDs`,
    }),
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
