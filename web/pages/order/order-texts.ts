/** The texts of the page of an order. */

import type { Schemas } from "../../app/api";
import { toNumber } from "../../app/english";
import { formatTime } from "../../app/format";
import { formatPrice } from "../../app/money";
import type { ShownOrder } from "./use-order";

type Order = Schemas["Order"];
type State = Order["state"];

export const TITLES: Record<State, string> = {
  pending: "Order",
  paid: "Order paid",
  rejected: "Order rejected",
  expired: "Order closed",
};

export const NEXT_STEPS: Record<Order["provider"], Record<State, string>> = {
  offline: {
    pending:
      "Pay as agreed with your administrator. The credits are added when the administrator approves the order. This page updates automatically.",
    paid: "The credits were added.",
    rejected: "An administrator rejected the order. No credits were added.",
    expired: "The order was cancelled. No credits were added.",
  },
  stripe: {
    pending:
      "The payment is not confirmed yet. This page updates automatically, usually within seconds. Some payment methods take days.",
    paid: "The payment is confirmed, and the credits were added.",
    rejected: "The payment failed, and no credits were added. You can order again.",
    expired: "The order was cancelled, or not paid in time. Nothing was charged, and no credits were added.",
  },
};

const NO_RENEWAL: [string, string] = ["Renewal", "None: credits are added once. Order again for more."];

/** Lists the facts of an order. Administrators also see who ordered it. */
export function listOrderFacts({ order, administered }: ShownOrder): [string, string][] {
  const facts: [string, string][] = [
    ["What", order.name],
    ["Credits", toNumber(order.credits)],
    ["Price", formatPrice(order)],
    ...(order.provider === "offline" && order.interval !== null ? [NO_RENEWAL] : []),
    ["Ordered", formatTime(order.created_at)],
    ["Order", order.id],
  ];
  if (administered === null) return facts;
  return [
    ...facts,
    ["By", administered.created_by?.email ?? "unknown"],
    ["Workspace", administered.workspace?.name ?? "deleted"],
  ];
}
