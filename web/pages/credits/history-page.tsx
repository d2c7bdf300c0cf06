import type { LedgerType } from "../../../src/domain/states";
import { api, must, type Schemas } from "../../app/api";
import { type List, useList } from "../../app/cache";
import { toNumber } from "../../app/english";
import { nameOf } from "../../app/format";
import { mergeNewest } from "../../app/merge-newest";
import { STEP_NAMES } from "../../app/pipelines";
import { saveFile } from "../../app/save-file";
import { workspace } from "../../app/session";
import { isDay, isOneOf, isSearch, toDayStart, useQuery, withoutEmpty } from "../../app/use-query";
import { Button } from "../../ui/button";
import { type Column, DataTable, Truncated } from "../../ui/data-table";
import { DateField, Filter, FilterBar, listChoices, SearchField } from "../../ui/filter-bar";
import { Empty, ErrorMessage } from "../../ui/states";
import { Time } from "../../ui/time";
import { useBusy } from "../../ui/use-busy";
import { CreditsFrame } from "../frames";

const COLUMNS: Column<CreditEntry>[] = [
  { title: "When", width: "12.5rem", cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: "What", width: "minmax(0, 1fr)", cell: nameKind },
  { title: "For", width: "minmax(0, 2fr)", cell: (entry) => <HistorySubject entry={entry} /> },
  {
    title: "Credits",
    width: "7rem",
    isNumber: true,
    cell: ({ delta }) => <span class={delta > 0 ? "delta added" : "delta"}>{formatDelta(delta)}</span>,
  },
];

const KINDS = listChoices<LedgerType>("All kinds", {
  topup: "Purchases",
  grant: "Grants",
  consume_asset: "Preparations",
  consume_step: "Cuts and renders",
  refund: "Refunds",
  adjustment: "Adjustments",
});

const CHECKS = { q: isSearch, type: isOneOf(KINDS), from: isDay, to: isDay };
const NO_FILTER = { q: "", type: "", from: "", to: "" };

/** The additions to and uses of the workspace's credits, newest first. */
export default function HistoryPage() {
  const [filter, change] = useQuery(CHECKS);
  const list = useHistory(filter);
  const isFiltered = Object.values(filter).some((value) => value !== "");
  return (
    <CreditsFrame title="Credit history" actions={<DownloadButton path={toExportPath(toHistoryQuery(filter))} />}>
      <HistoryFilters filter={filter} onChange={change} />
      <DataTable
        caption="Credit history"
        columns={COLUMNS}
        list={list}
        empty={
          isFiltered ? (
            <Empty title="No matching entries" icon="search">
              {filter.from !== "" && filter.to !== "" && filter.from > filter.to && <p>“From” is later than “To”.</p>}
              <Button onClick={() => change(NO_FILTER)}>Show all entries</Button>
            </Empty>
          ) : (
            <Empty
              title="No credits were added or used yet"
              icon="credits"
              link={{ href: "/credits", label: "Buy credits" }}
            >
              <p>Purchases, grants and prepared recordings appear here.</p>
            </Empty>
          )
        }
      />
    </CreditsFrame>
  );
}

const toExportPath = (query: Record<string, string>): string => {
  const search = new URLSearchParams(query).toString();
  return `/api/v1/credits/history/export${search === "" ? "" : `?${search}`}`;
};

/** Downloads all entries that match the filter, not only those shown. */
function DownloadButton({ path }: { path: string }) {
  const { isBusy, error, run } = useBusy({ isShown: true });
  return (
    <>
      <Button
        icon="download"
        isBusy={isBusy}
        title="All entries that match, for spreadsheets"
        onClick={() => void run(() => saveFile(path))}
      >
        Download CSV
      </Button>
      <ErrorMessage error={error} />
    </>
  );
}

type HistoryFiltersProps = { filter: HistoryFilter; onChange(change: Partial<HistoryFilter>): void };

const HistoryFilters = ({ filter, onChange }: HistoryFiltersProps) => (
  <FilterBar>
    <SearchField label="Search recordings and invoices" value={filter.q} onSearch={(q) => onChange({ q })} />
    <Filter label="Kind" value={filter.type} options={KINDS} onChange={(type) => onChange({ type })} />
    <DateField label="From" value={filter.from} onChange={(from) => onChange({ from })} />
    <DateField label="To" value={filter.to} onChange={(to) => onChange({ to })} />
  </FilterBar>
);

/** The purpose of a credit change, with links while its targets exist. */
function HistorySubject({ entry }: { entry: CreditEntry }) {
  const { type, asset, asset_id: assetId, order_id: orderId, description, pipeline_id: pipelineId } = entry;
  if (asset !== null) {
    const name = nameOf(asset);
    return (
      <span class="history-subject">
        <Truncated href={`/assets/${asset.id}`} text={name} />
        {pipelineId !== null && <a href={`/jobs/${pipelineId}`}>Job</a>}
      </span>
    );
  }
  if (pipelineId !== null) return <a href={`/jobs/${pipelineId}`}>Job of a deleted recording</a>;
  if (assetId !== null) return <span class="soft">Deleted recording</span>;
  if (orderId !== null) return <a href={`/orders/${orderId}`}>{description ?? "Order"}</a>;
  if (type === "grant" || type === "adjustment") return <span class="soft">By an administrator</span>;
  return <span class="soft">{entry.payment_invoice_id ?? "–"}</span>;
}

type CreditEntry = Schemas["CreditEntry"];

/**
 * Empty texts do not filter. `from` and `to` are days in the user's time zone, such as `2027-01-31`, both inclusive.
 */
type HistoryFilter = { q: string; type: string; from: string; to: string };

const PAGE_SIZE = 100;

/** Reads the history. New entries appear at the top as they are written. */
function useHistory(filter: HistoryFilter): List<CreditEntry> {
  const filters = toHistoryQuery(filter) as { type?: CreditEntry["type"] };
  return useList<CreditEntry>(
    ["credits", "history", workspace.value?.id, filters],
    (cursor, signal) => {
      const query = { limit: PAGE_SIZE, ...filters, ...(cursor !== null && { cursor }) };
      return must(api.GET("/api/v1/credits/history", { params: { query }, signal }));
    },
    { merge: mergeNewest },
  );
}

/** Returns the query for a filter. A day that does not exist is ignored. */
const toHistoryQuery = ({ q, type, from, to }: HistoryFilter): Record<string, string> =>
  withoutEmpty({ q: q.trim(), type, since: toDayStart(from, 0), until: toDayStart(to, 1) }) as Record<string, string>;

/** Returns the kind of an entry: "Purchase", "Preparation", "Render". */
function nameKind({ type, processor_name: step, payment_invoice_id: invoice }: CreditEntry): string {
  switch (type) {
    case "topup":
      return "Purchase";
    case "grant":
      return "Grant";
    case "consume_asset":
      return "Preparation";
    case "consume_step":
      return step === null ? "Cut or render" : STEP_NAMES[step];
    case "refund":
      return invoice === null ? "Refund of a preparation" : "Refunded purchase";
    default:
      return "Adjustment";
  }
}

/** Returns a change with its sign: `+600`, `−12`. */
const formatDelta = (delta: number): string => (delta > 0 ? `+${toNumber(delta)}` : toNumber(delta).replace("-", "−"));
