import { api, must, type Schemas } from "../../app/api";
import { formatCount } from "../../app/format";
import { toLocalAddress } from "../../app/local-address";
import { formatPrice } from "../../app/money";
import { useResource } from "../../app/resource";
import { workspace } from "../../app/session";
import { useLiveReload } from "../../app/use-live-reload";
import { useRefresh } from "../../app/use-refresh";
import { Icon } from "../../ui/icon";

const REFRESH_MS = 30_000;

const WAITS_FOR: Record<Schemas["Order"]["provider"], string> = {
  offline: "waits until an administrator approves it",
  stripe: "is not paid yet",
};

/** The newest orders that are not decided. Nothing if there are none. */
export function PendingOrders() {
  const orders = useResource(
    (signal) => must(api.GET("/api/v1/billing/orders", { params: { query: { limit: 20 } }, signal })),
    [workspace.value?.id],
  );
  useLiveReload(["credits.updated"], orders);
  // A rejected order changes no credits.
  useRefresh(() => void orders.reload(), REFRESH_MS);
  const state = orders.state.value;
  const pending = state.kind === "ready" ? state.value.items.filter((order) => order.state === "pending") : [];
  if (pending.length === 0) return null;
  return (
    <ul class="pending-orders">
      {pending.map((order) => (
        <li key={order.id} class="message">
          <Icon name="info" />
          <p>
            The order “<bdi>{order.name}</bdi>” ({formatCount(order.credits, "credit")}, {formatPrice(order)}){" "}
            {WAITS_FOR[order.provider]}. <a href={toLocalAddress(order.url)}>Open the order</a>
          </p>
        </li>
      ))}
    </ul>
  );
}
