import { api, must } from "../../app/api";
import { useRead } from "../../app/cache";
import { formatExactTime } from "../../app/format";
import { CodeBlock } from "../../ui/code-block";
import { Dialog } from "../../ui/dialog";
import { DoneFooter } from "../../ui/dialog-actions";
import { type Fact, Facts } from "../../ui/facts";
import { ListSkeleton, ResourceView } from "../../ui/states";
import { Status } from "../../ui/status";
import { DeliveryResponse } from "./delivery-columns";
import { type Delivery, type Endpoint, formatAttempts, toDeliveryLook } from "./webhook-texts";

type DeliveryDialogProps = { endpoint: Endpoint; delivery: Delivery; onClose(): void };

/** Shows a delivery with its payload. */
export function DeliveryDialog({ endpoint, delivery, onClose }: DeliveryDialogProps) {
  const detail = useRead(["delivery", endpoint.id, delivery.id], (signal) => {
    const params = { path: { endpoint_id: endpoint.id, delivery_id: delivery.id } };
    const path = "/api/v1/webhook-endpoints/{endpoint_id}/deliveries/{delivery_id}";
    return must(api.GET(path, { params, signal }));
  });
  return (
    <Dialog title={delivery.event_type} isWide onClose={onClose}>
      <div class="dialog-body">
        <ResourceView resource={detail} skeleton={<ListSkeleton rows={3} />}>
          {(shown) => (
            <>
              <Facts facts={listFacts(shown, endpoint.state === "enabled")} />
              <div class="field">
                <span class="label">Payload</span>
                <CodeBlock label="Payload" code={formatPayload(shown.payload)} />
              </div>
            </>
          )}
        </ResourceView>
      </div>
      <DoneFooter onClose={onClose} />
    </Dialog>
  );
}

const formatWhen = (iso: string | null): string => (iso === null ? "None" : formatExactTime(iso));

const listFacts = (delivery: Delivery, isEnabled: boolean): Fact[] => [
  ["State", <Status {...toDeliveryLook(delivery, isEnabled)} />],
  ["Response", <DeliveryResponse delivery={delivery} />],
  ["Attempts", formatAttempts(delivery.attempts)],
  ["Created", formatWhen(delivery.created_at)],
  ["Last attempt", formatWhen(delivery.last_attempt_at)],
  ["Next attempt", isEnabled ? formatWhen(delivery.next_attempt_at) : "None while the endpoint is disabled"],
  ["webhook-id", <span class="mono">{delivery.id}</span>],
];

/** Formats JSON with line breaks for reading. Deliveries contain none. */
const formatPayload = (payload: string): string => JSON.stringify(JSON.parse(payload), null, 2);
