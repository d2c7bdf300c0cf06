import { useMemo, useState } from "preact/hooks";
import { api, must } from "../../app/api";
import type { List } from "../../app/cache";
import { canWrite } from "../../app/session";
import { showFailure, showToast } from "../../app/toasts";
import { DataTable } from "../../ui/data-table";
import { Segments } from "../../ui/segments";
import { Empty } from "../../ui/states";
import { createDeliveryColumns } from "./delivery-columns";
import { DeliveryDialog } from "./delivery-dialog";
import type { DeliveryFilter } from "./use-deliveries";
import type { Delivery, Endpoint } from "./webhook-texts";

const FILTERS: { value: DeliveryFilter; label: string; empty: string }[] = [
  { value: "all", label: "All", empty: "No deliveries yet" },
  { value: "failed", label: "Failed", empty: "No failed deliveries" },
  { value: "pending", label: "Waiting", empty: "No deliveries are waiting" },
  { value: "delivered", label: "Delivered", empty: "Nothing has been delivered yet" },
];

type DeliveriesSectionProps = {
  endpoint: Endpoint;
  list: List<Delivery>;
  filter: DeliveryFilter;
  onFilter(filter: DeliveryFilter): void;
};

/** The deliveries of an endpoint. */
export function DeliveriesSection({ endpoint, list, filter, onFilter }: DeliveriesSectionProps) {
  const [opened, setOpened] = useState<Delivery | null>(null);
  const isEnabled = endpoint.state === "enabled";
  const canResend = canWrite.value && isEnabled;
  const resend = async ({ id }: Delivery) => {
    const params = { path: { endpoint_id: endpoint.id, delivery_id: id } };
    try {
      await must(api.POST("/api/v1/webhook-endpoints/{endpoint_id}/deliveries/{delivery_id}/resend", { params }));
      showToast({ kind: "info", text: "Delivery queued again with the same ID." });
    } catch (error) {
      showFailure(error);
    }
    await list.reload();
  };
  const columns = useMemo(
    () =>
      createDeliveryColumns(isEnabled, {
        onOpen: setOpened,
        onResend: canResend ? (delivery) => void resend(delivery) : null,
      }),
    [isEnabled, canResend, list],
  );
  return (
    <section class="deliveries" aria-labelledby="deliveries-title">
      <div class="section-head">
        <h2 id="deliveries-title">Deliveries</h2>
        <Segments label="State" value={filter} options={FILTERS} onChange={onFilter} />
      </div>
      <DataTable
        caption="Deliveries"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <Empty title={FILTERS.find(({ value }) => value === filter)!.empty} icon="webhook">
            {filter === "all" && <p>Events appear here when they happen, and stay for 30 days.</p>}
          </Empty>
        }
      />
      {opened && <DeliveryDialog endpoint={endpoint} delivery={opened} onClose={() => setOpened(null)} />}
    </section>
  );
}
