/** Rows of the contract: workers on other machines, and their join tokens. */
import { expect } from "bun:test";
import { newId } from "../../../src/lib/ids";
import { createAdmin, startSession } from "../../http/accounts";
import type { Client } from "../../http/client";
import { NO_ID } from "../../http/outcome";
import { joinWorker } from "../../http/workers";
import * as adminSchemas from "../admin-schemas";
import { listErrors } from "../response-checks";
import type { DashboardFixtures, DashboardRow } from "./dashboard-fixtures";

type Page = { items: { id: string; name: string; state: string }[]; total: number };

const createAdminSession = async ({ server }: DashboardFixtures): Promise<Client> =>
  startSession(server, await createAdmin(server));

export const workerRows: DashboardRow[] = [
  [
    "GET admin/workers: id, name, state (online, draining, offline), version, jobs, slots, current, speed, last_seen_at",
    async (fixtures) => {
      const { server, call } = fixtures;
      const as = await createAdminSession(fixtures);
      const name = `desk-${newId()}`;
      const { worker } = await joinWorker(server.services(), name);
      server.services().workerList.startRun(worker.id, {
        execution: newId(),
        kind: "render",
        stepId: newId(),
        subjectId: newId(),
      });
      const { body } = await call<Page>("GET", "/admin/workers?limit=100", { as });
      expect(listErrors(adminSchemas.workerPage, body)).toEqual([]);
      expect(body.items.find((item) => item.name === name)).toMatchObject({ id: worker.id, state: "online" });
      const detail = await call("GET", `/admin/workers/${worker.id}`, { as });
      expect(listErrors(adminSchemas.workerDetail, detail.body)).toEqual([]);
    },
  ],
  [
    "POST admin/workers/{id}/drain|resume|revoke -> worker; a revoked one is 409 and no longer listed, an unknown one 404",
    async (fixtures) => {
      const { server, call, getOutcome } = fixtures;
      const as = await createAdminSession(fixtures);
      const { worker } = await joinWorker(server.services(), `desk-${newId()}`);
      const path = `/admin/workers/${worker.id}`;
      const change = async (action: string) => {
        const { status, body } = await call<{ state: string }>("POST", `${path}/${action}`, { as });
        expect(listErrors(adminSchemas.worker, body)).toEqual([]);
        return [status, body.state];
      };
      expect([await change("drain"), await change("resume"), await change("revoke")]).toEqual([
        [200, "draining"],
        [200, "online"],
        [200, "offline"],
      ]);
      for (const action of ["drain", "resume", "revoke"]) {
        expect(await getOutcome("POST", `${path}/${action}`, { as })).toBe("409 conflict");
        expect(await getOutcome("POST", `/admin/workers/${NO_ID}/${action}`, { as })).toBe("404 not_found");
      }
      const { body } = await call<Page>("GET", "/admin/workers?limit=100", { as });
      expect(body.items.map(({ id }) => id)).not.toContain(worker.id);
      expect((await call("GET", path, { as })).body).toMatchObject({ revoked_at: expect.any(String) });
    },
  ],
  [
    "POST admin/worker-tokens { name } -> 201 with the token, once; GET lists without it; DELETE …/{id} revokes",
    async (fixtures) => {
      const { call, getOutcome } = fixtures;
      const as = await createAdminSession(fixtures);
      const json = { name: `desk-${newId()}` };
      const headers = { "Idempotency-Key": newId() };
      const made = await call<{ id: string; token: string }>("POST", "/admin/worker-tokens", { json, headers, as });
      expect([made.status, listErrors(adminSchemas.createdWorkerToken, made.body)]).toEqual([201, []]);
      const replayed = await call<{ token: null }>("POST", "/admin/worker-tokens", { json, headers, as });
      expect(replayed.body).toMatchObject({ id: made.body.id, token: null });
      const listed = await call<Page>("GET", "/admin/worker-tokens?limit=100", { as });
      expect(listErrors(adminSchemas.workerTokenPage, listed.body)).toEqual([]);
      expect(JSON.stringify(listed.body)).not.toContain(made.body.token);
      expect(await getOutcome("POST", "/admin/worker-tokens", { json, as })).toBe("409 conflict");
      for (const name of ["", "a b", "-a", "x".repeat(64), 7])
        expect(await getOutcome("POST", "/admin/worker-tokens", { json: { name }, as })).toBe(
          "422 validation_error body.name",
        );
      const path = `/admin/worker-tokens/${made.body.id}`;
      expect(await getOutcome("DELETE", path, { as })).toBe("204");
      expect(await getOutcome("DELETE", path, { as })).toBe("404 not_found");
    },
  ],
];
