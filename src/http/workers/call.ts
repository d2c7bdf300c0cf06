/** The routes of workers as data, and the JSON bodies of their calls. */

import type { Static, TSchema } from "@sinclair/typebox";
import { runLargeTasksSerially } from "../../lib/large-tasks";
import type { Cluster } from "../../work/cluster/cluster";
import type { Services } from "../../work/services";
import type { Reply } from "../call";
import type { RequestContext } from "../family";
import { MAX_BODY_BYTES, parseBody, readBodyText } from "../parse-request";

/** A call of a worker. `id` is that of the execution, in lower case, on the routes of one. */
export type CallOfWorker = {
  services: Services;
  cluster: Cluster;
  request: Request;
  context: RequestContext;
  id: string;
  params: Record<string, string>;
};

export type WorkerRoute = { method: string; path: string; run(call: CallOfWorker): Promise<Reply> };

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
