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
  offline: "is waiting for an administrator's approval",
  stripe: "is not paid yet",
};

/** The newest undecided orders. Renders nothing without any. */
export function PendingOrders() {
  const orders = useResource(
    (signal) => must(api.GET("/api/v1/billing/orders", { params: { query: { limit: 20 } }, signal })),
    [workspace.value?.id],
  );
  useLiveReload(["credits.updated"], orders);
  // A rejection does not change credits, so no event reports it.
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
