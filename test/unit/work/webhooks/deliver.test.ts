import { expect, test } from "bun:test";
import { newId } from "../../../../src/lib/ids";
import { createLog } from "../../../../src/lib/log";
import type { Store } from "../../../../src/store/db";
import { findNextDeliveryTime } from "../../../../src/store/delivery-queue";
import { listNotifications } from "../../../../src/store/notifications";
import {
  findEndpoint,
  insertDelivery,
  insertEndpoint,
  listDeliveries,
  updateEndpoint,
} from "../../../../src/store/webhooks";
import { createDeliverer } from "../../../../src/work/webhooks/deliver";
import { until } from "../../../until";
import { addMember, addUser, freshStore } from "../../store/test-store";

const SECRET = `whsec_${Buffer.from("a secret of some length").toString("base64")}`;
const MINUTE = 60_000;
const NOW = 1_800_000_000_000;

/** Creates an endpoint with deliveries that are due at these times. */
async function endpointWith(store: Store, workspaceId: string, url: string, due: number[], failingSince?: number) {
  return store.write(async (tx) => {
    const endpoint = await insertEndpoint(tx, {
      id: newId(),
      workspace_id: workspaceId,
      url,
      event_types: ["cut.completed"],
      state: "enabled",
      secret: SECRET,
      failing_since: failingSince ?? null,
      created_at: 0,
    });
    for (const at of due) {
      await insertDelivery(tx, {
        id: newId(),
        endpoint_id: endpoint.id,
        workspace_id: workspaceId,
        event_id: newId(),
        type: "cut.completed",
        body: "{}",
        state: "pending",
        due_at: at,
        created_at: at,
      });
    }
    return endpoint;
  });
}

const OPTIONS = {
  rules: { allowLoopback: true, allowPrivate: false },
  log: createLog(() => {}, false),
  now: () => NOW,
  resolverFor: () => async () => [],
};

/** A receiver that responds when the test allows it, and a deliverer that sends to it. */
async function world() {
  const fresh = await freshStore();
  const answers = Promise.withResolvers<number>();
  const received: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      received.push(pathname);
      return new Response(null, { status: pathname === "/slow" ? await answers.promise : 204 });
    },
  });
  const { store } = fresh;
  const { workspaceId } = await store.write(addUser);
  const deliverer = createDeliverer({ ...OPTIONS, store });
  return {
    store,
    workspaceId,
    deliverer,
    received,
    url: (path: string) => `http://127.0.0.1:${server.port}${path}`,
    answer: answers.resolve,
    [Symbol.asyncDispose]: async () => {
      answers.resolve(204);
      await deliverer.stop();
      await server.stop(true);
      await fresh[Symbol.asyncDispose]();
    },
  };
}

test("deliveries that are already due do not hide when the next one becomes due", async () => {
  await using w = await world();
  await endpointWith(w.store, w.workspaceId, w.url("/slow"), [NOW - MINUTE, NOW + MINUTE, NOW + 2 * MINUTE]);
  expect(await findNextDeliveryTime(w.store.read, NOW)).toBe(NOW + MINUTE);
  expect(await findNextDeliveryTime(w.store.read, NOW + 2 * MINUTE)).toBeNull();
});

test("hundreds of messages to an endpoint that hangs do not delay the message of another user", async () => {
  await using w = await world();
  await endpointWith(w.store, w.workspaceId, w.url("/slow"), Array<number>(450).fill(NOW - MINUTE));
  await endpointWith(w.store, w.workspaceId, w.url("/quick"), [NOW]);
  w.deliverer.start();
  await until("the quick one", () => w.received.includes("/quick"));
  expect(w.received.filter((path) => path === "/slow").length).toBeLessThanOrEqual(4);
});

test("a failure that started before another message succeeded does not count as failing since before that success", async () => {
  await using w = await world();
  const sixDaysAgo = NOW - 6 * 24 * 60 * MINUTE;
  const endpoint = await endpointWith(w.store, w.workspaceId, w.url("/slow"), [NOW], sixDaysAgo);
  w.deliverer.start();
  await until("the message", () => w.received.length > 0);
  await w.store.write((tx) => updateEndpoint(tx, endpoint.id, { last_success_at: NOW, failing_since: null }));
  w.answer(500);
  await until("its end", async () => {
    const {
      rows: [delivery],
    } = await listDeliveries(w.store.read, endpoint.id, { state: null, after: null, limit: 1 });
    return delivery!.attempts === 1;
  });
  expect(await findEndpoint(w.store.read, w.workspaceId, endpoint.id)).toMatchObject({
    state: "enabled",
    last_success_at: NOW,
    failing_since: NOW,
  });
});

test("410 from an old URL does not disable an endpoint whose URL has changed in the meantime", async () => {
  await using w = await world();
  const endpoint = await endpointWith(w.store, w.workspaceId, w.url("/slow"), [NOW]);
  w.deliverer.start();
  await until("the message", () => w.received.length > 0);
  await w.store.write((tx) => updateEndpoint(tx, endpoint.id, { url: w.url("/quick") }));
  w.answer(410);
  await until("its end", async () => {
    const {
      rows: [delivery],
    } = await listDeliveries(w.store.read, endpoint.id, { state: null, after: null, limit: 1 });
    return delivery!.attempts === 1;
  });
  expect(await findEndpoint(w.store.read, w.workspaceId, endpoint.id)).toMatchObject({ state: "enabled" });
});

test("each owner of the workspace is notified once that an endpoint is disabled, although several messages fail", async () => {
  await using w = await world();
  const [owner, editor] = await w.store.write(async (tx) => {
    const others = [(await addUser(tx)).userId, (await addUser(tx)).userId] as const;
    await addMember(tx, w.workspaceId, others[0], "owner");
    await addMember(tx, w.workspaceId, others[1], "editor");
    return others;
  });
  const endpoint = await endpointWith(w.store, w.workspaceId, w.url("/slow"), [NOW, NOW, NOW]);
  w.deliverer.start();
  await until("the messages", () => w.received.length === 3);
  w.answer(410);
  await until("their end", async () => {
    const { rows } = await listDeliveries(w.store.read, endpoint.id, { state: null, after: null, limit: 10 });
    return rows.every((delivery) => delivery.attempts === 1);
  });
  const payload = { endpoint_id: endpoint.id, host: new URL(w.url("")).host, reason: "gone" };
  for (const [userId, expected] of [
    [w.workspaceId, [payload]],
    [owner, [payload]],
    [editor, []],
  ] as const) {
    const { rows } = await listNotifications(
      w.store.read,
      { userId, workspaceId: null, hasExports: true },
      { isUnread: true, limit: 10, offset: 0 },
    );
    expect(rows.map((row) => row.payload)).toMatchObject([...expected]);
  }
});

test("a stop does not wait for the pause after a result that could not be stored", async () => {
  await using w = await world();
  await endpointWith(w.store, w.workspaceId, w.url("/quick"), [NOW]);
  const failed = Promise.withResolvers<void>();
  const write = async () => {
    failed.resolve();
    throw new Error("disk I/O error");
  };
  const deliverer = createDeliverer({ ...OPTIONS, store: { ...w.store, write } });
  deliverer.start();
  await failed.promise;
  const started = performance.now();
  await deliverer.stop();
  expect(performance.now() - started).toBeLessThan(4_000);
});
