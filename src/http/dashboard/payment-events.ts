/** The inbound events of the payment provider. */
import { AppError } from "../../domain/errors";
import { applyPaymentEvent } from "../../work/billing/payment-events";
import { noContent } from "../call";
import { MAX_LARGE_BODY_BYTES, readBodyText } from "../parse-request";
import { respondsWithNothing } from "../response-docs";
import { openRoute } from "../route";

export const receive = openRoute({
  summary: "Receive a signed event from Stripe. Without Stripe, this path does not exist",
  headers: { "Stripe-Signature": "the signature of the body, at most 300 s old" },
  errors: [
    "bad_request",
    "not_found",
    "payload_too_large",
    "unsupported_media_type",
    "upstream_error",
    "upstream_unavailable",
  ],
  responses: { 204: respondsWithNothing("The event was applied now or before, or is irrelevant") },
  handle: async ({ services, request }) => {
    const { payments, config, log } = services;
    if (!payments) throw new AppError("not_found", "Path not found.");
    // The signature is that of the bytes: the body is parsed once it is verified.
    const timeoutMs = config.requestTimeoutSeconds * 1000;
    const body = await readBodyText(request, { type: "json", maxBytes: MAX_LARGE_BODY_BYTES, timeoutMs });
    const event = await payments.readEvent(body, request.headers.get("stripe-signature"));
    await applyPaymentEvent({ ...services, payments, log }, event);
    return noContent();
  },
});
