/**
 * API keys may not access the account of their user, except for a key that the user created for the personal workspace.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { newId } from "../../src/lib/ids";
import { notify } from "../../src/work/notifications/notifications";
import { until } from "../until";
import { startSession } from "./accounts";
import { type Client, createClient } from "./client";
import { followEvents } from "./event-source";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { sample } from "./notification-samples";
import { NO_ID } from "./outcome";
import { PRICES } from "./prices";
import { attempt, createWorkspace } from "./workspace-calls";

setDefaultTimeout(PATIENCE_MS);

type Key = Client & { key: string };
const KINDS = ["personal", "reader", "device", "shared"] as const;

let server: Harness;
let anna: Client;
let workspaceId: string;
/** Keys of Anna: of the personal workspace, with one scope, of a device, and of a shared workspace. */
let keys: Record<(typeof KINDS)[number], Key>;

const withKey = (key: string): Key => ({ ...createClient(server.url, key, anna.userId), key });
const mint = async (json: object) =>
  withKey((await anna.must<{ key: string }>("POST", "/api-keys", { json: { name: "k", ...json } })).key);

/** Gets a key as a device does. `headers`: the workspace in which the user approves it. */
async function grantDevice(headers: Record<string, string> = {}): Promise<Key> {
  const client = { client_id: "desk" };
  const post = <T>(as: Client, path: string, form: Record<string, string>, more = {}) =>
    as.must<T>("POST", `/oauth/${path}`, { body: new URLSearchParams(form), headers: more });
  const started = await post<{ device_code: string; user_code: string }>(server.nobody, "device/code", client);
  await post(anna, "device/approve", { user_code: started.user_code }, headers);
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const { device_code } = started;
  const form = { ...client, grant_type, device_code };
  return withKey((await post<{ access_token: string }>(server.nobody, "token", form)).access_token);
}

beforeAll(async () => {
  server = await harness({}, { configuration: PRICES });
  anna = await startSession(server, await server.user());
  workspaceId = (await createWorkspace(anna)).id;
  keys = {
    personal: await mint({}),
    reader: await mint({ scopes: ["read"] }),
    device: await grantDevice(),
    shared: await mint({ workspace_id: workspaceId }),
  };
});
afterAll(() => server[Symbol.asyncDispose]());

const OK_FOR_ACCOUNT = { personal: true, reader: false, device: false, shared: false };
const NEVER = { ...OK_FOR_ACCOUNT, personal: false };
type Row = [method: string, path: string, json: object | undefined, allowed: Record<(typeof KINDS)[number], boolean>];

describe("of the account", () => {
  test.each<Row>([
    ["PATCH", "/users/me", { first_name: "Ada" }, OK_FOR_ACCOUNT],
    ["POST", "/users/me/export", undefined, OK_FOR_ACCOUNT],
    ["GET", "/users/me/export", undefined, OK_FOR_ACCOUNT],
    ["GET", "/users/me/two-factor", undefined, NEVER],
    ["GET", "/sessions", undefined, NEVER],
    ["POST", "/notifications/read", undefined, NEVER],
    ["POST", `/notifications/${NO_ID}/read`, undefined, NEVER],
    [
      "PATCH",
      "/notifications/preferences",
      { items: [{ type: "pipeline_failed", channel: "in_app", enabled: false }] },
      NEVER,
    ],
    ["POST", "/billing/checkout", { price_id: "pack-600" }, NEVER],
    ["POST", `/billing/orders/${NO_ID}/checkout`, undefined, NEVER],
    ["POST", `/billing/orders/${NO_ID}/cancel`, undefined, NEVER],
    ["DELETE", "/billing/subscription", undefined, NEVER],
  ])("%s %s", async (method, path, json, allowed) => {
    for (const kind of KINDS) {
      const outcome = await attempt(keys[kind], method, path, json ? { json } : {});
      const isRefused = outcome === "403 forbidden";
      expect([kind, isRefused ? outcome : "allowed"]).toEqual([kind, allowed[kind] ? "allowed" : "403 forbidden"]);
    }
  });
});

test("no key manages a workspace or its members: one that a device got could remove the user who approved it", async () => {
  const device = await grantDevice({ "Offcut-Workspace": workspaceId });
  const member = `/workspaces/${workspaceId}/members/${anna.userId}`;
  for (const [name, key] of Object.entries({ shared: keys.shared, device })) {
    for (const [method, path, json] of [
      ["POST", `/workspaces/${workspaceId}/members`, { email: "mallory@example.test", role: "owner" }],
      ["PATCH", member, { role: "viewer" }],
      ["DELETE", member, undefined],
      ["GET", `/workspaces/${workspaceId}/invitations`, undefined],
      ["DELETE", `/workspaces/${workspaceId}/invitations/${NO_ID}`, undefined],
      ["PATCH", `/workspaces/${workspaceId}`, { name: "Mine" }],
      ["DELETE", `/workspaces/${workspaceId}`, undefined],
      ["POST", "/workspaces", { name: "W" }],
    ] as const) {
      const outcome = await attempt(key, method, path, json ? { json } : {});
      expect([name, method, path, outcome]).toEqual([name, method, path, "403 forbidden"]);
    }
    expect(await attempt(key, "GET", `/workspaces/${workspaceId}/members`)).toBe("200");
    expect(await attempt(key, "POST", "/projects", { json: { name: "P" } })).toBe("201");
  }
});

describe("of its user's notifications a key", () => {
  const send = (type: Parameters<typeof sample>[0], workspace: string | null) => {
    const { store, now } = server.services();
    const request = { userId: anna.userId, workspaceId: workspace, cause: newId(), now: now() };
    return store.write((tx) => notify(tx, { ...sample(type), ...request }));
  };

  type List = { items: { id: string }[]; unread_count: number; total: number };

  test("sees those of its workspace, and an account key those of exports", async () => {
    const own = (await send("pipeline_failed", anna.userId))!.id;
    const shared = (await send("pipeline_failed", workspaceId))!.id;
    const exported = (await send("data_export_ready", null))!.id;
    for (const [kind, ids] of [
      ["personal", [own, exported]],
      ["reader", [own]],
      ["device", [own]],
      ["shared", [shared]],
    ] as const) {
      const list = await keys[kind].must<List>("GET", "/api/v1/notifications");
      const found = list.items.map(({ id }) => id).filter((id) => [own, shared, exported].includes(id));
      expect([kind, found.sort()]).toEqual([kind, [...ids].sort()]);
      expect([kind, list.total, list.unread_count]).toEqual([kind, list.items.length, list.items.length]);
    }
  });

  test.each([
    ["personal", true],
    ["device", false],
    ["shared", false],
  ] as const)("of the kind %s follows them: %p", async (kind, isFollowing) => {
    using stream = await followEvents(server.url(), keys[kind]);
    const { id } = (await send("data_export_ready", null))!;
    const marker = await keys[kind].must<{ id: string }>("POST", "/api/v1/projects", { json: { name: "M" } });
    await until("the project", () => stream.received.some(({ data }) => data.entity_id === marker.id));
    expect(stream.received.some(({ data }) => data.entity_id === id)).toBe(isFollowing);
  });
});
