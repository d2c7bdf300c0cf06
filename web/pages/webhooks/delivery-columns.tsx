import { toNumber } from "../../app/english";
import { Button } from "../../ui/button";
import type { Column } from "../../ui/data-table";
import { RelativeTime } from "../../ui/relative-time";
import { Status } from "../../ui/status";
import { type Delivery, formatAttempts, toDeliveryLook } from "./webhook-texts";

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

/** Returns the columns of the delivery table. `isEnabled` says whether the endpoint is enabled. */
export const createDeliveryColumns = (
  isEnabled: boolean,
  { onOpen, onResend }: DeliveryActions,
): Column<Delivery>[] => {
  const facts = createFacts(isEnabled, onOpen);
  if (onResend === null) return facts;
  return [
    ...facts,
    {
      title: "Actions",
      isTitleHidden: true,
      width: "7rem",
      cell: (delivery) => {
        const label = delivery.state === "pending" ? "Send now" : "Resend";
        return (
          <Button aria-label={`${label}: ${delivery.event_type} ${delivery.id}`} onClick={() => onResend(delivery)}>
            {label}
          </Button>
        );
      },
    },
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

/** The status of the last response, or why there was none. */
export function DeliveryResponse({ delivery }: { delivery: Delivery }) {
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
