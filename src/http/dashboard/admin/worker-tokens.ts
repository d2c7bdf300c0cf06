/** The join tokens of workers, for administrators. */
import { Type } from "@sinclair/typebox";
import { countWorkerTokens, listWorkerTokens, type TokenWithWorker } from "../../../store/workers";
import { createWorkerToken, revokeToken, WORKER_NAME, WORKER_NAME_RULE } from "../../../work/cluster/worker-tokens";
import { created, createOnce, noContent } from "../../call";
import { strictObject } from "../../fields";
import { offsetListRoute } from "../../offset-list-route";
import { respondsWith, respondsWithNothing } from "../../response-docs";
import { route } from "../../route";
import { type Resource, SCHEMAS } from "../../schemas";
import { showRow } from "../../show-row";
import { toCallActor } from "../sign-in-client";
import { ADMIN_ACCESS } from "./access";

const showToken = ({ token, workerId }: TokenWithWorker): Resource<"AdminWorkerToken"> =>
  showRow(SCHEMAS.AdminWorkerToken, token, { worker_id: workerId });

export const list = offsetListRoute({
  summary: "List the join tokens that are not revoked, by name",
  access: ADMIN_ACCESS,
  item: "AdminWorkerToken",
  description: "A page of tokens",
  read: async ({ services: { store } }, { limit, offset }) => ({
    rows: await listWorkerTokens(store.read, { limit, offset }),
    total: await countWorkerTokens(store.read),
  }),
  show: (_, token) => showToken(token),
});

export const create = route({
  summary: "Create a join token, with which one worker can run jobs of this server",
  access: ADMIN_ACCESS,
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

export const remove = route({
  summary: "Revoke a join token. Its worker is rejected from now on, and its current work is queued again",
  access: ADMIN_ACCESS,
  responses: { 204: respondsWithNothing("Revoked") },
  handle: async (call) => {
    await revokeToken(call.services, toCallActor(call), { id: call.params.token_id! });
    return noContent();
  },
});
