import type { OrderState, PaymentProvider } from "../../../../src/domain/states";
import { api, type Schemas } from "../../../app/api";
import { useOffsetList, useRead } from "../../../app/cache";
import { toNumber } from "../../../app/english";
import { formatCount } from "../../../app/format";
import { formatPrice } from "../../../app/rare-formats";
import { isBilled } from "../../../app/session";
import { showFailure, showToast } from "../../../app/toasts";
import { isOneOf, useQuery, withoutEmpty } from "../../../app/use-query";
import { Button } from "../../../ui/button";
import { type Column, DataTable, Truncated } from "../../../ui/data-table";
import { ConfirmButton } from "../../../ui/dialog";
import { Filter, FilterBar, listChoices } from "../../../ui/filter-bar";
import { NotFoundPage } from "../../../ui/page";
import { Section } from "../../../ui/section";
import { Empty, ListSkeleton, ResourceView } from "../../../ui/states";
import { ORDER_STATUS, OrderStatus } from "../../../ui/status";
import { RelativeTime } from "../../../ui/time";
import { useBusy } from "../../../ui/use-busy";
import { AdminFrame, mustAdmin, UserCell } from "../admin-frame";

type AdminOrder = Schemas["AdminOrder"];

const STATES = listChoices<OrderState>("All states", {
  pending: ORDER_STATUS.pending.text,
  paid: ORDER_STATUS.paid.text,
  rejected: ORDER_STATUS.rejected.text,
  expired: ORDER_STATUS.expired.text,
});
const PROVIDERS = listChoices<PaymentProvider>("All providers", {
  offline: "Approved here",
  stripe: "Stripe",
});

const CHECKS = { state: isOneOf(STATES), provider: isOneOf(PROVIDERS) };

const COLUMNS: Column<AdminOrder>[] = [
  {
    title: "Order",
    width: "minmax(0, 2fr)",
    cell: (order) => <Truncated href={`/orders/${order.id}`} text={order.name} />,
  },
  {
    title: "Ordered by",
    width: "minmax(0, 2fr)",
    cell: (order) => <UserCell user={order.created_by} workspace={order.workspace} />,
  },
  { title: "State", width: "6rem", cell: ({ state }) => <OrderStatus state={state} /> },
  { title: "Ordered", width: "7rem", cell: ({ created_at }) => <RelativeTime iso={created_at} /> },
  { title: "Credits", width: "5rem", isNumber: true, cell: ({ credits }) => toNumber(credits) },
  { title: "Price", width: "11rem", isNumber: true, cell: formatPrice },
];

/** The orders of all workspaces. Orders that await a decision come first. */
export default function OrdersPage() {
  return isBilled.value ? <Orders /> : <NotFoundPage />;
}

function Orders() {
  const [query, change] = useQuery(CHECKS);
  const list = useOffsetList<AdminOrder>(
    ["admin-orders", query],
    (page, signal) => {
      const filters = withoutEmpty(query) as { state?: "pending"; provider?: "offline" };
      return mustAdmin(api.GET("/api/v1/admin/orders", { params: { query: { ...page, ...filters } }, signal }));
    },
    { refreshMs: 15_000 },
  );
  const isFiltered = query.state !== "" || query.provider !== "";
  return (
    <AdminFrame title="Orders">
      <WaitingOrders onDecided={() => void list.reload()} />
      <h2>All orders</h2>
      <FilterBar>
        <Filter label="State" value={query.state} options={STATES} onChange={(state) => change({ state })} />
        <Filter
          label="Provider"
          value={query.provider}
          options={PROVIDERS}
          onChange={(provider) => change({ provider })}
        />
      </FilterBar>
      <DataTable
        caption="All orders"
        columns={COLUMNS}
        list={list}
        empty={
          isFiltered ? (
            <Empty title="No matching orders" icon="search">
              <Button onClick={() => change({ state: "", provider: "" })}>Show all orders</Button>
            </Empty>
          ) : (
            <Empty
              title="Nobody has ordered credits yet"
              icon="credits"
              link={{ href: "/docs", label: "Open the documentation" }}
            >
              <p>
                Orders appear here when users buy credits. Packs and subscriptions are set as <code>[[price]]</code> in
                the configuration file.
              </p>
            </Empty>
          )
        }
      />
    </AdminFrame>
  );
}

const MAX_SHOWN = 100;

/** Orders that await approval or rejection by an administrator. */
function WaitingOrders({ onDecided }: { onDecided(): void }) {
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
          hint={total === 0 ? "Orders that are paid outside Offcut appear here." : undefined}
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
  const { isBusy, run } = useBusy();
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
  const approve = () =>
    run(() => {
      const call = mustAdmin(api.POST("/api/v1/admin/orders/{order_id}/approve", { params }));
      return decide(call, `Approved. ${credits} were added.`);
    });
  const reject = () =>
    decide(
      mustAdmin(api.POST("/api/v1/admin/orders/{order_id}/reject", { params })),
      "Rejected. No credits were added.",
    );
  return (
    <li class="decision">
      <div class="two-lines">
        <Truncated href={`/orders/${order.id}`} text={order.name} />
        <span class="soft">
          {credits}, {formatPrice(order)}, <RelativeTime iso={order.created_at} />
        </span>
      </div>
      <UserCell user={order.created_by} workspace={order.workspace} />
      <div class="toolbar">
        <Button look="primary" isBusy={isBusy} aria-label={`Approve ${order.name}`} onClick={() => void approve()}>
          Approve
        </Button>
        <ConfirmButton
          button={{ disabled: isBusy, "aria-label": `Reject ${order.name}`, children: "Reject" }}
          title="Reject this order?"
          confirmLabel="Reject order"
          onConfirm={reject}
        >
          <p>
            {credits} ({formatPrice(order)}) are not added to the workspace of{" "}
            <strong dir="auto">{order.created_by?.email ?? order.workspace?.name ?? "a deleted user"}</strong>. This
            cannot be undone; the user can place a new order.
          </p>
        </ConfirmButton>
      </div>
    </li>
  );
}
