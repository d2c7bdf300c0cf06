import { useMemo, useRef, useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { type List, useList, useRead } from "../../app/cache";
import { toNumber } from "../../app/english";
import { formatExactTime } from "../../app/format";
import { mergeNewest } from "../../app/merge-newest";
import { canWrite } from "../../app/session";
import { showFailure, showToast } from "../../app/toasts";
import { Button } from "../../ui/button";
import { CodeBlock } from "../../ui/copy-field";
import { type Column, createActionsColumn, DataTable } from "../../ui/data-table";
import { Dialog, DoneFooter } from "../../ui/dialog";
import { Segments } from "../../ui/filter-bar";
import { type Fact, Facts } from "../../ui/section";
import { Empty, ListSkeleton, ResourceView } from "../../ui/states";
import { Status } from "../../ui/status";
import { RelativeTime } from "../../ui/time";
import { type Delivery, type Endpoint, formatAttempts, toDeliveryLook } from "./webhook-texts";

const FILTERS: { value: DeliveryFilter; label: string; empty: string }[] = [
  { value: "all", label: "All", empty: "No deliveries yet" },
  { value: "failed", label: "Failed", empty: "No failed deliveries" },
  { value: "pending", label: "Waiting", empty: "No deliveries are waiting" },
  { value: "delivered", label: "Delivered", empty: "No completed deliveries" },
];

type DeliveriesSectionProps = {
  endpoint: Endpoint;
  list: List<Delivery>;
  filter: DeliveryFilter;
  onFilter(filter: DeliveryFilter): void;
  /** Sends a test event; null if the user cannot. */
  onTest: (() => void) | null;
};

/** The deliveries of an endpoint. */
export function DeliveriesSection({ endpoint, list, filter, onFilter, onTest }: DeliveriesSectionProps) {
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
        empty={
          <Empty title={FILTERS.find(({ value }) => value === filter)!.empty} icon="webhook">
            {filter === "all" ? (
              <>
                <p>Events appear here when they happen, and stay for 30 days.</p>
                {onTest && <Button onClick={onTest}>Send a test event</Button>}
              </>
            ) : (
              <Button onClick={() => onFilter("all")}>Show all deliveries</Button>
            )}
          </Empty>
        }
      />
      {opened && <DeliveryDialog endpoint={endpoint} delivery={opened} onClose={() => setOpened(null)} />}
    </section>
  );
}

const createFacts = (isEnabled: boolean, onOpen: (delivery: Delivery) => void): Column<Delivery>[] => [
  {
    title: "Event",
    width: "minmax(0, 1.5fr)",
    cell: (delivery) => (
      <span class="stacked">
        <button
          type="button"
          class="link-button mono"
          aria-label={`${delivery.event_type}: details of ${delivery.id}`}
          onClick={() => onOpen(delivery)}
        >
          {delivery.event_type}
        </button>
        <span class="soft mono truncate" title={`webhook-id: ${delivery.id}`}>
          {delivery.id}
        </span>
      </span>
    ),
  },
  {
    title: "State",
    width: "minmax(0, 0.9fr)",
    cell: (delivery) => <DeliveryState delivery={delivery} isEnabled={isEnabled} />,
  },
  { title: "Response", cell: (delivery) => <DeliveryResponse delivery={delivery} /> },
  {
    title: "Attempts",
    width: "5rem",
    cell: ({ attempts }) => (attempts === 0 ? "None yet" : formatAttempts(attempts)),
  },
  {
    title: "Last attempt",
    width: "8rem",
    cell: ({ last_attempt_at: at }) => (at === null ? "None yet" : <RelativeTime iso={at} />),
  },
];

type DeliveryActions = {
  onOpen(delivery: Delivery): void;
  /** If null, the button is hidden. */
  onResend: ((delivery: Delivery) => void) | null;
};

/** Returns the columns of the delivery table. `isEnabled`: whether the endpoint is enabled. */
const createDeliveryColumns = (isEnabled: boolean, { onOpen, onResend }: DeliveryActions): Column<Delivery>[] => {
  const facts = createFacts(isEnabled, onOpen);
  if (onResend === null) return facts;
  return [
    ...facts,
    createActionsColumn("7rem", (delivery) => {
      const label = delivery.state === "pending" ? "Send now" : "Resend";
      return (
        <Button aria-label={`${label}: ${delivery.event_type} ${delivery.id}`} onClick={() => onResend(delivery)}>
          {label}
        </Button>
      );
    }),
  ];
};

function DeliveryState({ delivery, isEnabled }: { delivery: Delivery; isEnabled: boolean }) {
  const { state, next_attempt_at: nextAt } = delivery;
  return (
    <span class="stacked">
      <span>
        <Status {...toDeliveryLook(delivery, isEnabled)} />
      </span>
      {state === "pending" && (
        <span class="soft">{isEnabled ? <NextAttempt at={nextAt} /> : "until the endpoint is enabled"}</span>
      )}
    </span>
  );
}

function NextAttempt({ at }: { at: string | null }) {
  if (at === null || Date.parse(at) <= Date.now()) return <>now</>;
  return (
    <>
      again <RelativeTime iso={at} isFuture />
    </>
  );
}

/** The status of the last response, or the reason for a missing one. */
function DeliveryResponse({ delivery }: { delivery: Delivery }) {
  const { response_status: status, response_milliseconds: milliseconds, error } = delivery;
  if (delivery.last_attempt_at === null) return <>None yet</>;
  return (
    <span class="stacked number">
      <span>
        {status ?? "No response"}
        {milliseconds !== null && <span class="soft"> in {toNumber(milliseconds)} ms</span>}
      </span>
      {error !== null && <span class="soft">{error}</span>}
    </span>
  );
}

type DeliveryDialogProps = { endpoint: Endpoint; delivery: Delivery; onClose(): void };

/** Shows a delivery with its payload. */
function DeliveryDialog({ endpoint, delivery, onClose }: DeliveryDialogProps) {
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

export type DeliveryFilter = Delivery["state"] | "all";

const PAGE_SIZE = 100;
/** Intervals while an attempt is running or due, and otherwise. */
const BUSY_MS = 1_500;
export const IDLE_MS = 8_000;
/** An attempt takes at most 15 s. */
const SOON_MS = 20_000;

/** Reads the deliveries, newest first. */
export function useDeliveries({ id, state }: Endpoint, filter: DeliveryFilter): List<Delivery> {
  const isEnabled = useRef(false);
  isEnabled.current = state === "enabled";
  return useList<Delivery>(
    ["deliveries", id, filter],
    (cursor, signal) => {
      const query = { limit: PAGE_SIZE, cursor: cursor ?? undefined, state: filter === "all" ? undefined : filter };
      const params = { path: { endpoint_id: id }, query };
      return must(api.GET("/api/v1/webhook-endpoints/{endpoint_id}/deliveries", { params, signal }));
    },
    {
      merge: mergeNewest,
      refreshMs: ({ items }) => (isEnabled.current && items.some(isDueSoon) ? BUSY_MS : IDLE_MS),
    },
  );
}

const isDueSoon = ({ state, next_attempt_at: at }: Delivery): boolean =>
  state === "pending" && (at === null || Date.parse(at) - Date.now() < SOON_MS);
