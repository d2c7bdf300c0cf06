/** Checks payment settings that depend on each other. */
import { ConfigError } from "./readers";
import type { Config } from "./settings";

type BillingSettings = Pick<Config, "price" | "stripeSecretKey" | "stripeWebhookSecret">;

/** Throws `ConfigError` if settings that belong together are incomplete. */
export function requireCompleteBilling({ price: prices, stripeSecretKey, stripeWebhookSecret }: BillingSettings): void {
  if ((stripeSecretKey === null) !== (stripeWebhookSecret === null))
    throw new ConfigError("stripe_secret_key and stripe_webhook_secret must be set together");
  for (const { id, kind, interval, stripePrice } of prices) {
    const name = `price ${JSON.stringify(id)}`;
    if (kind === "subscription" && interval === null)
      throw new ConfigError(`${name}: a subscription needs an interval, month or year`);
    if (kind === "pack" && interval !== null)
      throw new ConfigError(`${name}: interval is only for kind = "subscription"`);
    if (stripeSecretKey !== null && stripePrice === null)
      throw new ConfigError(`${name}: stripe_price is missing, which stripe_secret_key requires`);
  }
}
