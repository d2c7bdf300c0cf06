/** Prices, orders, invoices, subscriptions and the balance as strict schemas, written independently of the server's. */
import { type TSchema, Type } from "@sinclair/typebox";
import { count, exactly, oneOf, orNull, text, time, url, uuid } from "./schema-parts";

const currency = Type.String({ pattern: "^[a-z]{3}$" });
const kind = oneOf("pack", "subscription");
const interval = orNull(oneOf("month", "year"));
const credits = Type.Integer({ minimum: 1 });

export const priceList = exactly({
  items: Type.Array(exactly({ price_id: text, name: text, kind, credits, amount: count, currency, interval })),
  provider: oneOf("offline", "stripe"),
});

const orderFields = {
  id: uuid,
  price_id: text,
  name: text,
  kind,
  credits,
  amount: count,
  currency,
  interval,
  provider: oneOf("offline", "stripe"),
  state: oneOf("pending", "paid", "rejected", "expired"),
  url,
  created_at: time,
  decided_at: orNull(time),
};

export const order = exactly(orderFields);

export const adminOrder = exactly({
  ...orderFields,
  workspace: orNull(exactly({ id: uuid, name: text })),
  created_by: orNull(exactly({ id: uuid, email: text })),
  decided_by: orNull(uuid),
});

export const invoice = exactly({
  id: uuid,
  payment_invoice_id: text,
  order_id: orNull(uuid),
  state: oneOf("open", "paid", "failed", "refunded"),
  description: orNull(text),
  credits: count,
  amount: count,
  amount_refunded: count,
  currency,
  url: orNull(url),
  created_at: time,
  paid_at: orNull(time),
});

const subscription = exactly({
  id: uuid,
  price_id: text,
  state: oneOf("incomplete", "active", "past_due", "cancelled"),
  current_period_end: orNull(time),
  is_ending: Type.Boolean(),
  created_at: time,
  ended_at: orNull(time),
});

export const currentSubscription = orNull(subscription);

export const creditBalance = exactly({
  balance: Type.Integer(),
  total_held: count,
  holds: Type.Array(exactly({ amount: Type.Integer({ minimum: 1 }), created_at: time, pipeline_id: uuid })),
});

const namedAsset = orNull(exactly({ id: uuid, name: orNull(text), filename: orNull(text) }));
const step = oneOf("prepare", "cut", "render", "preview");

export const creditHold = exactly({
  id: uuid,
  amount: Type.Integer({ minimum: 1 }),
  created_at: time,
  pipeline_id: uuid,
  processor_names: Type.Array(step),
  asset: namedAsset,
});

export const creditEntry = exactly({
  id: uuid,
  type: oneOf("topup", "grant", "consume_asset", "consume_step", "refund", "adjustment"),
  delta: Type.Integer(),
  created_at: time,
  asset_id: orNull(uuid),
  payment_invoice_id: orNull(text),
  asset: namedAsset,
  pipeline_id: orNull(uuid),
  processor_name: orNull(step),
  order_id: orNull(uuid),
  description: orNull(text),
});

export const offsetPageOf = (item: TSchema) =>
  exactly({ items: Type.Array(item), total: count, limit: Type.Integer({ minimum: 1 }), offset: count });
