import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { formatCount } from "../../app/format";
import { workspace } from "../../app/session";
import { Icon } from "../../ui/icon";

const MAX_SHOWN = 5;

/** Prepared recordings that are waiting for credits. Renders nothing without any. */
export function WaitingRecordings() {
  const waiting = useRead(["waiting-recordings", workspace.value?.id], (signal) => {
    const query = { state: "pending_payment" as const, sort: "created_at" as const, limit: 100 };
    return must(api.GET("/api/v1/assets", { params: { query }, signal }));
  });
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
