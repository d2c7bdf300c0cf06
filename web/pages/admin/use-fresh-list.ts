/** Keeps a list of administration current: there are no live events of other workspaces. */
import { useRefresh } from "../../app/use-refresh";
import type { OffsetList } from "./use-offset-list";

/** Longer lists are not reloaded: it would burden the server, and move the rows that are being read. */
const MAX_ROWS = 300;

/** Reads the list again at an interval, unless it failed or many rows are shown. */
export function useFreshList<Item>(list: OffsetList<Item>, intervalMs: number): void {
  useRefresh(() => {
    const count = list.items.value?.length ?? MAX_ROWS;
    if (list.error.value === null && count < MAX_ROWS) void list.reload();
  }, intervalMs);
}
