import { api, type Schemas } from "../../../app/api";
import { useOffsetList } from "../../../app/cache";
import { toNumber } from "../../../app/english";
import { formatPrice } from "../../../app/money";
import { isOneOf, useQuery, withoutEmpty } from "../../../app/use-query";
import { type Column, DataTable } from "../../../ui/data-table";
import { Filter, FilterBar } from "../../../ui/filter-bar";
import { RelativeTime } from "../../../ui/relative-time";
import { Empty } from "../../../ui/states";
import { OrderStatus } from "../../credits/billing-status";
import { mustAdmin } from "../admin-api";
import { AdminFrame } from "../admin-frame";
import { UserCell } from "../user-cell";
import { WaitingOrders } from "./waiting-orders";

type AdminOrder = Schemas["AdminOrder"];

const STATES = [
  { value: "", label: "All states" },
  { value: "pending", label: "Waiting" },
  { value: "paid", label: "Paid" },
  { value: "rejected", label: "Rejected" },
  { value: "expired", label: "Closed" },
];
const PROVIDERS = [
  { value: "", label: "All providers" },
  { value: "offline", label: "Approved here" },
  { value: "stripe", label: "Stripe" },
];

const CHECKS = { state: isOneOf(STATES), provider: isOneOf(PROVIDERS) };

const COLUMNS: Column<AdminOrder>[] = [
  {
    title: "Order",
    width: "minmax(0, 2fr)",
    cell: (order) => (
      <a class="truncate" href={`/orders/${order.id}`} title={order.name} dir="auto">
        {order.name}
      </a>
    ),
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
        rowKey={({ id }) => id}
        empty={
          isFiltered ? (
            <Empty title="No matching orders" icon="search" />
          ) : (
            <Empty title="Nobody has ordered credits yet" icon="credits">
              <p>Add prices to the configuration file as [[price]]. Orders appear here when users buy credits.</p>
            </Empty>
          )
        }
      />
    </AdminFrame>
  );
}
