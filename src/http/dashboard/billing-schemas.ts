/** The schemas of prices, orders, invoices, subscriptions and the balance. */

import { Type } from "@sinclair/typebox";
import { BILLING_MODES } from "../../domain/billing";
import { JOB_NAMES } from "../../domain/jobs";
import { enumeration, id, integer, link, orNull, strictObject, text, time } from "../../domain/schema-parts";
import {
  INVOICE_STATES,
  LEDGER_TYPES,
  ORDER_STATES,
  PAYMENT_PROVIDERS,
  PRICE_INTERVALS,
  PRICE_KINDS,
  SUBSCRIPTION_STATES,
} from "../../domain/states";

const amount = Type.Integer({ description: "in the currency's smallest unit" });
const currency = Type.String({ description: "ISO 4217, lower case" });

const orderFields = {
  id,
  price_id: text,
  name: Type.String({ description: "name of the price at the time of the order" }),
  kind: enumeration(PRICE_KINDS),
  credits: integer,
  amount,
  currency,
  interval: orNull(enumeration(PRICE_INTERVALS)),
  provider: enumeration(PAYMENT_PROVIDERS),
  state: enumeration(ORDER_STATES, "`expired`: the checkout was not completed, or the order was cancelled"),
  url: link("the page of the order"),
  created_at: time,
  decided_at: orNull(time, "when the order was paid, rejected or expired"),
};

const subscription = strictObject({
  id,
  price_id: text,
  state: enumeration(
    SUBSCRIPTION_STATES,
    "`incomplete`: the first payment is open; `past_due`: the last payment failed and will be retried",
  ),
  current_period_end: orNull(time),
  is_ending: Type.Boolean({ description: "whether it ends with its paid period" }),
  created_at: time,
  ended_at: orNull(time),
});

const price = strictObject({
  price_id: text,
  name: text,
  kind: enumeration(PRICE_KINDS),
  credits: Type.Integer({ description: "for a subscription, added with each paid period" }),
  amount,
  currency,
  interval: orNull(enumeration(PRICE_INTERVALS), "null for a pack"),
});

const namedAsset = (description: string) =>
  orNull(
    strictObject({
      id,
      name: orNull(text, "null if the recording was not renamed; use `filename`"),
      filename: orNull(text),
    }),
    description,
  );

const payableSteps = enumeration(JOB_NAMES);

export const BILLING_SCHEMAS = {
  Billing: strictObject({
    mode: enumeration(BILLING_MODES, "whether recordings, cuts and renders cost credits"),
    is_configured: Type.Boolean({ description: "false: setup can choose the mode" }),
  }),
  PriceList: strictObject({
    items: Type.Array(price),
    provider: enumeration(PAYMENT_PROVIDERS, "`offline`: an administrator approves each order"),
  }),
  Checkout: strictObject({ url: link("page where the user pays or tracks the order") }),
  Order: strictObject(orderFields),
  AdminOrder: strictObject({
    ...orderFields,
    workspace: orNull(strictObject({ id, name: text }), "null if the workspace was deleted"),
    created_by: orNull(strictObject({ id, email: text }), "null if the account was purged"),
    decided_by: orNull(id, "ID of the administrator; random once that account is purged"),
  }),
  Invoice: strictObject({
    id,
    payment_invoice_id: Type.String({ description: "the provider's ID, as in the credit history" }),
    order_id: orNull(id),
    state: enumeration(INVOICE_STATES),
    description: orNull(text),
    credits: Type.Integer({ description: "0 for an invoice between two periods of a subscription" }),
    amount,
    amount_refunded: amount,
    currency,
    url: orNull(link("the provider's page of the invoice")),
    created_at: time,
    paid_at: orNull(time),
  }),
  Subscription: subscription,
  CurrentSubscription: orNull(subscription, "null if there is none"),
  CreditBalance: strictObject({
    balance: Type.Integer({
      description: "already reduced by active holds; negative after a refund of spent credits",
    }),
    total_held: integer,
    holds: Type.Array(strictObject({ amount: integer, created_at: time, pipeline_id: id })),
  }),
  CreditHold: strictObject({
    id,
    amount: integer,
    created_at: time,
    pipeline_id: id,
    processor_names: Type.Array(payableSteps, { description: "the steps of the pipeline, in order" }),
    asset: namedAsset("the recording of the pipeline; null once it is deleted"),
  }),
  CreditEntry: strictObject({
    id,
    type: enumeration(LEDGER_TYPES),
    delta: Type.Integer({ description: "credits; negative if they were used or taken back" }),
    created_at: time,
    asset_id: orNull(id, "set for `consume_asset` and its refund"),
    payment_invoice_id: orNull(text, "set for `topup`, and for a refund by the payment provider"),
    asset: namedAsset("the recording for which credits were used; null if there is none or it was deleted"),
    pipeline_id: orNull(id, "set for `consume_step`"),
    processor_name: orNull(payableSteps, "set for `consume_step`"),
    order_id: orNull(id, "ID of the invoice's order"),
    description: orNull(text, "description of the invoice"),
  }),
};
