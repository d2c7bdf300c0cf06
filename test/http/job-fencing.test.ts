/**
 * The result of an attempt that was replaced by a newer one, of one whose asset was deleted, and of one whose cleanup
 * fails.
 */
import { expect, setDefaultTimeout, spyOn, test } from "bun:test";
import type { Job, JobContext } from "../../src/domain/jobs";
import { findLatestStep, listOpenSteps } from "../../src/store/steps";
import { createJobSource } from "../../src/work/jobs/job-source";
import { createJobHandlers, JOBS } from "../../src/work/jobs/registry";
import { onePlace } from "../unit/queue/no-places";
import { until } from "../until";
import { harness, PATIENCE_MS } from "./harness";
import { video, wav } from "./media";

setDefaultTimeout(PATIENCE_MS);

const LEASE_MS = 1_000;
const context: JobContext = {
  signal: new AbortController().signal,
  shouldYield: () => false,
  progress: () => {},
  ...onePlace,
};

/** Claims the step of the subject twice: the lease of the first attempt has expired by the second. */
async function claimTwice(server: Awaited<ReturnType<typeof harness>>, subjectId: string): Promise<[Job, Job]> {
  const services = server.services();
  const step = (await findLatestStep(services.store.read, subjectId))!;
  const source = createJobSource(services);
  const late = (await source.claim(step.id, "frozen", LEASE_MS))!;
  server.advance(2 * LEASE_MS);
  const current = (await source.claim(step.id, "other", 60_000))!;
  expect([late.attempt, current.attempt]).toEqual([1, 2]);
  return [late, current];
}

test("the late result of a render is discarded, and the files of the current attempt stay", async () => {
  await using server = await harness();
  const user = await server.user();
  const asset = await user.ready(await video(4));
  const services = server.services();
  await services.runner.stop();
  const { id } = await user.startRender({ asset_id: asset.id, output: { format: "m4a" } });
  const [late, current] = await claimTwice(server, id);
  const { render } = createJobHandlers(services, server.tools());
  await render(late, context);
  expect((await user.render(id)).state).toBe("processing");
  expect(await findLatestStep(services.store.read, id)).toMatchObject({ attempts: 2, finished_at: null });
  expect(await server.leftovers(id)).toContain(`work/${id}`);
  const shares: number[] = [];
  await render(current, { ...context, progress: (share) => shares.push(share) });
  // A render is complete only when its file is stored.
  expect(Math.max(...shares)).toBe(0.99);
  expect((await user.render(id)).state).toBe("completed");
  expect(await server.events(id)).toEqual(["render.completed"]);
  await render(late, context);
  expect((await user.render(id)).state).toBe("completed");
  expect(await server.events(id)).toEqual(["render.completed"]);
  services.runner.start();
});

test("a late attempt of a preparation ends at its first intermediate result, without a hold", async () => {
  await using server = await harness();
  const user = await server.user(10);
  const services = server.services();
  await services.runner.stop();
  const id = await user.upload(await wav(4));
  const [late, current] = await claimTwice(server, id);
  const { prepare } = createJobHandlers(services, server.tools());
  await expect(prepare(late, context)).rejects.toThrow("job lost");
  expect(await user.asset(id)).toMatchObject({ state: "processing", duration_seconds: null });
  await prepare(current, context);
  expect((await user.asset(id)).state).toBe("ready");
  expect(await server.events(id)).toEqual(["asset.ready from processing"]);
  services.runner.start();
});

test("a job whose asset is deleted as it starts leaves no files", async () => {
  await using server = await harness({ PREVIEWS: "after_preparation" });
  const user = await server.user();
  const { runner } = server.services();
  await runner.stop();
  for (const name of ["prepare", "preview"] as const) {
    const services = server.services();
    const id = await user.upload(await wav(2));
    const source = createJobSource(services);
    const claim = async () => {
      const [step] = await listOpenSteps(services.store.read, [id]);
      return (await source.claim(step!.id, "first", LEASE_MS))!;
    };
    let job = await claim();
    if (name === "preview") {
      await createJobHandlers(services, server.tools()).prepare(job, context);
      job = await claim();
    }
    expect(job.name).toBe(name);
    const remove = () => user.call("DELETE", `/v1/assets/${id}`);
    const handlers = createJobHandlers(services, server.tools(), {
      runJob: async (_job, _loaded, _context, { runHere }) => {
        expect((await remove()).status).toBe(204);
        return runHere();
      },
    });
    await expect(handlers[name](job, context)).rejects.toThrow();
    await until("the removal of its files", async () => (await server.leftovers(id)).length === 0);
  }
  runner.start();
});

test("the file of a completed render stays when its cleanup fails, and when a late attempt ends after it", async () => {
  await using server = await harness();
  const user = await server.user();
  const asset = await user.ready(await video(4));
  const services = server.services();
  await services.runner.stop();
  const count = spyOn(services.counters.jobEnds, "add");
  const { id } = await user.startRender({ asset_id: asset.id, output: { format: "m4a" } });
  const [late, current] = await claimTwice(server, id);
  const { render } = createJobHandlers(services, server.tools());
  const cleanup = spyOn(JOBS.render, "cleanup").mockRejectedValueOnce(new Error("no space left on device"));
  const handlers = createJobHandlers(services, server.tools(), {
    runJob: async (_job, _loaded, _context, { runHere }) => {
      const output = await runHere();
      await render(current, context);
      return output;
    },
  });
  await handlers.render(late, context);
  expect(cleanup.mock.calls.map(([, , end]) => end)).toEqual(["completed", "completed"]);
  cleanup.mockRestore();
  expect((await user.render(id)).state).toBe("completed");
  expect(await Bun.file(services.folders.renderOutput(id, "m4a")).exists()).toBe(true);
  expect(count.mock.calls).toEqual([[{ job: "render", outcome: "completed" }]]);
  services.runner.start();
});
