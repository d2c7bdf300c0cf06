/** Texts about endpoints, events and deliveries. */
import { DAY_MS } from "../../../src/domain/time";
import { MAX_ATTEMPTS, MAX_FAILING_MS } from "../../../src/domain/webhooks";
import type { Schemas } from "../../app/api";
import { isBilled } from "../../app/session";

export type Endpoint = Schemas["WebhookEndpoint"];
export type NewEndpoint = Schemas["WebhookEndpointWithSecret"];
export type Delivery = Schemas["Delivery"];
export type EventType = Endpoint["event_types"][number];

/** Describes when each event is sent, in the order of the form. */
const EVENT_TEXTS: Record<EventType, string> = {
  "asset.ready": "a recording is ready",
  "asset.pending_payment": "it waits for credits",
  "asset.failed": "it cannot be prepared",
  "cut.completed": "a cut is complete",
  "cut.failed": "it has failed",
  "render.completed": "a render is complete",
  "render.failed": "it has failed",
  "render.cancelled": "it was cancelled",
};

export const ALL_EVENTS = Object.keys(EVENT_TEXTS) as EventType[];

/** Returns the events that this server can send, without those about credits if nothing costs any. */
export const listSentEvents = (): EventType[] =>
  isBilled.value ? ALL_EVENTS : ALL_EVENTS.filter((type) => type !== "asset.pending_payment");

/** Returns the events that this server can send, grouped by resource. */
export function listEventGroups() {
  const sent = listSentEvents();
  const toGroup = (title: string, start: string) => ({
    title,
    events: sent.filter((type) => type.startsWith(start)).map((type) => ({ type, text: EVENT_TEXTS[type] })),
  });
  return [toGroup("Recordings", "asset."), toGroup("Cuts", "cut."), toGroup("Renders", "render.")];
}

/** Returns "All events", "None", or the names of the events that this server can send. */
export function formatEvents(types: readonly EventType[]): string {
  const sent = listSentEvents();
  const chosen = sent.filter((type) => types.includes(type));
  return chosen.length === sent.length ? "All events" : chosen.join(", ") || "None";
}

/** Returns "2 of 8". */
export const formatAttempts = (attempts: number): string => `${attempts} of ${MAX_ATTEMPTS}`;

type Look = { text: string; look: string };

/** Returns the text for the state of an endpoint. */
export function toEndpointLook({ state, failing_since: failingSince, disabled_reason: reason }: Endpoint): Look {
  if (state === "disabled") return { text: "Disabled", look: reason === "manual" ? "" : "bad" };
  return failingSince === null ? { text: "Enabled", look: "good" } : { text: "Failing", look: "waiting" };
}

/** Returns the text for the state of a delivery. `isEnabled`: whether its endpoint is enabled. */
export function toDeliveryLook({ state, attempts }: Delivery, isEnabled: boolean): Look {
  if (state === "delivered") return { text: "Delivered", look: "good" };
  if (state === "failed") return { text: "Failed", look: "bad" };
  return attempts === 0 || !isEnabled ? { text: "Waiting", look: "" } : { text: "Retrying", look: "waiting" };
}

/** Explanations of why an endpoint is disabled, with the remedies. */
export const DISABLED_TEXTS: Record<NonNullable<Endpoint["disabled_reason"]>, string> = {
  manual: "It was disabled manually.",
  gone: "The receiver returned 410 Gone, which means that it no longer accepts events. Enable the endpoint when the receiver is back.",
  failing: `No delivery succeeded for ${MAX_FAILING_MS / DAY_MS} days. Fix the receiver, then enable the endpoint and resend the failed deliveries.`,
};

const MAX_TITLE_CHARACTERS = 100;

/** Returns the URL as a title, without its scheme and limited in length. */
export function shortenUrl(url: string): string {
  const text = url.replace(/^https?:\/\//, "");
  return text.length > MAX_TITLE_CHARACTERS ? `${text.slice(0, MAX_TITLE_CHARACTERS)}…` : text;
}
