import { api, must } from "../../app/api";
import { formatCount } from "../../app/format";
import { useResource } from "../../app/resource";
import { workspace } from "../../app/session";
import { useLiveReload } from "../../app/use-live-reload";
import { Icon } from "../../ui/icon";

const MAX_SHOWN = 5;

/** Prepared recordings that are waiting for credits. Renders nothing without any. */
export function WaitingRecordings() {
  const waiting = useResource(
    (signal) =>
      must(
        api.GET("/api/v1/assets", {
          params: { query: { state: "pending_payment", sort: "created_at", limit: 100 } },
          signal,
        }),
      ),
    [workspace.value?.id],
  );
  useLiveReload(["asset.updated", "credits.updated"], waiting);
  const state = waiting.state.value;
  if (state.kind !== "ready" || state.value.items.length === 0) return null;
  const { items, next_cursor: next } = state.value;
  const count =
    next === null ? formatCount(items.length, "recording") : `More than ${formatCount(items.length, "recording")}`;
  return (
    <div class="message warning">
      <Icon name="warning" />
      <div>
        <p>
          {count} {items.length === 1 ? "waits" : "wait"} for credits. When the balance covers the oldest, it is charged
          and ready, then the next.
        </p>
        <ul class="waiting-recordings">
          {items.slice(0, MAX_SHOWN).map(({ id, filename }) => (
            <li key={id} class="truncate">
              <a href={`/assets/${id}`} dir="auto">
                {filename ?? "Unnamed recording"}
              </a>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
