import { useState } from "preact/hooks";
import { api, type Schemas } from "../../../app/api";
import { useRead } from "../../../app/cache";
import { formatCount } from "../../../app/format";
import { formatPrice } from "../../../app/money";
import { showFailure, showToast } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { ConfirmDialog } from "../../../ui/confirm-dialog";
import { RelativeTime } from "../../../ui/relative-time";
import { Section } from "../../../ui/section";
import { ListSkeleton, ResourceView } from "../../../ui/states";
import { mustAdmin } from "../admin-api";
import { UserCell } from "../user-cell";

const MAX_SHOWN = 100;

/** Orders that await approval or rejection by an administrator. */
export function WaitingOrders({ onDecided }: { onDecided(): void }) {
  const waiting = useRead(
    ["admin-waiting-orders"],
    (signal) => {
      const query = { state: "pending" as const, provider: "offline" as const, limit: MAX_SHOWN };
      return mustAdmin(api.GET("/api/v1/admin/orders", { params: { query }, signal }));
    },
    { refreshMs: 15_000 },
  );
  const reload = async () => {
    await waiting.reload();
    onDecided();
  };
  return (
    <ResourceView resource={waiting} skeleton={<ListSkeleton rows={1} />}>
      {({ items, total }) => (
        <Section
          title={total === 0 ? "No orders await a decision" : `${formatCount(total, "order")} awaiting a decision`}
          hint={total === 0 ? "Orders that are paid outside of Offcut appear here." : undefined}
        >
          {items.length > 0 && (
            <ul class="plain-list decisions">
              {items.map((order) => (
                <WaitingOrder key={order.id} order={order} onDecided={reload} />
              ))}
            </ul>
          )}
        </Section>
      )}
    </ResourceView>
  );
}

type WaitingOrderProps = { order: Schemas["AdminOrder"]; onDecided(): Promise<void> };

function WaitingOrder({ order, onDecided }: WaitingOrderProps) {
  const [isBusy, setIsBusy] = useState(false);
  const [isRejecting, setIsRejecting] = useState(false);
  const params = { path: { order_id: order.id } };
  const credits = formatCount(order.credits, "credit");
  const decide = async (call: Promise<Schemas["AdminOrder"]>, done: string) => {
    try {
      await call;
      showToast({ kind: "info", text: done });
    } catch (error) {
      // Another administrator may have decided already. The order is then gone from the list.
      showFailure(error);
    }
    await onDecided();
  };
  const approve = async () => {
    setIsBusy(true);
    const call = mustAdmin(api.POST("/api/v1/admin/orders/{order_id}/approve", { params }));
    await decide(call, `Approved. ${credits} were added.`);
    setIsBusy(false);
  };
  const reject = () =>
    decide(
      mustAdmin(api.POST("/api/v1/admin/orders/{order_id}/reject", { params })),
      "Rejected. No credits were added.",
    );
  return (
    <li class="decision">
      <div class="two-lines">
        <a class="truncate" href={`/orders/${order.id}`} title={order.name} dir="auto">
          {order.name}
        </a>
        <span class="soft">
          {credits}, {formatPrice(order)}, <RelativeTime iso={order.created_at} />
        </span>
      </div>
      <UserCell user={order.created_by} workspace={order.workspace} />
      <div class="toolbar">
        <Button look="primary" isBusy={isBusy} aria-label={`Approve ${order.name}`} onClick={() => void approve()}>
          Approve
        </Button>
        <Button disabled={isBusy} aria-label={`Reject ${order.name}`} onClick={() => setIsRejecting(true)}>
          Reject
        </Button>
      </div>
      {isRejecting && (
        <ConfirmDialog
          title="Reject this order?"
          confirmLabel="Reject order"
          onConfirm={reject}
          onClose={() => setIsRejecting(false)}
        >
          <p>
            {credits} ({formatPrice(order)}) are not added to the workspace of{" "}
            <strong dir="auto">{order.created_by?.email ?? order.workspace?.name ?? "a deleted user"}</strong>. This
            cannot be undone; the user can place a new order.
          </p>
        </ConfirmDialog>
      )}
    </li>
  );
}
