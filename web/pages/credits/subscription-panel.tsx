import { useState } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import type { Resource } from "../../app/cache";
import { formatDay } from "../../app/format";
import { formatPrice } from "../../app/money";
import { canWrite } from "../../app/session";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { Icon } from "../../ui/icon";
import { Section } from "../../ui/section";
import { ErrorPanel } from "../../ui/states";

type Subscription = Schemas["Subscription"];
type Prices = Schemas["PriceList"];

type SubscriptionPanelProps = { subscription: Resource<Subscription | null>; prices: Resource<Prices> };

/** The current subscription of the workspace. Renders nothing without one. */
export function SubscriptionPanel({ subscription: resource, prices }: SubscriptionPanelProps) {
  const [isEnding, setIsEnding] = useState(false);
  const state = resource.state.value;
  if (state.kind === "failed") return <ErrorPanel message={state.message} onRetry={() => void resource.reload()} />;
  if (state.kind === "loading" || state.value === null) return null;
  const subscription = state.value;
  const canEnd = canWrite.value && !subscription.is_ending && subscription.state !== "incomplete";
  return (
    <Section
      title="Subscription"
      actions={canEnd && <Button onClick={() => setIsEnding(true)}>Cancel subscription</Button>}
    >
      <p>
        <strong dir="auto">{nameSubscription(subscription, prices)}</strong>
      </p>
      {subscription.state === "past_due" ? <FailedPayment /> : <p>{describe(subscription)}</p>}
      {isEnding && (
        <ConfirmDialog
          title="Cancel the subscription?"
          confirmLabel="Cancel subscription"
          closeLabel="Keep subscription"
          onConfirm={async () => {
            await must(api.DELETE("/api/v1/billing/subscription"));
            await resource.reload();
          }}
          onClose={() => setIsEnding(false)}
        >
          <p>{describeEnd(subscription)}</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

const FailedPayment = () => (
  <div class="message bad">
    <Icon name="warning" />
    <p>
      The last payment failed. Stripe will retry it. The credits for this period are added when the payment succeeds.
      Existing credits are kept. <a href="/credits/invoices">Open invoices</a> to pay now or with another card.
    </p>
  </div>
);

/** Returns the configured name and price, or the ID of a price that is no longer sold. */
function nameSubscription({ price_id: id }: Subscription, { state: { value: prices } }: Resource<Prices>): string {
  const price = prices.kind === "ready" ? prices.value.items.find(({ price_id }) => price_id === id) : undefined;
  return price === undefined ? id : `${price.name}, ${formatPrice({ ...price, provider: "stripe" })}`;
}

/** Explains what cancelling means. A failed payment is still owed. */
const describeEnd = (subscription: Subscription): string =>
  subscription.state === "past_due"
    ? `The subscription does not renew${formatEnd(subscription, ": it ends on ")}. Stripe may still collect the failed payment, and its credits are then added. Paid credits stay in the workspace. You can subscribe again at any time.`
    : `You are not charged again, and no credits are added after the paid period${formatEnd(subscription, ", which ends on ")}. Paid credits stay in the workspace. You can subscribe again at any time.`;

/** Returns the last day of the period after `lead`, or "" if it is unknown. */
const formatEnd = ({ current_period_end: end }: Subscription, lead: string): string =>
  end === null ? "" : `${lead}${formatDay(end)}`;

function describe(subscription: Subscription): string {
  if (subscription.is_ending)
    return `It ends${formatEnd(subscription, " on ")}. You are not charged again, and paid credits are kept.`;
  if (subscription.state === "incomplete")
    return "The first payment is not confirmed yet. Credits are added when it is.";
  return `It renews${formatEnd(subscription, " on ")}. Credits are added with each payment.`;
}
