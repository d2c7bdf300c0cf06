/** Loads the credit history. */
import { api, must, type Schemas } from "../../app/api";
import { type List, useList } from "../../app/cache";
import { toDayStart } from "../../app/day-start";
import { mergeNewest } from "../../app/merge-newest";
import { workspace } from "../../app/session";
import { withoutEmpty } from "../../app/use-query";

export type CreditEntry = Schemas["CreditEntry"];

/**
 * Empty texts do not filter. `from` and `to` are days in the user's time zone, such as `2027-01-31`, both inclusive.
 */
export type HistoryFilter = { q: string; type: string; from: string; to: string };

const PAGE_SIZE = 100;

/** Reads the history. New entries appear at the top as they are written. */
export function useHistory(filter: HistoryFilter): List<CreditEntry> {
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
export const toHistoryQuery = ({ q, type, from, to }: HistoryFilter): Record<string, string> =>
  withoutEmpty({ q: q.trim(), type, since: toDayStart(from, 0), until: toDayStart(to, 1) }) as Record<string, string>;
