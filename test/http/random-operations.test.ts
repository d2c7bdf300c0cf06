/** Two users run random operations at once, in an order given by a seed. Ledger and disk must stay consistent. */
import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { sql } from "drizzle-orm";
import { readBalance, readTotalHeld } from "../../src/store/credits";
import { fullOr } from "../full-size";
import { createRandom, type Random } from "../random";
import type { Client, Reply } from "./client";
import { type Harness, harness } from "./harness";
import { wav } from "./media";
import { NO_ID } from "./outcome";
import type { Asset, Cut, LedgerEntry, Paged } from "./resources";

const ROUNDS = fullOr(25, 11);
const MAX_CONCURRENT_OPERATIONS = 8;
const GRANT = 30;

type CreatedIds = { projects: string[]; cuts: string[]; renders: string[] };

/** The operations of a user; repeated entries are more frequent. */
const OPERATIONS = [
  ...["upload", "upload", "break off an upload", "cut", "cut", "cut", "render", "render", "render", "render", "cancel"],
  ...["delete a cut", "delete a render", "delete an asset", "delete a project", "access another user", "list"],
] as const;

/** Runs one operation on the user's resources. */
async function runOperation(
  user: Client,
  other: Client,
  seen: CreatedIds,
  bytes: Uint8Array<ArrayBuffer>,
  roll: Random,
) {
  const pick = (ids: string[]) => ids[roll(Math.max(1, ids.length))] ?? NO_ID;
  const call = (method: string, path: string, json?: unknown) => user.call<{ id?: string }>(method, path, { json });
  const note = (list: string[], reply: Reply<{ id?: string }>) => {
    if (reply.body.id) list.push(reply.body.id);
    return reply;
  };
  const assets = async (query = "") => {
    const { items } = await user.must<Paged<Asset>>("GET", `/v1/assets?limit=100${query}`);
    return items.map((asset) => asset.id);
  };
  const what = OPERATIONS[roll(OPERATIONS.length)]!;
  switch (what) {
    case "upload":
    case "break off an upload": {
      const made = await call("POST", "/v1/assets", { project_id: pick(seen.projects), size_bytes: bytes.length });
      const half = Math.floor(bytes.length / 2);
      if (!made.body.id) return made;
      const sent = await user.patch(made.body.id, 0, bytes.slice(0, half));
      return what === "upload" ? user.patch(made.body.id, half, bytes.slice(half)) : sent;
    }
    case "cut": {
      const options = { min_silence_seconds: 0.3 + roll(20) / 10 };
      const asset_id = pick(await assets("&state=ready"));
      return note(seen.cuts, await call("POST", "/v1/cuts", { asset_id, script: roll(2) ? "alpha" : "", options }));
    }
    case "render": {
      const output = { format: roll(2) ? "mp3" : "m4a", audio_bitrate: 32_000 + roll(30) * 1_000 };
      const asset_id = pick(await assets("&state=ready"));
      const cuts = await user.must<Paged<Cut>>("GET", `/v1/cuts?asset_id=${asset_id}`);
      const cut_id = roll(2) ? (cuts.items[0]?.id ?? null) : null;
      return note(seen.renders, await call("POST", "/v1/renders", { asset_id, cut_id, output }));
    }
    case "cancel":
      return call("POST", `/v1/renders/${seen.renders.at(-1) ?? NO_ID}/cancel`);
    case "delete a cut":
      return call("DELETE", `/v1/cuts/${pick(seen.cuts)}`);
    case "delete a render":
      return call("DELETE", `/v1/renders/${pick(seen.renders)}`);
    case "delete an asset":
      return call("DELETE", `/v1/assets/${roll(2) ? NO_ID : pick(await assets())}`);
    case "delete a project": {
      if (roll(4) > 0) return note(seen.projects, await call("POST", "/v1/projects", { name: "P" }));
      return call("DELETE", `/v1/projects/${pick(seen.projects)}`);
    }
    case "access another user":
      return other.call("DELETE", `/v1/assets/${pick(await assets())}`);
    case "list":
      return call("GET", `/v1/${["assets", "cuts", "renders", "projects"][roll(4)]}?limit=100`);
  }
}

async function checkLedger(server: Harness, user: Client): Promise<void> {
  const { read } = server.services().store;
  const { items } = await user.must<Paged<LedgerEntry>>("GET", "/v1/credits/history?limit=200");
  const charged = items.filter((entry) => entry.type === "consume_asset").map((entry) => entry.asset_id);
  expect(new Set(charged).size).toBe(charged.length);
  expect(await readTotalHeld(read, user.userId)).toBe(0);
  const left = await readBalance(read, user.userId);
  expect(left).toBe(GRANT - charged.length);
  expect(left).toBeGreaterThanOrEqual(0);
}

test.each(fullOr([1, 2], [2]))(
  "ledger and disk stay consistent (seed %d)",
  async (seed) => {
    await using server = await harness({ MAX_UPLOADS: "1000" }, { sharesChild: true });
    const users = [await server.user(GRANT), await server.user(GRANT)] as const;
    const seen: CreatedIds[] = users.map(() => ({ projects: [], cuts: [], renders: [] }));
    const bytes = (await wav(2)) as Uint8Array<ArrayBuffer>;
    const roll = createRandom(seed);
    for (const [n, user] of users.entries()) {
      for (let made = 0; made < 2; made++) await user.ready(bytes);
      seen[n]!.projects.push((await user.project()).id);
    }
    for (let round = 0; round < ROUNDS; round++) {
      const acts = Array.from({ length: MAX_CONCURRENT_OPERATIONS }, () => {
        const who = roll(2);
        return runOperation(users[who]!, users[1 - who]!, seen[who]!, bytes, roll);
      });
      for (const { status, body } of await Promise.all(acts))
        expect([status < 500, status, body]).toEqual([true, status, body]);
      if (round % 10 === 9) await server.restart();
    }
    await server.idle();

    for (const user of users) await checkLedger(server, user);
    const { read } = server.services().store;
    // The test is only meaningful if resources of each kind were completed.
    const kinds = await read.all(sql`SELECT DISTINCT substr(type, 1, instr(type, '.')) AS kind FROM events ORDER BY 1`);
    expect(kinds).toEqual([{ kind: "asset." }, { kind: "cut." }, { kind: "render." }]);
    const twice = await read.all(sql`SELECT entity_id, type FROM events GROUP BY 1, 2 HAVING count(*) > 1`);
    expect(twice).toEqual([]);
    const ends = await read.all<{ n: number }>(
      sql`SELECT count(*) AS n FROM events WHERE type IN ('render.completed', 'render.failed', 'render.cancelled', 'cut.completed', 'cut.failed') GROUP BY entity_id HAVING n > 1`,
    );
    expect(ends).toEqual([]);
    const open = await read.all(
      sql`SELECT id, state FROM assets WHERE state = 'processing' UNION SELECT id, state FROM cuts WHERE state IN ('pending', 'processing') UNION SELECT id, state FROM renders WHERE state IN ('pending', 'processing')`,
    );
    expect(open).toEqual([]);

    const living = async (table: "assets" | "renders") =>
      new Set((await read.all<{ id: string }>(sql.raw(`SELECT id FROM ${table}`))).map((row) => row.id));
    const { folders } = server.services();
    const [assets, renders] = [await living("assets"), await living("renders")];
    expect((await readdir(folders.mediaRoot)).filter((id) => !assets.has(id))).toEqual([]);
    expect((await readdir(folders.uploads)).filter((id) => !assets.has(id))).toEqual([]);
    expect((await readdir(folders.rendersRoot)).filter((id) => !renders.has(id))).toEqual([]);
    expect(await readdir(folders.workRoot)).toEqual([]);
    expect(server.errors).toEqual([]);
  },
  120_000,
);
