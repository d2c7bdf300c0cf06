/** The audit log, for administrators. */
import { Type } from "@sinclair/typebox";
import { parseIsoTime } from "../../../domain/iso-time";
import {
  type AuditEntryWithActor,
  type AuditFilter,
  listAuditEntries,
  listAuditEntriesAfter,
} from "../../../store/audit";
import type { Queries } from "../../../store/db";
import { recordAudit } from "../../../work/audit";
import { streamedDownload } from "../../call";
import { strictObject, textField, timeField, uuidField } from "../../fields";
import { formatTime } from "../../format-time";
import { offsetListRoute } from "../../offset-list-route";
import { respondsWithFile } from "../../response-docs";
import { route } from "../../route";
import type { Resource } from "../../schemas";
import { toCallActor } from "../sign-in-client";
import { ADMIN_ACCESS } from "./access";

const MAX_ACTION_CHARACTERS = 100;

const filters = {
  actor_id: Type.Optional(uuidField("who acted")),
  target_id: Type.Optional(uuidField("what was changed")),
  workspace_id: Type.Optional(uuidField("where it was changed")),
  action: Type.Optional({ ...textField(MAX_ACTION_CHARACTERS), description: "such as `user.disabled`" }),
  since: Type.Optional(timeField("Entries from this time on.")),
  until: Type.Optional(timeField("Entries before this time.")),
};

type AuditQuery = Partial<Record<keyof typeof filters, string>>;

const toAuditFilter = (query: AuditQuery): AuditFilter => ({
  actorId: query.actor_id?.toLowerCase(),
  targetId: query.target_id?.toLowerCase(),
  workspaceId: query.workspace_id?.toLowerCase(),
  action: query.action,
  since: toTime(query.since),
  until: toTime(query.until),
});

const toTime = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : (parseIsoTime(text) ?? undefined);

const showEntry = ({ entry, actorEmail }: AuditEntryWithActor): Resource<"AuditEntry"> => ({
  id: entry.id,
  created_at: formatTime(entry.created_at),
  action: entry.action,
  actor: {
    kind: entry.actor_kind as Resource<"AuditEntry">["actor"]["kind"],
    id: entry.actor_id,
    email: actorEmail,
    credential_id: entry.credential_id,
  },
  target:
    entry.target_kind !== null && entry.target_id !== null ? { kind: entry.target_kind, id: entry.target_id } : null,
  workspace_id: entry.workspace_id,
  address: entry.address,
  request_id: entry.request_id,
  details: entry.details,
});

export const list = offsetListRoute({
  summary: "List the audit log, newest first",
  access: ADMIN_ACCESS,
  filters,
  item: "AuditEntry",
  description: "A page of entries",
  read: ({ services }, { filters: query, ...page }) =>
    listAuditEntries(services.store.read, toAuditFilter(query), page),
  show: (_, entry) => showEntry(entry),
});

export const exportAll = route({
  summary: "Download the audit log as JSON lines, oldest first",
  access: ADMIN_ACCESS,
  query: strictObject(filters),
  responses: { 200: respondsWithFile("One `AuditEntry` a line, `application/x-ndjson`") },
  handle: async (call, { query }) => {
    const { store, now } = call.services;
    const time = now();
    const actor = toCallActor(call);
    await store.write((tx) => recordAudit(tx, actor, { action: "audit_log.exported", target: null }, time));
    return streamedDownload({
      filename: `audit-${formatTime(time).slice(0, 10)}.jsonl`,
      contentType: "application/x-ndjson",
      parts: readJsonLines(store.read, toAuditFilter(query)),
    });
  },
});

/** Entries that are read at a time. */
const ENTRIES_PER_PART = 500;

async function* readJsonLines(db: Queries, filter: AuditFilter): AsyncGenerator<string> {
  let afterId = "";
  for (;;) {
    const entries = await listAuditEntriesAfter(db, filter, { afterId, limit: ENTRIES_PER_PART });
    const last = entries.at(-1);
    if (last === undefined) return;
    yield entries.map((entry) => `${JSON.stringify(showEntry(entry))}\n`).join("");
    afterId = last.entry.id;
  }
}
