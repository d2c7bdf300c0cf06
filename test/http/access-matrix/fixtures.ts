/**
 * Resources named in the paths and bodies of the matrix: a workspace with one of each resource, and new ones for calls
 * that remove them.
 */
import { sql } from "drizzle-orm";
import { newId } from "../../../src/lib/ids";
import { insertWorkspace } from "../../../src/store/workspaces";
import type { PlanRequests } from "../../../src/work/cuts/plan-requests";
import type { JobChild } from "../../../src/work/job-child/child";
import { grantWorkspace } from "../../unit/store/test-store";
import { createAdmin } from "../accounts";
import { CUT, startChain } from "../chains";
import type { Client } from "../client";
import { type Harness, harness } from "../harness";
import { wav } from "../media";
import { sample, send } from "../notification-samples";
import { insertPendingOrder, PRICES } from "../prices";
import type { Cut } from "../resources";
import { joinWorker } from "../workers";
import { type Caller, createCallers } from "./principals";

export type Fixtures = AsyncDisposable & {
  server: Harness;
  callers: Caller[];
  /** The owner with a key and with a session. */
  owner: Client;
  ownerSession: Client;
  workspaceId: string;
  cut: Cut;
  /** The path parameters of resources that every call may name. */
  ids: Record<string, string>;
  /** Returns another number at each call. */
  next(): number;
};

const HOOK = { url: "http://127.0.0.1:8999/hook", event_types: ["asset.ready"] };

/** Makes all exports, subtitles and edits in one child process. Returns a function that ends it. */
function shareChild(requests: PlanRequests): () => void {
  const { run } = requests;
  const ended = Promise.withResolvers<void>();
  let child: Promise<JobChild> | null = null;
  requests.run = async (workspaceId, dir, work) => {
    child ??= new Promise((resolve, reject) => {
      run(workspaceId, dir, async (opened) => {
        resolve(opened);
        await ended.promise;
      }).catch(reject);
    });
    return work(await child);
  };
  return () => ended.resolve();
}

/** Starts the server. No jobs run after it resolves, so that new cuts and renders stay pending. */
export async function createMatrixFixtures(): Promise<Fixtures> {
  const settings = {
    MAX_UPLOADS: "1000",
    SIGNUP: "open",
    TRUSTED_PROXIES: "127.0.0.1",
    WEBHOOKS_ALLOW_LOOPBACK: "true",
  };
  const server = await harness(settings, { configuration: PRICES, sharesChild: true });
  const { store } = server.services();
  const workspaceId = newId();
  const founder = await createAdmin(server);
  await store.write(async (tx) => {
    await insertWorkspace(tx, { id: workspaceId, name: "Studio", created_by: founder.userId, created_at: 1 });
    await grantWorkspace(tx, workspaceId, 1_000);
  });
  const callers = await createCallers(server, workspaceId);
  const clientOf = (name: string) => callers.find((caller) => caller.name === name)!.client;
  const owner = clientOf("owner's key");
  const ownerSession = clientOf("owner");

  const asset = await owner.ready(await wav(2));
  const cut = await owner.cutEnded((await owner.startCut({ asset_id: asset.id })).id);
  // Starts the preview.
  await owner.must("GET", `/api/v1/assets/${asset.id}/media`);
  await server.idle();
  await server.services().runner.stop();
  const render = await owner.startRender({ asset_id: asset.id });
  const pipeline = await startChain(owner, asset.id, [CUT]);
  const upload = await owner.open(1_000, { projectId: asset.project_id });
  const endpoint = await owner.must<{ id: string }>("POST", "/v1/webhook-endpoints", { json: HOOK });
  const sent = await owner.must<{ delivery_id: string }>("POST", `/v1/webhook-endpoints/${endpoint.id}/test`);
  const key = await ownerSession.must<{ id: string }>("POST", "/api-keys", { json: { name: "shared" } });
  const sessions = await ownerSession.must<{ items: { id: string }[] }>("GET", "/api/v1/sessions");
  const notification = await send(server, owner, sample("pipeline_failed"));
  const endChild = shareChild(server.services().planRequests);
  const joined = await joinWorker(server.services(), "desk");
  let count = 0;
  return {
    server,
    callers,
    owner,
    ownerSession,
    workspaceId,
    cut,
    ids: {
      workspace_id: workspaceId,
      project_id: asset.project_id,
      asset_id: asset.id,
      cut_id: cut.id,
      render_id: render.id,
      share_id: newId(),
      export_id: newId(),
      pipeline_id: pipeline.id,
      step_id: pipeline.steps[0]!.id,
      upload_id: upload.id,
      endpoint_id: endpoint.id,
      delivery_id: sent.delivery_id,
      key_id: key.id,
      session_id: sessions.items[0]!.id,
      notification_id: notification!.id,
      user_id: founder.userId,
      worker_id: joined.worker.id,
      token_id: joined.token.id,
      track: "audio",
      sheet: "0",
      order_id: await insertPendingOrder(server, workspaceId, owner.userId),
    },
    next: () => ++count,
    [Symbol.asyncDispose]: async () => {
      endChild();
      await server[Symbol.asyncDispose]();
    },
  };
}

type Make = (fixtures: Fixtures) => Promise<Record<string, string>>;

/** Ends the test events of earlier callers, because a workspace can have only a few waiting ones. */
export const endTests: Make = async ({ server }) => {
  await server.services().store.write((tx) => tx.run(sql`UPDATE deliveries SET state = 'failed', due_at = NULL`));
  return {};
};

/** Creates a resource that a call may remove or change permanently. */
export const newProject: Make = async ({ owner }) => ({ project_id: (await owner.project()).id });
export const newUpload: Make = async ({ owner, ids }) => {
  const { id } = await owner.open(100, { projectId: ids.project_id! });
  return { upload_id: id, asset_id: id };
};
export const newCut: Make = async ({ owner, ids, next }) => ({
  cut_id: (await owner.startCut({ asset_id: ids.asset_id, script: `alpha ${next()}` })).id,
});
export const newRender: Make = async ({ owner, ids, next }) => ({
  render_id: (await owner.startRender({ asset_id: ids.asset_id, output: { audio_bitrate: 40_000 + next() } })).id,
});
export const newEndpoint: Make = async ({ owner }) => ({
  endpoint_id: (await owner.must<{ id: string }>("POST", "/v1/webhook-endpoints", { json: HOOK })).id,
});
