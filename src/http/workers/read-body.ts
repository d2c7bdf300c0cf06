/** Reads the JSON body of a worker's call. */
import type { Static, TSchema } from "@sinclair/typebox";
import { MAX_BODY_BYTES, parseBody, readBodyText, runLargeTasksSerially } from "../parse-request";
import type { CallOfWorker } from "./call";

/** Throws `AppError` as for the API. */
export async function readBody<S extends TSchema>(
  { request, services }: Pick<CallOfWorker, "request" | "services">,
  schema: S,
  maxBytes = MAX_BODY_BYTES,
): Promise<Static<S>> {
  const timeoutMs = services.config.requestTimeoutSeconds * 1000;
  const text = await readBodyText(request, { type: "json", maxBytes, timeoutMs });
  return runLargeTasksSerially(text, () => parseBody(schema, text));
}
