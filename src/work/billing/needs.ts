/** Dependencies of orders and subscriptions. */
import type { PaymentGateway } from "../../domain/billing";
import type { CoreNeeds } from "../needs";

export type BillingNeeds = CoreNeeds & {
  /** The payment provider; null for the offline one, whose orders an administrator approves. */
  payments: PaymentGateway | null;
  /** Returns the URL at which clients reach this server, without a trailing slash. */
  publicUrl(): string;
};
