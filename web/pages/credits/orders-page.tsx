import { api, must, type Schemas } from "../../app/api";
import { useOffsetList } from "../../app/cache";
import { toNumber } from "../../app/english";
import { formatPrice } from "../../app/rare-formats";
import { workspace } from "../../app/session";
import { toLocalAddress } from "../../app/use-query";
import { type Column, DataTable, Truncated } from "../../ui/data-table";
import { Empty } from "../../ui/states";
import { OrderStatus } from "../../ui/status";
import { Time } from "../../ui/time";
import { CreditsFrame } from "../frames";

type Order = Schemas["Order"];

const COLUMNS: Column<Order>[] = [
  {
    title: "Order",
    width: "minmax(0, 2fr)",
    cell: (order) => <Truncated href={toLocalAddress(order.url)} text={order.name} />,
  },
  { title: "State", width: "7rem", cell: ({ state }) => <OrderStatus state={state} /> },
  { title: "Ordered", width: "11rem", cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: "Credits", width: "5rem", isNumber: true, cell: ({ credits }) => toNumber(credits) },
  { title: "Price", width: "11rem", isNumber: true, cell: formatPrice },
];

/** The orders of the workspace, newest first. */
export default function OrdersPage() {
  const list = useOffsetList<Order>(["credits", "orders", workspace.value?.id], (query, signal) =>
    must(api.GET("/api/v1/billing/orders", { params: { query }, signal })),
  );
  return (
    <CreditsFrame title="Orders">
      <DataTable
        caption="Orders"
        columns={COLUMNS}
        list={list}
        empty={<Empty title="No orders yet" icon="credits" link={{ href: "/credits", label: "Buy credits" }} />}
      />
    </CreditsFrame>
  );
}
