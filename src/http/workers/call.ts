/** The routes of workers as data. */
import type { Cluster } from "../../work/cluster/cluster";
import type { Services } from "../../work/services";
import type { Reply } from "../call";
import type { RequestContext } from "../family";

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
