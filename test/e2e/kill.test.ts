/**
 * `kill -9` in the middle of everything, then a start on the same folder: the right end, one charge, each event once.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Client } from "../http/client";
import { wav } from "../http/media";
import type { AssetDetail, Cut, Render } from "../http/resources";
import { createLink } from "../http/upload-clients";
import { until } from "../until";
import { FIXTURES, IS_BUNDLED_PASS } from "./offcut";
import { BUNDLED, type Server, startServer } from "./server";

const talk = () => Bun.file(join(FIXTURES, "talk.mp4")).bytes();
const script = () => Bun.file(join(FIXTURES, "talk.script.txt")).text();
const LONG = 240_000;
const CREDITS = 100;

/** Returns every event as `type entity`, and the charges. Stops the server for it. */
async function book(server: Server): Promise<{ events: string[]; charges: number[]; open: number; holds: number }> {
  const events = await server.query<{ type: string; entity_id: string }>("SELECT type, entity_id FROM events");
  const charges = await server.query<{ delta: number }>("SELECT delta FROM ledger WHERE type = 'consume_asset'");
  const open = await server.query("SELECT id FROM steps WHERE finished_at IS NULL AND processor_name <> 'preview'");
  const holds = await server.query("SELECT id FROM holds");
  return {
    events: events.map((event) => `${event.type} ${event.entity_id}`).toSorted(),
    charges: charges.map((entry) => entry.delta),
    open: open.length,
    holds: holds.length,
  };
}

const started = async <T extends { state: string }>(what: string, read: () => Promise<T>): Promise<T> =>
  until(what, async () => {
    const current = await read();
    return current.state === "pending" ? null : current;
  });

test(
  "killed in an upload, in the preparation, in a cut and in a render",
  async () => {
    await using server = await startServer();
    const user: Client = await server.user(CREDITS);
    const bytes = await talk();

    // The upload: the server goes while the second part is on its way.
    const { id } = await user.open(bytes.length, { filename: "talk.mp4" });
    const half = Math.floor(bytes.length / 2);
    expect((await user.patch(id, 0, bytes.slice(0, half))).status).toBe(204);
    const neverEnding = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes.slice(half, half + 100_000)),
    });
    const lost = user.patch(id, half, neverEnding).catch(() => "cut off");
    await until("bytes of the second part", () => Bun.file(join(server.data, "uploads", id)).slice().size > half);
    await server.kill();
    expect(await lost).toBe("cut off");
    await server.start();
    const head = await user.call("HEAD", `/v1/uploads/${id}`, { headers: user.tus() });
    const offset = Number(head.headers.get("upload-offset"));
    expect(offset).toBeGreaterThanOrEqual(half);
    expect(offset).toBeLessThanOrEqual(half + 100_000);
    expect((await user.patch(id, offset, bytes.slice(offset))).status).toBe(204);

    // The preparation: as soon as the charge is held.
    const preparing = await until("a measured duration", async () => {
      const asset = await user.asset(id);
      return asset.duration_seconds === null ? null : asset;
    });
    expect(preparing.state).toBe("processing");
    await server.kill();
    await server.start();
    const asset: AssetDetail = await user.prepared(id);
    expect(asset).toMatchObject({ state: "ready", type: "video", cuttable: true, has_transcript: true });
    const stored = await (await fetch(asset.download_url!)).arrayBuffer();
    expect(Buffer.compare(Buffer.from(stored), Buffer.from(bytes))).toBe(0);

    // The cuts: one has begun, and the last of them cannot have ended.
    const text = await script();
    const modes = ["tight", "natural", "loose"];
    const cuts: Cut[] = await Promise.all(
      modes.map((mode) => user.startCut({ asset_id: id, script: text, options: { mode } })),
    );
    await started("a started cut", () => user.cut(cuts[0]!.id));
    await server.kill();
    await server.start();
    const done = await Promise.all(cuts.map((cut) => user.cutEnded(cut.id)));
    expect(done.map((cut) => cut.state)).toEqual(["completed", "completed", "completed"]);

    // The render: while it encodes.
    const [cut] = done as [Cut];
    const render: Render = await user.startRender({ asset_id: id, cut_id: cut.id });
    expect((await started("a started render", () => user.render(render.id))).state).toBe("processing");
    await server.kill();
    await server.start();
    const rendered = await user.renderEnded(render.id);
    expect(rendered).toMatchObject({ state: "completed", error_code: null });
    const output = await (await fetch(rendered.download_url!)).arrayBuffer();
    expect(output.byteLength).toBe(rendered.size_bytes!);

    // Each kind was really interrupted: it has been started twice.
    const twice = await server.query<{ name: string }>(
      "SELECT DISTINCT processor_name AS name FROM steps WHERE attempts = 2 AND failures = 0 AND processor_name <> 'preview' ORDER BY name",
    );
    expect(twice.map((step) => step.name)).toEqual(["cut", "prepare", "render"]);
    expect(await book(server)).toEqual({
      events: [
        `asset.ready ${id}`,
        ...cuts.map((each) => `cut.completed ${each.id}`),
        `render.completed ${render.id}`,
      ].toSorted(),
      charges: [-1],
      open: 0,
      holds: 0,
    });
  },
  LONG,
);

test.skipIf(IS_BUNDLED_PASS)(
  "killed in a PUT to a signed link, and as soon as the whole file has arrived",
  async () => {
    await using server = await startServer(BUNDLED);
    const user: Client = await server.user(CREDITS);
    const bytes = (await wav(2)) as Uint8Array<ArrayBuffer>;
    const { asset, upload } = await createLink(user);
    const { pathname, search } = new URL(upload.url);
    // The port is another one after each start.
    const url = () => `${server.url()}${pathname}${search}`;
    const file = join(server.data, "uploads", asset.id);
    const half = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(bytes.slice(0, 50_000)) });
    const lost = user.call("PUT", url(), { body: half }).catch(() => "cut off");
    await until("bytes of the file", () => Bun.file(file).size > 0);
    await server.kill();
    expect(await lost).toBe("cut off");
    await server.start();
    expect(await Bun.file(file).exists()).toBe(false);
    expect((await user.asset(asset.id)).state).toBe("pending_upload");
    expect((await user.call("PUT", url(), { body: bytes })).status).toBe(204);
    await server.kill();
    await server.start();
    expect(await user.prepared(asset.id)).toMatchObject({ state: "ready", size_bytes: bytes.length });
    expect((await user.call("PUT", url(), { body: bytes })).status).toBe(409);
    expect(await book(server)).toEqual({ events: [`asset.ready ${asset.id}`], charges: [-1], open: 0, holds: 0 });
  },
  LONG,
);

test.skipIf(IS_BUNDLED_PASS)(
  "a SIGTERM during work ends it soon with 0, and the work resumes at the next start",
  async () => {
    await using server = await startServer(BUNDLED);
    const user = await server.user(CREDITS);
    const id = await user.upload(await talk(), { filename: "talk.mp4" });
    await until("a measured duration", async () => (await user.asset(id)).duration_seconds !== null);
    const { code, seconds } = await server.terminate();
    expect(code).toBe(0);
    expect(seconds).toBeLessThan(12);
    await server.start();
    expect((await user.prepared(id)).state).toBe("ready");
    const steps = await server.query(
      "SELECT attempts, failures, state FROM steps WHERE subject_id = ? AND processor_name = 'prepare'",
      id,
    );
    expect(steps).toEqual([{ attempts: 1, failures: 0, state: "completed" }]);
    expect(await book(server)).toEqual({ events: [`asset.ready ${id}`], charges: [-1], open: 0, holds: 0 });
  },
  LONG,
);
