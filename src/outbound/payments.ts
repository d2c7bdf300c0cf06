/** Opens the payment provider of the configuration. */
import type { PaymentGateway } from "../domain/billing";
import type { GatewayTools } from "./stripe";

/** `stripeUrl` null: Stripe's own address. */
type PaymentSettings = { stripeSecretKey: string | null; stripeWebhookSecret: string | null; stripeUrl: string | null };

/** Returns null if no account is configured: the library is large, and not part of a start without one. */
export async function openPayments(settings: PaymentSettings, tools: GatewayTools): Promise<PaymentGateway | null> {
  const { stripeSecretKey: secretKey, stripeWebhookSecret: webhookSecret, stripeUrl: url } = settings;
  if (secretKey === null || webhookSecret === null) return null;
  return (await import("./stripe")).createStripePayments({ secretKey, webhookSecret, url }, tools);
}
