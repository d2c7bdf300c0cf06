import type { Schemas } from "../app/api";

/** Texts and looks of states. */
const ASSET_STATUS: Record<string, { text: string; look: string }> = {
  pending_upload: { text: "Not uploaded", look: "waiting" },
  processing: { text: "Preparing", look: "busy" },
  pending_payment: { text: "Needs credits", look: "waiting" },
  ready: { text: "Ready", look: "good" },
  failed: { text: "Failed", look: "bad" },
};

const JOB_STATUS: Record<string, { text: string; look: string }> = {
  pending: { text: "Waiting", look: "" },
  processing: { text: "Running", look: "busy" },
  running: { text: "Running", look: "busy" },
  completed: { text: "Completed", look: "good" },
  failed: { text: "Failed", look: "bad" },
  cancelled: { text: "Cancelled", look: "" },
};

/** `look` is `good`, `busy`, `bad` or `waiting`, or empty for a neutral state. */
export const Status = ({ text, look }: { text: string; look: string }) => <span class={`status ${look}`}>{text}</span>;

/** The state of an asset. A partly prepared asset can be cut before it is ready. */
export const AssetStatus = ({ state, cuttable }: { state: string; cuttable?: boolean }) => (
  <Status
    {...(state === "processing" && cuttable
      ? { text: "Ready to cut", look: "good" }
      : (ASSET_STATUS[state] ?? { text: state, look: "" }))}
  />
);

/** The state of a cut, a render or a pipeline. */
export const JobStatus = ({ state }: { state: string }) => (
  <Status {...(JOB_STATUS[state] ?? { text: state, look: "" })} />
);

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
