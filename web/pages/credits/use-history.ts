/** Loads the credit history. */
import { useMemo } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { toDayStart } from "../../app/day-start";
import { type Page, type PagedList, usePagedList } from "../../app/pages-of";
import { workspace } from "../../app/session";
import { useLiveReload } from "../../app/use-live-reload";
import { withoutEmpty } from "../../app/use-query";

export type CreditEntry = Schemas["CreditEntry"];

/**
 * Empty texts do not filter. `from` and `to` are days in the user's time zone, such as `2027-01-31`, both inclusive.
 */
export type HistoryFilter = { q: string; type: string; from: string; to: string };

const PAGE_SIZE = 100;

/** Reads the history. New entries appear at the top as they are written. */
export function useHistory(filter: HistoryFilter): PagedList<CreditEntry> {
  const query = toHistoryQuery(filter) as { type?: CreditEntry["type"] };
  const read = (cursor: string | null, signal: AbortSignal | null): Promise<Page<CreditEntry>> =>
    must(
      api.GET("/api/v1/credits/history", {
        params: { query: { limit: PAGE_SIZE, ...query, ...(cursor !== null && { cursor }) } },
        signal,
      }),
    );
  const list = usePagedList<CreditEntry>(read, [workspace.value?.id, JSON.stringify(query)]);
  const newest = useMemo(() => ({ reload: () => addNewest(list, () => read(null, null)) }), [list]);
  useLiveReload(["credits.updated"], newest);
  return list;
}

/** Entries never change, so only new ones are read, regardless of the number shown. */
async function addNewest(list: PagedList<CreditEntry>, readFirst: () => Promise<Page<CreditEntry>>): Promise<void> {
  if (list.items.value === null) return list.reload();
  const first = await readFirst().catch(() => null);
  if (first === null) return;
  const known = new Set(list.items.value.map(({ id }) => id));
  const added = first.items.filter(({ id }) => !known.has(id));
  // There is more than one page of new entries, so some in between are missing.
  if (added.length === first.items.length && first.next_cursor !== null) return list.reload();
  if (added.length > 0) list.change((items) => [...added, ...items]);
}

/** Returns the query for a filter. A day that does not exist is ignored. */
export const toHistoryQuery = ({ q, type, from, to }: HistoryFilter): Record<string, string> =>
  withoutEmpty({ q: q.trim(), type, since: toDayStart(from, 0), until: toDayStart(to, 1) }) as Record<string, string>;
