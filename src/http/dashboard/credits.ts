/** The credits of a workspace: balance, holds, and the history as a list and as a file for spreadsheets. */

import { type Static, Type } from "@sinclair/typebox";
import { escapeFormula } from "../../domain/csv";
import { MAX_SEARCH_CHARACTERS } from "../../domain/field-limits";
import { oneOf, optional, strictObject, textField, timeField, toTime } from "../../domain/schema-parts";
import { LEDGER_TYPES } from "../../domain/states";
import {
  type CreditEntry,
  type CreditFilter,
  listCreditEntries,
  listCreditEntriesAfter,
  listHoldsWithAssets,
} from "../../store/credit-history";
import { listHolds, readBalance, readTotalHeld } from "../../store/credits";
import { listSteps } from "../../store/pipelines";
import { ok, streamedDownload } from "../call";
import { listRoute, offsetListRoute } from "../list-route";
import { showLedgerEntry } from "../public/account";
import { respondsWith, respondsWithFile } from "../response-docs";
import { route } from "../route";
import { type CsvColumn, formatCsv, readInBatches } from "../row-export";
import { formatTime, type Resource, SCHEMAS, showRow } from "../schemas";

const holdSchema = SCHEMAS.CreditBalance.properties.holds.items;

export const readCreditBalance = route({
  summary: "Retrieve the credits of the workspace",
  responses: { 200: respondsWith("CreditBalance", "The balance and the active holds") },
  handle: async ({ services: { store }, principal: { workspace } }) => {
    const holds = await listHolds(store.read, workspace.id);
    return ok({
      balance: await readBalance(store.read, workspace.id),
      total_held: await readTotalHeld(store.read, workspace.id),
      holds: holds.map((hold) => showRow(holdSchema, hold, {})),
    } satisfies Resource<"CreditBalance">);
  },
});

export const listActiveHolds = offsetListRoute({
  summary: "List the active holds of the workspace with their pipelines and recordings, oldest first",
  item: "CreditHold",
  description: "A page of holds",
  read: async ({ services: { store }, principal: { workspace } }, { limit, offset }) => {
    const { rows, total } = await listHoldsWithAssets(store.read, workspace.id, { limit, offset });
    const pipelineIds = rows.map(({ hold }) => hold.pipeline_id);
    const steps = await listSteps(store.read, pipelineIds);
    return { rows: rows.map((row) => ({ ...row, steps: steps.get(row.hold.pipeline_id) ?? [] })), total };
  },
  show: (_, { hold, asset, steps }) =>
    showRow(SCHEMAS.CreditHold, hold, { processor_names: steps.map((step) => step.processor_name), asset }),
});

const filters = {
  type: Type.Optional(oneOf(...LEDGER_TYPES)),
  since: Type.Optional(timeField("Entries from this time on.")),
  until: Type.Optional(timeField("Entries before this time.")),
  q: optional(
    textField(MAX_SEARCH_CHARACTERS),
    "Part of a recording's name, of an invoice's ID or of its description, in upper or lower case",
  ),
};

const query = strictObject(filters);

const toFilter = ({ type, since, until, q }: Static<typeof query>): CreditFilter => ({
  type,
  since: toTime(since),
  until: toTime(until),
  q,
});

const showEntry = ({ entry, step, asset, invoice }: CreditEntry): Resource<"CreditEntry"> => ({
  ...showLedgerEntry(entry),
  asset,
  pipeline_id: step?.pipeline_id ?? null,
  processor_name: step?.processor_name ?? null,
  order_id: invoice?.order_id ?? null,
  description: invoice?.description ?? null,
});

export const listHistory = listRoute({
  summary: "List credit transactions with their recordings and invoices, newest first",
  filters,
  limits: { max: 200, default: 50 },
  item: "CreditEntry",
  description: "A page of ledger entries",
  read: ({ services, principal }, input) =>
    listCreditEntries(services.store.read, principal.workspace.id, toFilter(input.filters as Static<typeof query>), {
      afterId: input.after?.[0] ?? null,
      limit: input.limit,
    }),
  sortKey: ({ entry }: CreditEntry): [string] => [entry.id],
  show: (_, entry) => showEntry(entry),
});

export const exportHistory = route({
  summary: "Download credit transactions as CSV, oldest first",
  query,
  responses: { 200: respondsWithFile("`text/csv` with a header line, in UTF-8 with a byte order mark") },
  handle: async ({ services: { store, now }, principal: { workspace } }, { query: given }) =>
    streamedDownload({
      filename: `credits-${formatTime(now()).slice(0, 10)}.csv`,
      contentType: "text/csv; charset=utf-8",
      parts: formatCsv(
        COLUMNS,
        readInBatches((page) => listCreditEntriesAfter(store.read, workspace.id, toFilter(given), page), showEntry),
      ),
    }),
});

const COLUMNS: CsvColumn<Resource<"CreditEntry">>[] = [
  ["created_at", (entry) => entry.created_at],
  ["type", (entry) => entry.type],
  ["delta", (entry) => entry.delta],
  ["recording", (entry) => escapeFormula(entry.asset?.name ?? entry.asset?.filename ?? "")],
  ["step", (entry) => entry.processor_name ?? ""],
  ["description", (entry) => escapeFormula(entry.description ?? "")],
  ["payment_invoice_id", (entry) => escapeFormula(entry.payment_invoice_id ?? "")],
  ["asset_id", (entry) => entry.asset_id ?? entry.asset?.id ?? ""],
  ["pipeline_id", (entry) => entry.pipeline_id ?? ""],
  ["order_id", (entry) => entry.order_id ?? ""],
  ["id", (entry) => entry.id],
];
