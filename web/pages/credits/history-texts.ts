/** Texts for entries of the credit history. Pure. */
import { toNumber } from "../../app/english";
import { STEP_NAMES } from "../../app/pipelines";
import type { CreditEntry } from "./use-history";

/** The kinds of entries to filter by. */
export const KINDS = [
  { value: "", label: "All kinds" },
  { value: "topup", label: "Purchases" },
  { value: "grant", label: "Grants" },
  { value: "consume_asset", label: "Preparations" },
  { value: "consume_step", label: "Cuts and renders" },
  { value: "refund", label: "Refunds" },
  { value: "adjustment", label: "Adjustments" },
] as const;

/** Returns the kind of an entry: "Purchase", "Preparation", "Render". */
export function nameKind({ type, processor_name: step, payment_invoice_id: invoice }: CreditEntry): string {
  switch (type) {
    case "topup":
      return "Purchase";
    case "grant":
      return "Grant";
    case "consume_asset":
      return "Preparation";
    case "consume_step":
      return step === null ? "Cut or render" : STEP_NAMES[step];
    case "refund":
      return invoice === null ? "Refund of a preparation" : "Refunded purchase";
    default:
      return "Adjustment";
  }
}

/** Returns a change with its sign: `+600`, `−12`. */
export const formatDelta = (delta: number): string =>
  delta > 0 ? `+${toNumber(delta)}` : toNumber(delta).replace("-", "−");
