/** Sends a signed webhook to a verified address, without following redirects. */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { Webhook } from "standardwebhooks";
import { AppError } from "../domain/errors";
import {
  type Address,
  type AddressRules,
  parseWebhookUrl,
  RefusedUrlError,
  type Resolve,
  resolveAllowedAddresses,
} from "./addresses";

export type WebhookMessage = {
  url: string;
  /** The `webhook-id`, the same for every attempt. */
  id: string;
  /** The current secret comes first. For some time after a rotation, the old one is also used. */
  secrets: string[];
  body: string;
  timeoutMs: number;
};

/** `status` is null without a response. `error` is one line for the delivery list, without text from the receiver. */
export type SendResult = { ok: boolean; status: number | null; error: string | null; milliseconds: number };

/** Sends a webhook once. Never throws. `now` is the signed timestamp. */
export async function sendWebhook(delivery: WebhookMessage, rules: AddressRules, now: Date, resolve: Resolve) {
  const started = performance.now();
  const outcome = (status: number | null, error: string | null): SendResult => ({
    ok: status !== null && status >= 200 && status < 300,
    status,
    error,
    milliseconds: Math.round(performance.now() - started),
  });
  try {
    const signal = AbortSignal.timeout(delivery.timeoutMs);
    const url = parseWebhookUrl(delivery.url);
    const addresses = await resolveAllowedAddresses(url, rules, resolve);
    signal.throwIfAborted();
    const status = await postToAny(pickOnePerFamily(addresses), (address) => post(delivery, url, address, now, signal));
    return outcome(status, status >= 300 && status < 400 ? "redirects are not followed" : null);
  } catch (error) {
    return outcome(null, error instanceof RefusedUrlError ? `the URL ${error.message}` : formatSendError(error));
  }
}

/** Returns the first address of each family, for networks with only IPv4 or only IPv6. */
const pickOnePerFamily = (addresses: Address[]): Address[] =>
  addresses.filter(({ family }, index) => addresses.findIndex((other) => other.family === family) === index);

/** Errors before any data was sent, after which another address may be tried. */
const CONNECT_ERRORS = ["ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT"];

async function postToAny([first, ...others]: Address[], send: (address: Address) => Promise<number>): Promise<number> {
  try {
    return await send(first!);
  } catch (error) {
    if (others.length === 0 || !CONNECT_ERRORS.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return postToAny(others, send);
  }
}

async function post(
  delivery: WebhookMessage,
  url: URL,
  { address, family }: Address,
  now: Date,
  signal: AbortSignal,
): Promise<number> {
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const { promise, resolve: answered, reject } = Promise.withResolvers<number>();
  const request = send(url, {
    method: "POST",
    // A new connection to the verified address: another DNS query could return a different one.
    agent: false,
    lookup: (_host, options, found) => {
      if (typeof options === "object" && options.all) found(null, [{ address, family }]);
      else found(null, address, family);
    },
    headers: {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(delivery.body),
      "User-Agent": "Offcut",
      "webhook-id": delivery.id,
      "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
      "webhook-signature": delivery.secrets
        .map((secret) => new Webhook(secret).sign(delivery.id, now, delivery.body))
        .join(" "),
    },
  });
  const abort = () => request.destroy(new Error("timed out"));
  signal.addEventListener("abort", abort, { once: true });
  request.on("error", reject);
  request.on("response", (response) => {
    // The response body is not read.
    response.destroy();
    answered(response.statusCode ?? 0);
  });
  request.end(delivery.body);
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", abort);
    request.destroy();
  }
}

function formatSendError(error: unknown): string {
  if (error instanceof AppError) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (message === "timed out" || (error as Error).name === "TimeoutError") return "no response in time";
  if (code === "ECONNREFUSED") return "connection refused";
  return code ? `connection failed: ${code}` : "connection failed";
}
