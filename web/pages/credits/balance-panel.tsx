import type { Schemas } from "../../app/api";
import { toNumber } from "../../app/english";
import { Icon } from "../../ui/icon";
import { Section } from "../../ui/section";

type Credits = Schemas["CreditBalance"];

const format = (credits: number) => toNumber(credits).replace("-", "−");

/** The available and the reserved credits of the workspace. */
export function BalancePanel({ credits: { balance, total_held: held } }: { credits: Credits }) {
  return (
    <Section title="Balance">
      <dl class="balance">
        <div>
          <dt>Available</dt>
          <dd class={balance < 0 ? "balance-figure negative" : "balance-figure"}>{format(balance)}</dd>
        </div>
        <div>
          <dt>Held for unfinished work</dt>
          <dd>{format(held)}</dd>
        </div>
        <div>
          <dt>Total</dt>
          <dd>{format(balance + held)}</dd>
        </div>
      </dl>
      {balance <= 0 && (
        <div class="message warning">
          <Icon name="warning" />
          <p>{adviseBalance(balance)}</p>
        </div>
      )}
    </Section>
  );
}

/** Explains an empty or negative balance. */
function adviseBalance(balance: number): string {
  if (balance < 0)
    return `Credits that were already used were refunded or removed, so ${format(-balance)} credits are missing. Recordings, cuts and renders that exist are not affected. Recordings cannot be uploaded until the balance is positive.`;
  return "No credits are available. Recordings, cuts and renders that exist are not affected. Recordings cannot be uploaded until credits are added.";
}
