/** Opens the configured payment provider. */
import type { PaymentGateway } from "../domain/billing";
import type { GatewayTools } from "./stripe";

/** `stripeUrl` null uses Stripe's own address. */
type PaymentSettings = { stripeSecretKey: string | null; stripeWebhookSecret: string | null; stripeUrl: string | null };

/** Returns null if no account is configured. The library is large, so it is not loaded then. */
export async function openPayments(settings: PaymentSettings, tools: GatewayTools): Promise<PaymentGateway | null> {
  const { stripeSecretKey: secretKey, stripeWebhookSecret: webhookSecret, stripeUrl: url } = settings;
  if (secretKey === null || webhookSecret === null) return null;
  return (await import("./stripe")).createStripePayments({ secretKey, webhookSecret, url }, tools);
}
