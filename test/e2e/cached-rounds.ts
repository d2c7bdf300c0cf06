/**
 * Renders of one recording that reuse the segments of the first one: at the head, which keeps the cache, and at a
 * worker, which has none. Before each round the file of the cache is damaged; while both render, the head is killed,
 * and in every other round a worker too.
 */
import { expect } from "bun:test";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Render } from "../http/resources";
import { createRandom, type Random } from "../random";
import { until } from "../until";
import { expectExact, type Outcome, type World } from "./fault-rounds";

/** Returns the damaged file; null removes it. */
type Damage = (bytes: Uint8Array, random: Random) => Uint8Array | null;

/** A cache begins and ends with its format. */
const MAGIC_BYTES = 8;

const DAMAGES: Record<string, Damage> = {
  "bytes are overwritten": (bytes, random) => {
    for (let count = 0; count < bytes.length / 1_000; count++) bytes[random(bytes.length)]! ^= 1 + random(255);
    return bytes;
  },
  "the file is missing": () => null,
  "nothing is damaged": (bytes) => bytes,
  "the end is cut off": (bytes, random) => bytes.slice(0, random(bytes.length)),
  "another build wrote it": (bytes) => {
    for (const at of [MAGIC_BYTES - 1, bytes.length - 1]) bytes[at] = "0".charCodeAt(0);
    return bytes;
  },
  "the file is empty": () => new Uint8Array(),
};

/** Renders with the cache as each damage leaves it, `count` times. The head must have one slot for renders. */
export async function runCachedRounds(world: World, count: number): Promise<Outcome[]> {
  const { cluster, user, cut } = world;
  const { head, workers } = cluster;
  const outcomes: Outcome[] = [];
  let bitrate = 64_000;
  /**
   * Starts a render that begins before this resolves. Returns a function that waits for its end and checks its frames.
   */
  const start = async (what: string, key: string) => {
    const started = performance.now();
    // The same request again would return the first render. The video is the same.
    bitrate += 1_000;
    const json = { asset_id: cut.asset_id, cut_id: cut.id, output: { audio_bitrate: bitrate } };
    const headers = { "Idempotency-Key": `cached-${key}` };
    const { id } = await user.must<Render>("POST", "/v1/renders", { json, headers });
    await until(`${what}: start`, async () => (await user.render(id)).state !== "pending");
    return async () => {
      await expectExact(user, id, what);
      outcomes.push({ render: id, seconds: (performance.now() - started) / 1000, names: [what] });
      return head.log().find(({ event, render }) => event === "render.segments_encoded" && render === id);
    };
  };

  const first = await (await start("first render", "first"))();
  expect(first).toMatchObject({ cached_frames: 0 });
  const [name] = [...new Bun.Glob("**/render.cache").scanSync({ cwd: head.data })];
  const path = join(head.data, name!);
  const damages = Object.entries(DAMAGES);
  for (let seed = 1; seed <= count; seed++) {
    const random = createRandom(seed);
    const [damage, change] = damages[(seed - 1) % damages.length]!;
    const what = `cached round ${seed}, ${damage}`;
    const changed = change(await Bun.file(path).bytes(), random);
    if (changed === null) await rm(path);
    else await Bun.write(path, changed);

    // The first one has the only slot of the head, the second one gets a worker.
    const ends = [await start(what, `${seed}-head`), await start(what, `${seed}-worker`)];
    const killed = random(2) === 0 ? workers[random(workers.length)]! : null;
    await killed?.kill();
    await cluster.restartHead();
    await killed?.start();
    for (const end of ends) await end();

    // The damaged file was replaced by one with everything that a render needs.
    const repeated = await (await start(`${what}, again`, `${seed}-again`))();
    expect([what, repeated?.cached_frames]).toEqual([what, first!.encoded_frames]);
  }
  return outcomes;
}
