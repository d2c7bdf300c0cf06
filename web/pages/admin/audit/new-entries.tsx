import { useState } from "preact/hooks";
import { api } from "../../../app/api";
import { formatCount } from "../../../app/format";
import { useRefresh } from "../../../app/use-refresh";
import { Button } from "../../../ui/button";
import { mustAdmin } from "../admin-api";
import type { OffsetList } from "../use-offset-list";
import type { AuditEntry } from "./audit-texts";

type NewEntriesProps = {
  list: OffsetList<AuditEntry>;
  filters: Record<string, string | undefined>;
  /** Restarts the list. */
  onShow(): void;
};

const REFRESH_MS = 5_000;
/**
 * Up to this number of rows, new entries are added automatically. Beyond it, a button offers them, so that the rows do
 * not move.
 */
const MAX_LIVE_ROWS = 100;

/** Shows how many entries match. Adds new entries at the top of the list, or offers to. */
export function NewEntries({ list, filters, onShow }: NewEntriesProps) {
  const [added, setAdded] = useState({ list, count: 0 });
  const total = list.total.value;
  const refresh = async () => {
    const shown = list.items.value;
    if (shown === null || list.error.value !== null) return;
    const params = { query: { ...filters, limit: 1 } };
    const latest = await mustAdmin(api.GET("/api/v1/admin/audit", { params })).catch(() => null);
    if (latest === null || latest.total === list.total.value) return;
    if (shown.length <= MAX_LIVE_ROWS) await list.reload();
    else setAdded({ list, count: latest.total - (list.total.value ?? 0) });
  };
  useRefresh(() => void refresh(), REFRESH_MS);
  const count = added.list === list && (list.items.value?.length ?? 0) > MAX_LIVE_ROWS ? added.count : 0;
  return (
    <span class="new-entries" role="status">
      {count > 0 && (
        <Button
          onClick={() => {
            scrollTo(0, 0);
            onShow();
          }}
        >
          Show {formatCount(count, "new entry", "new entries")}
        </Button>
      )}
      <span class="soft">{total !== null && formatCount(total, "entry", "entries")}</span>
    </span>
  );
}
