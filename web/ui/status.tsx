/** Texts and looks of states. */
import type { AssetState, CutState, InvoiceState, OrderState, RenderState, StepState } from "../../src/domain/states";

/** `look` is `good`, `busy`, `bad` or `waiting`, or empty for a neutral state. */
type Look = { text: string; look: string };

export const ASSET_STATUS: Record<AssetState, Look> = {
  pending_upload: { text: "Not uploaded", look: "waiting" },
  processing: { text: "Preparing", look: "busy" },
  pending_payment: { text: "Needs credits", look: "waiting" },
  ready: { text: "Ready", look: "good" },
  failed: { text: "Failed", look: "bad" },
};

export const JOB_STATUS: Record<CutState | RenderState | StepState, Look> = {
  pending: { text: "Waiting", look: "" },
  processing: { text: "Running", look: "busy" },
  running: { text: "Running", look: "busy" },
  completed: { text: "Completed", look: "good" },
  failed: { text: "Failed", look: "bad" },
  cancelled: { text: "Cancelled", look: "" },
};

export const Status = ({ text, look }: Look) => <span class={`status ${look}`}>{text}</span>;

/** The state of an asset. A partly prepared asset can be cut before it is ready. */
export const AssetStatus = ({ state, cuttable }: { state: string; cuttable?: boolean }) => (
  <Status
    {...(state === "processing" && cuttable
      ? { text: "Ready to cut", look: "good" }
      : (ASSET_STATUS[state as AssetState] ?? { text: state, look: "" }))}
  />
);

/** The state of a cut, a render or a pipeline. */
export const JobStatus = ({ state }: { state: string }) => (
  <Status {...(JOB_STATUS[state as keyof typeof JOB_STATUS] ?? { text: state, look: "" })} />
);

export const ORDER_STATUS: Record<OrderState, Look> = {
  pending: { text: "Waiting", look: "waiting" },
  paid: { text: "Paid", look: "good" },
  rejected: { text: "Rejected", look: "bad" },
  expired: { text: "Closed", look: "" },
};

const INVOICE_STATUS: Record<InvoiceState, Look> = {
  open: { text: "Open", look: "waiting" },
  paid: { text: "Paid", look: "good" },
  failed: { text: "Payment failed", look: "bad" },
  refunded: { text: "Refunded", look: "" },
};

export const OrderStatus = ({ state }: { state: OrderState }) => <Status {...ORDER_STATUS[state]} />;

export const InvoiceStatus = ({ state }: { state: InvoiceState }) => <Status {...INVOICE_STATUS[state]} />;
