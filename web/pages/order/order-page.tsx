import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { ApiError, api, must, type Schemas } from "../../app/api";
import { chooseWorkspace, type Workspace } from "../../app/session";
import { isUuid } from "../../app/use-query";
import { Button } from "../../ui/button";
import { Facts } from "../../ui/facts";
import { Form } from "../../ui/form";
import { Page } from "../../ui/page";
import { Empty, ErrorPanel, ListSkeleton } from "../../ui/states";
import { OrderStatus } from "../credits/billing-status";
import { Missing } from "../missing";
import { OrderActions } from "./order-actions";
import { listOrderFacts, NEXT_STEPS, TITLES } from "./order-texts";
import { findOrderWorkspace, type ShownOrder, useOrder } from "./use-order";

type AdminOrder = Schemas["AdminOrder"];

/** Shows an order of credits, and its approval for administrators. The payment provider redirects here. */
export default function OrderPage() {
  const { params, query } = useRoute();
  const { route } = useLocation();
  const orderId = params.orderId ?? "";
  const workspaceId = isUuid(query.workspace_id ?? "") ? query.workspace_id : undefined;
  const loaded = useOrder(orderId, workspaceId);
  const [decided, setDecided] = useState<AdminOrder | null>(null);
  const state = loaded.state.value;
  if (state.kind === "loading") return <ListSkeleton />;
  if (state.kind === "failed") {
    const isMissing = state.error instanceof ApiError && [404, 422].includes(state.error.status);
    if (!isMissing) return <ErrorPanel message={state.message} onRetry={() => void loaded.reload()} />;
    // The address names the order's workspace, so that the current workspace does not change.
    const open = ({ id }: Workspace) => route(`/orders/${orderId}?workspace_id=${id}`, true);
    return (
      <Missing id={orderId} from={findOrderWorkspace(workspaceId)?.id} onFound={open}>
        <Page title="Order not found">
          <Empty title="The order does not exist, or you do not have access to it" icon="search">
            <a class="button" href="/credits/orders">
              All orders
            </a>
          </Empty>
        </Page>
      </Missing>
    );
  }
  const shown: ShownOrder = decided?.id === orderId ? { order: decided, administered: decided } : state.value;
  const { order, administered } = shown;
  const isPending = order.state === "pending";
  // This may be another user's order. Without a workspace in the address, `findOrderWorkspace` returns the personal
  // one.
  const own = findOrderWorkspace(workspaceId);
  const isAsAdmin = administered !== null && administered.workspace?.id !== own?.id;
  // The credits pages always show the current workspace.
  const showWorkspace = () => own && chooseWorkspace(own.id);
  return (
    <Page title={TITLES[order.state]} actions={<OrderStatus state={order.state} />}>
      <p>
        {isAsAdmin ? (
          <a href="/admin/orders">All orders</a>
        ) : (
          <a href="/credits/orders" onClick={showWorkspace}>
            All orders
          </a>
        )}
      </p>
      <section class="card order" aria-label="Details">
        <Facts facts={listOrderFacts(shown)} />
        <p role="status">{NEXT_STEPS[order.provider][order.state]}</p>
        {isPending && administered !== null && order.provider === "offline" && (
          <OrderDecision orderId={order.id} onDecided={setDecided} />
        )}
        {isPending && !isAsAdmin && own !== undefined && own.role !== "viewer" && (
          <OrderActions order={order} workspaceId={workspaceId} onChanged={() => loaded.reload()} />
        )}
        {!isPending && !isAsAdmin && (
          <p>
            <a href="/credits" onClick={showWorkspace}>
              Open credits
            </a>
          </p>
        )}
      </section>
    </Page>
  );
}

type OrderDecisionProps = { orderId: string; onDecided(order: Schemas["AdminOrder"]): void };

/** Two separate forms, so that each shows its own error. */
function OrderDecision({ orderId, onDecided }: OrderDecisionProps) {
  const params = { path: { order_id: orderId } };
  return (
    <>
      <Form onSend={async () => onDecided(await must(api.POST("/api/v1/admin/orders/{order_id}/approve", { params })))}>
        {({ isSending }) => (
          <Button look="primary" type="submit" isBusy={isSending}>
            Approve
          </Button>
        )}
      </Form>
      <Form onSend={async () => onDecided(await must(api.POST("/api/v1/admin/orders/{order_id}/reject", { params })))}>
        {({ isSending }) => (
          <Button type="submit" isBusy={isSending}>
            Reject
          </Button>
        )}
      </Form>
    </>
  );
}
