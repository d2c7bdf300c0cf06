/**
 * `GET /api/v1/workspaces?containing=`: the workspace of a resource, for links that lead to another one than the page
 * shows.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { KEY_SCOPES, type KeyScope } from "../../src/domain/access";
import { newId } from "../../src/lib/ids";
import { createApiKey } from "../../src/work/access/command-accounts";
import { grantWorkspace } from "../unit/store/test-store";
import { emailOf, startSession } from "./accounts";
import { type Client, createClient } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { attempt, NO_ID } from "./outcome";
import { createWorkspace, join, type Listed, type Workspace } from "./workspace-calls";

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
let studio: string;
let people: Record<string, Client>;
/** The ID of each kind of resource in the workspace. */
const ids: Record<string, string> = { "of nothing": NO_ID };

const session = async () => startSession(server, await server.user());

/** Returns a client with a key of the user for a workspace. */
async function keyOf(user: Client, workspace: string, scopes: readonly KeyScope[] = KEY_SCOPES): Promise<Client> {
  const { key } = await createApiKey(server.services(), {
    email: emailOf(user),
    name: "k",
    workspace,
    scopes: [...scopes],
  });
  return createClient(server.url, key, user.userId);
}

beforeAll(async () => {
  server = await harness({ WEBHOOKS_ALLOW_LOOPBACK: "true" });
  const [owner, viewer, former, stranger] = [await session(), await session(), await session(), await session()];
  studio = (await createWorkspace(owner)).id;
  await join(owner, studio, viewer, "viewer");
  await join(owner, studio, former);
  const inStudio = await keyOf(owner, studio);
  people = {
    owner,
    viewer,
    former,
    stranger,
    "key of the workspace": inStudio,
    "read-only key of the workspace": await keyOf(owner, studio, ["read"]),
    "key of another workspace": await keyOf(owner, owner.userId),
    "key of a stranger": await keyOf(stranger, stranger.userId),
  };
  const { store, now } = server.services();
  await store.write((tx) => grantWorkspace(tx, studio, 100));
  const asset = await inStudio.ready(await wav(2));
  const cut = await inStudio.startCut({ asset_id: asset.id });
  const render = await inStudio.startRender({ asset_id: asset.id });
  const json = { url: "http://127.0.0.1:8999/hook", event_types: ["asset.ready"] };
  const endpoint = await inStudio.must<{ id: string }>("POST", "/v1/webhook-endpoints", { json });
  const pipelines = await inStudio.must<Listed<{ id: string }>>("GET", "/api/v1/pipelines");
  await owner.must("DELETE", `/api/v1/workspaces/${studio}/members/${former.userId}`);
  ids.project = asset.project_id;
  ids.asset = asset.id;
  ids.cut = cut.id;
  ids.render = render.id;
  ids.pipeline = pipelines.items[0]!.id;
  ids["webhook endpoint"] = endpoint.id;
  ids.order = newId();
  ids["hidden pipeline"] = newId();
  await store.write(async (tx) => {
    await tx.run(sql`INSERT INTO pipelines (id, workspace_id, state, is_hidden, created_at)
      VALUES (${ids["hidden pipeline"]}, ${studio}, 'completed', 1, ${now()})`);
    await tx.run(sql`INSERT INTO orders (id, workspace_id, user_id, provider, price_id, price_name, price_kind, credits, amount, currency, state, created_at)
      VALUES (${ids.order}, ${studio}, ${owner.userId}, 'offline', 'p', 'P', 'one_time', 1, 1, 'eur', 'pending', ${now()})`);
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const KINDS = ["project", "asset", "cut", "render", "pipeline", "webhook endpoint", "order"];
const find = (who: string, id: string) =>
  people[who]!.must<Listed<Workspace>>("GET", `/api/v1/workspaces?containing=${id}`);

describe.each(["owner", "viewer", "key of the workspace", "read-only key of the workspace"])(
  "%s finds it by",
  (who) => {
    test.each(KINDS)("%s", async (kind) => {
      const role = who === "viewer" ? "viewer" : "owner";
      const item: Workspace = { id: studio, name: "Studio", role, is_personal: false };
      const found = { items: [item], total: 1, limit: 20, offset: 0 };
      expect(await find(who, ids[kind]!)).toEqual(found);
      expect(await find(who, ids[kind]!.toUpperCase())).toEqual(found);
    });

    test.each(["of nothing", "hidden pipeline"])("no ID %s", async (kind) => {
      expect(await find(who, ids[kind]!)).toEqual({ items: [], total: 0, limit: 20, offset: 0 });
    });
  },
);

describe.each(["former", "stranger", "key of another workspace", "key of a stranger"])("%s finds nothing by", (who) => {
  test.each(KINDS)("%s", async (kind) => {
    expect(await find(who, ids[kind]!)).toEqual(await find(who, NO_ID));
  });
});

test.each([
  ["owner", "containing=x", "422 query.containing"],
  ["owner", "containing=", "422 query.containing"],
])("%s: %s is %s", async (who, query, expected) => {
  expect(await attempt(people[who]!, "GET", `/api/v1/workspaces?${query}`)).toBe(expected);
});

test("without a credential it is 401", async () => {
  const nobody = createClient(server.url, null, NO_ID);
  expect(await attempt(nobody, "GET", `/api/v1/workspaces?containing=${ids.asset}`)).toBe("401 unauthenticated");
});
