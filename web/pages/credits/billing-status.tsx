/** Texts and looks for orders and invoices. */
import type { Schemas } from "../../app/api";
import { Status } from "../../ui/status";

const ORDER_STATUS: Record<Schemas["Order"]["state"], { text: string; look: string }> = {
  pending: { text: "Waiting", look: "waiting" },
  paid: { text: "Paid", look: "good" },
  rejected: { text: "Rejected", look: "bad" },
  expired: { text: "Closed", look: "" },
};

const INVOICE_STATUS: Record<Schemas["Invoice"]["state"], { text: string; look: string }> = {
  open: { text: "Open", look: "waiting" },
  paid: { text: "Paid", look: "good" },
  failed: { text: "Payment failed", look: "bad" },
  refunded: { text: "Refunded", look: "" },
};

export const OrderStatus = ({ state }: { state: Schemas["Order"]["state"] }) => <Status {...ORDER_STATUS[state]} />;

export const InvoiceStatus = ({ state }: { state: Schemas["Invoice"]["state"] }) => (
  <Status {...INVOICE_STATUS[state]} />
);
