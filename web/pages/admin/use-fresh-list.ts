/** Polls administration lists: other workspaces have no live events. */
import { useRefresh } from "../../app/use-refresh";
import type { OffsetList } from "./use-offset-list";

/** Longer lists are not reloaded: that would burden the server and move rows while they are being read. */
const MAX_ROWS = 300;

/** Reloads the list at an interval, unless it failed or shows many rows. */
export function useFreshList<Item>(list: OffsetList<Item>, intervalMs: number): void {
  useRefresh(() => {
    const count = list.items.value?.length ?? MAX_ROWS;
    if (list.error.value === null && count < MAX_ROWS) void list.reload();
  }, intervalMs);
}
