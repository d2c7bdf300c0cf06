/** Workers on other machines and their join tokens, for administrators. */

import { Type } from "@sinclair/typebox";
import { strictObject } from "../../../domain/schema-parts";
import { listWorkerTokens, type TokenWithWorker } from "../../../store/workers";
import type { WorkerView } from "../../../work/cluster/worker-list";
import {
  createWorkerToken,
  revokeToken,
  revokeWorker,
  setDraining,
  WORKER_NAME,
  WORKER_NAME_RULE,
} from "../../../work/cluster/worker-tokens";
import { type Call, created, createOnce, ok } from "../../call";
import { offsetListRoute } from "../../list-route";
import { respondsWith, respondsWithNothing } from "../../response-docs";
import { getResource, type ResourceLoader, route } from "../../route";
import { formatTime, type Resource, SCHEMAS, showRow } from "../../schemas";
import { toCallActor } from "../sign-in-client";

const currentSchema = SCHEMAS.AdminWorker.properties.current.items;
const runSchema = SCHEMAS.AdminWorkerDetail.properties.runs.items;

const showWorker = ({ worker, state, current }: WorkerView): Resource<"AdminWorker"> =>
  showRow(SCHEMAS.AdminWorker, worker, {
    state,
    current: current.map((run) => showRow(currentSchema, run, { job_id: run.step_id })),
  });

async function showDetail({ services }: Call, view: WorkerView): Promise<Resource<"AdminWorkerDetail">> {
  const { worker, revokedAt } = view;
  const runs = await services.workerList.listRuns(worker.id);
  return showRow(SCHEMAS.AdminWorkerDetail, worker, {
    ...showWorker(view),
    ffmpeg: worker.encoding.ffmpeg,
    encoder: worker.encoding.encoder,
    revoked_at: formatTime(revokedAt),
    runs: runs.map((run) => showRow(runSchema, run, { job_id: run.step_id })),
  });
}

const load: ResourceLoader<WorkerView> = {
  name: "Worker",
  find: ({ services, params }) => services.workerList.find(params.worker_id!),
};

/** Creates the handler of a change of a worker, which responds with it. */
const changeRoute = (summary: string, description: string, change: (call: Call, id: string) => Promise<unknown>) =>
  route({
    summary,
    load,
    errors: ["conflict"],
    responses: { 200: respondsWith("AdminWorker", description) },
    handle: async (call) => {
      await change(call, call.params.worker_id!);
      return ok(showWorker(await getResource(call, load)));
    },
  });

export const list = offsetListRoute({
  summary: "List the workers on other machines by name, without revoked ones",
  item: "AdminWorker",
  description: "A page of workers",
  read: async ({ services }, { limit, offset }) => {
    // The number of join tokens limits the list.
    const workers = await services.workerList.list();
    return { rows: workers.slice(offset, offset + limit), total: workers.length };
  },
  show: (_, worker) => showWorker(worker),
});

export const read = route({
  summary: "Retrieve a worker with its runs",
  load,
  responses: { 200: respondsWith("AdminWorkerDetail", "The worker; a revoked one is kept for 30 days") },
  handle: async (call, { resource }) => ok(await showDetail(call, resource)),
});

export const drain = changeRoute(
  "Drain a worker: it completes its current work, and accepts nothing new until it is resumed",
  "The worker",
  (call, id) => setDraining(call.services, toCallActor(call), id, true),
);

export const resume = changeRoute("Resume a drained worker", "The worker", (call, id) =>
  setDraining(call.services, toCallActor(call), id, false),
);

export const revoke = changeRoute(
  "Revoke the join token of a worker. It is rejected from now on, and its current work is queued again",
  "The worker, which lists no longer show",
  (call, id) => revokeWorker(call.services, toCallActor(call), id),
);

const showToken = ({ token, workerId }: TokenWithWorker): Resource<"AdminWorkerToken"> =>
  showRow(SCHEMAS.AdminWorkerToken, token, { worker_id: workerId });

export const listTokens = offsetListRoute({
  summary: "List the join tokens that are not revoked, by name",
  item: "AdminWorkerToken",
  description: "A page of tokens",
  read: ({ services: { store } }, page) => listWorkerTokens(store.read, page),
  show: (_, token) => showToken(token),
});

export const createToken = route({
  summary: "Create a join token, with which one worker can run jobs of this server",
  idempotent: true,
  errors: ["conflict"],
  example: { name: "edit-suite-2" },
  body: strictObject({
    name: Type.String({
      pattern: WORKER_NAME.source,
      errorText: `must be ${WORKER_NAME_RULE}`,
      description: "the name of the worker; no other valid token may have it",
    }),
  }),
  responses: { 201: respondsWith("CreatedWorkerToken", "The token; the response is the only one that shows it") },
  handle: (call, { body }) =>
    createOnce(call, async (tx) => {
      const { token, secret } = await createWorkerToken(tx, toCallActor(call), body.name, call.services.now());
      const shown: Resource<"CreatedWorkerToken"> = { ...showToken({ token, workerId: null }), token: secret };
      return created(call.url(`/admin/worker-tokens/${token.id}`), shown);
    }),
});

export const removeToken = route({
  summary: "Revoke a join token. Its worker is rejected from now on, and its current work is queued again",
  responses: { 204: respondsWithNothing("Revoked") },
  handle: async (call) => {
    await revokeToken(call.services, toCallActor(call), { id: call.params.token_id! });
  },
});
