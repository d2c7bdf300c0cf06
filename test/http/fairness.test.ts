/** Jobs of several users on a server with one slot. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { until } from "../until";
import { harness, PATIENCE_MS } from "./harness";
import { longVideo, wav } from "./media";

setDefaultTimeout(PATIENCE_MS);

test("a long render yields to another user's between two chunks and resumes after it, with one start and one event", async () => {
  await using own = await harness({ RENDER_JOBS: "1" }, { timeSliceMs: 1 });
  const [longUser, shortUser] = [await own.user(), await own.user()];
  const [long, short] = [await longUser.ready(await longVideo()), await shortUser.ready(await wav(4))];
  const first = await longUser.startRender({ asset_id: long.id, output: { resolution: "144p" } });
  await until("a render that has begun", async () => (await longUser.render(first.id)).state === "processing");
  const second = await shortUser.startRender({ asset_id: short.id, output: { format: "mp3" } });
  const after = await shortUser.renderEnded(second.id);
  expect(after.state).toBe("completed");
  expect((await longUser.render(first.id)).state).toBe("processing");
  const done = await longUser.renderEnded(first.id);
  expect(done).toMatchObject({
    state: "completed",
    strategy: "chunked",
    encoded_share: 1,
    strategy_reasons: ["Another resolution was requested."],
  });
  expect(Date.parse(done.completed_at!)).toBeGreaterThan(Date.parse(after.completed_at!));
  expect(await own.events(first.id)).toEqual(["render.completed"]);
  const steps = await own
    .services()
    .store.read.all(sql`SELECT attempts, failures FROM steps WHERE subject_id = ${first.id}`);
  expect(steps).toEqual([{ attempts: 1, failures: 0 }]);
  expect(own.errors).toEqual([]);
});

test("when all slots and extra slots are taken, preparations yield during speech recognition, and every user's starts", async () => {
  await using own = await harness({ PREPARE_JOBS: "1" }, { timeSliceMs: 1 });
  const hold = own.speech.hold("analyze");
  const users = await Promise.all(Array.from({ length: 6 }, () => own.user()));
  const ids: string[] = [];
  for (const user of users) ids.push(await user.upload(await wav(2)));
  const { store } = own.services();
  const begun = () => store.read.all<{ n: number }>(sql`SELECT count(*) AS n FROM steps WHERE started_at IS NOT NULL`);
  await until("a preparation of each user that has begun", async () => (await begun())[0]!.n === users.length);
  hold.release();
  for (const [n, user] of users.entries()) expect((await user.prepared(ids[n]!)).state).toBe("ready");
  const steps = await store.read.all(sql`SELECT DISTINCT attempts, failures FROM steps`);
  expect(steps).toEqual([{ attempts: 1, failures: 0 }]);
  expect(own.errors).toEqual([]);
});
