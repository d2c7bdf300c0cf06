/** The audit log, for administrators. */

import { Type } from "@sinclair/typebox";
import type { AuditAction } from "../../../domain/audit-actions";
import { escapeFormula } from "../../../domain/csv";
import { MAX_SEARCH_CHARACTERS } from "../../../domain/field-limits";
import { oneOf, optional, strictObject, textField, timeField, toTime, uuidField } from "../../../domain/schema-parts";
import { type AuditFilter, type ListedAuditEntry, listAuditEntries, listAuditEntriesAfter } from "../../../store/audit";
import { recordAudit } from "../../../work/access/audit";
import { streamedDownload } from "../../call";
import { offsetListRoute } from "../../list-route";
import { respondsWithFile } from "../../response-docs";
import { route } from "../../route";
import { type CsvColumn, formatCsv, readInBatches } from "../../row-export";
import { formatTime, type Resource, SCHEMAS, showRow } from "../../schemas";
import { toCallActor } from "../sign-in-client";

const MAX_ACTION_CHARACTERS = 100;

const filters = {
  user: optional(
    textField(MAX_SEARCH_CHARACTERS),
    "part of the email address of the actor, the target, or a user named in the details",
  ),
  actor_id: Type.Optional(uuidField("ID of the actor")),
  target_id: Type.Optional(uuidField("ID of the target")),
  workspace_id: Type.Optional(uuidField("ID of the workspace of the target")),
  action: optional(textField(MAX_ACTION_CHARACTERS), "such as `user.disabled`"),
  since: Type.Optional(timeField("Entries from this time on.")),
  until: Type.Optional(timeField("Entries before this time.")),
};

type AuditQuery = Partial<Record<keyof typeof filters, string>>;

const toAuditFilter = ({ since, until, ...query }: AuditQuery): AuditFilter => ({
  ...query,
  since: toTime(since),
  until: toTime(until),
});

const showEntry = ({ entry, actorEmail, targetName, namedId, namedEmail }: ListedAuditEntry): Resource<"AuditEntry"> =>
  showRow(SCHEMAS.AuditEntry, entry, {
    action: entry.action as AuditAction,
    actor: {
      kind: entry.actor_kind as Resource<"AuditEntry">["actor"]["kind"],
      id: entry.actor_id,
      email: actorEmail,
      credential_id: entry.credential_id,
    },
    target:
      entry.target_kind !== null && entry.target_id !== null
        ? { kind: entry.target_kind, id: entry.target_id, name: targetName }
        : null,
    named_user: namedId === null ? null : { id: namedId, email: namedEmail },
  });

export const list = offsetListRoute({
  summary: "List the audit log, newest first",
  filters,
  item: "AuditEntry",
  description: "A page of entries",
  read: ({ services }, { filters: query, ...page }) =>
    listAuditEntries(services.store.read, toAuditFilter(query), page),
  show: (_, entry) => showEntry(entry),
});

export const exportAll = route({
  summary: "Download the audit log as JSON lines or as CSV, oldest first",
  query: strictObject({
    ...filters,
    format: optional(oneOf("jsonl", "csv"), "by default `jsonl`"),
  }),
  responses: {
    200: respondsWithFile(
      "One `AuditEntry` per line, `application/x-ndjson`; or `text/csv`, in which an apostrophe precedes cells that a spreadsheet would run as formulas",
    ),
  },
  handle: async (call, { query: { format = "jsonl", ...query } }) => {
    const { store, now } = call.services;
    const time = now();
    const actor = toCallActor(call);
    await store.write((tx) => recordAudit(tx, actor, { action: "audit_log.exported", target: null }, time));
    const filter = toAuditFilter(query);
    const entries = readInBatches((page) => listAuditEntriesAfter(store.read, filter, page), showEntry);
    return streamedDownload({
      filename: `audit-${formatTime(time).slice(0, 10)}.${format}`,
      contentType: format === "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson",
      parts: format === "csv" ? formatCsv(CSV_COLUMNS, entries) : formatJsonLines(entries),
    });
  },
});

async function* formatJsonLines(batches: AsyncGenerator<object[]>): AsyncGenerator<string> {
  for await (const entries of batches) yield entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}

const VALUES: [title: string, value: (entry: Resource<"AuditEntry">) => string | null | undefined][] = [
  ["created_at", (entry) => entry.created_at],
  ["action", (entry) => entry.action],
  ["actor_kind", (entry) => entry.actor.kind],
  ["actor_email", (entry) => entry.actor.email],
  ["actor_id", (entry) => entry.actor.id],
  ["credential_id", (entry) => entry.actor.credential_id],
  ["target_kind", (entry) => entry.target?.kind],
  ["target_name", (entry) => entry.target?.name],
  ["target_id", (entry) => entry.target?.id],
  ["workspace_id", (entry) => entry.workspace_id],
  ["address", (entry) => entry.address],
  ["request_id", (entry) => entry.request_id],
  ["details", (entry) => entry.details && JSON.stringify(entry.details)],
  ["id", (entry) => entry.id],
  ["named_user_email", (entry) => entry.named_user?.email],
];

const CSV_COLUMNS = VALUES.map(
  ([title, value]): CsvColumn<Resource<"AuditEntry">> => [title, (entry) => escapeFormula(value(entry) ?? "")],
);
