import { useEffect } from "preact/hooks";
import { api } from "../../../app/api";
import { type List, useRead } from "../../../app/cache";
import { formatCount } from "../../../app/format";
import { Button } from "../../../ui/button";
import { mustAdmin } from "../admin-api";
import type { AuditEntry } from "./audit-texts";

type NewEntriesProps = {
  list: List<AuditEntry, { total: number }>;
  filters: Record<string, string | undefined>;
  /** Restarts the list. */
  onShow(): void;
};

/**
 * Up to this number of rows, new entries are added automatically. Beyond it, a button offers them, so that the rows do
 * not move.
 */
const MAX_LIVE_ROWS = 100;

/** Shows how many entries match. Adds new entries at the top of the list, or offers to. */
export function NewEntries({ list, filters, onShow }: NewEntriesProps) {
  const total = list.first.value?.total ?? null;
  const count = useRead(
    ["admin-audit-count", filters],
    (signal) => mustAdmin(api.GET("/api/v1/admin/audit", { params: { query: { ...filters, limit: 1 } }, signal })),
    { refreshMs: 5_000 },
  ).state.value;
  const rows = list.items.value?.length ?? 0;
  const added = count.kind === "ready" && total !== null ? count.value.total - total : 0;
  const isLive = rows <= MAX_LIVE_ROWS;
  useEffect(() => {
    if (added !== 0 && isLive && list.error.peek() === null) void list.reload();
  }, [added, isLive]);
  return (
    <span class="new-entries" role="status">
      {added > 0 && !isLive && (
        <Button
          onClick={() => {
            scrollTo(0, 0);
            onShow();
          }}
        >
          Show {formatCount(added, "new entry", "new entries")}
        </Button>
      )}
      <span class="soft">{total !== null && formatCount(total, "entry", "entries")}</span>
    </span>
  );
}
