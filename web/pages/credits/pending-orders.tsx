import { api, must, type Schemas } from "../../app/api";
import { useRead } from "../../app/cache";
import { formatCount } from "../../app/format";
import { toLocalAddress } from "../../app/local-address";
import { formatPrice } from "../../app/money";
import { workspace } from "../../app/session";
import { Icon } from "../../ui/icon";

const WAITS_FOR: Record<Schemas["Order"]["provider"], string> = {
  offline: "is waiting for an administrator's approval",
  stripe: "is not paid yet",
};

/** The newest undecided orders. Renders nothing without any. */
export function PendingOrders() {
  const orders = useRead(
    ["credits", "newest-orders", workspace.value?.id],
    (signal) => must(api.GET("/api/v1/billing/orders", { params: { query: { limit: 20 } }, signal })),
    // A rejection does not change credits, so no event reports it.
    { refreshMs: 30_000 },
  );
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
