/** The closed sets of values that resources take: shared by the database columns, the API schemas and the types. */

export const PROJECT_STATES = ["active", "archived"] as const;
export type ProjectState = (typeof PROJECT_STATES)[number];

export const ASSET_KINDS = ["source", "rendered_video", "cut_file"] as const;
/** What an asset contains, detected from its bytes. */
export const ASSET_TYPES = ["audio", "video"] as const;
export const ASSET_STATES = ["pending_upload", "processing", "pending_payment", "ready", "failed"] as const;
export type AssetState = (typeof ASSET_STATES)[number];

/** How an asset is paid for. `held`: an active hold covers the charge; `settled`: the charge is in the ledger. */
export const PAYMENT_STATES = ["none", "held", "settled"] as const;

export const CUT_STATES = ["pending", "processing", "completed", "failed"] as const;
export type CutState = (typeof CUT_STATES)[number];

export const RENDER_STATES = ["pending", "processing", "completed", "failed", "cancelled"] as const;
export type RenderState = (typeof RENDER_STATES)[number];

export const RENDER_STRATEGIES = ["smart", "chunked", "audio"] as const;

/** The states of a pipeline and of each of its steps. */
export const STEP_STATES = ["pending", "running", "completed", "failed", "cancelled"] as const;

export const LEDGER_TYPES = ["topup", "grant", "consume_asset", "consume_step", "refund", "adjustment"] as const;

export const ENDPOINT_STATES = ["enabled", "disabled"] as const;

export const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;

export const DEVICE_CODE_STATES = ["pending", "approved", "denied", "exchanged"] as const;

export const MAIL_STATES = ["pending", "sent", "failed"] as const;

/** What a one-time token is good for. A token of one purpose is never accepted for another. */
export const TOKEN_PURPOSES = [
  "email_verification",
  "password_reset",
  "invitation",
  "sign_in_challenge",
  "oidc_state",
] as const;
