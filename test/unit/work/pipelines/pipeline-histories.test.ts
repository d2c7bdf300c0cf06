/**
 * Random histories of pipelines: started, run, failed, cancelled, retried, deleted, with crashes and with results of
 * attempts that were replaced. After each operation the database is consistent, and holds and ledger agree with the
 * steps.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { getFolders } from "../../../../src/blobs/folders";
import type { Config } from "../../../../src/config";
import { AppError } from "../../../../src/domain/errors";
import type { Job, JobName } from "../../../../src/domain/jobs";
import type { MediaInfo } from "../../../../src/domain/media";
import { CUT_MODES } from "../../../../src/domain/plan";
import type { StepRequest } from "../../../../src/domain/step-params";
import { silentLog } from "../../../../src/lib/log";
import { findAssetById } from "../../../../src/store/assets";
import { readTotalHeld } from "../../../../src/store/credits";
import { updateOpenCut } from "../../../../src/store/cuts";
import { findPipelineById } from "../../../../src/store/pipelines";
import { findRenderById, updateOpenRender } from "../../../../src/store/renders";
import { requeueInterruptedSteps } from "../../../../src/store/step-queue";
import { findStep, isCurrentAttempt } from "../../../../src/store/steps";
import { removeAsset, removeCut, removeRender } from "../../../../src/work/assets/deletion";
import { settleWaiting } from "../../../../src/work/billing/charge";
import { createCut } from "../../../../src/work/cuts/requests";
import { createServerCounters } from "../../../../src/work/health/counters";
import { createJobSource } from "../../../../src/work/jobs/job-source";
import { createPartialTranscripts } from "../../../../src/work/live/partial-transcripts";
import { completePipelineStep } from "../../../../src/work/pipelines/pipelines";
import { cancelPipeline, createChain, retryStep } from "../../../../src/work/pipelines/requests";
import { createRender } from "../../../../src/work/renders/requests";
import type { Services } from "../../../../src/work/services";
import { fullOr } from "../../../full-size";
import { addAsset, addUser, freshStore, grantWorkspace, type TestStore } from "../../store/test-store";
import { listPipelineProblems } from "./pipeline-problems";

setDefaultTimeout(fullOr(3_600_000, 180_000));

const HISTORIES = fullOr(5_000, 15);
const [CUT_CREDITS, RENDER_CREDITS, RENDER_BYTES, SOURCE_BYTES] = [3, 5, 100, 1000];
const AUDIO: MediaInfo = {
  type: "audio",
  demuxer: "wav",
  duration: 4_000_000,
  startPts: 0,
  video: null,
  audio: [{ index: 0, codec: "pcm_s16le", sampleRate: 16_000, channels: 1, language: null, bitrate: 256_000 }],
  timecode: null,
} as MediaInfo;
const PLAN = JSON.stringify({ kept_duration: 2.5, segments: [] });
const NAMES: JobName[] = ["cut", "render"];

const STEPS: Record<JobName, StepRequest | null> = {
  prepare: null,
  preview: null,
  cut: { name: "cut", params: { script: "", options: CUT_MODES.natural } },
  render: { name: "render", params: { cutId: null, output: { format: "m4a" } } },
};

const createServices = ({ store, folder }: TestStore, now: () => number) =>
  ({
    store,
    now,
    folders: getFolders(folder),
    config: { cutStepCredits: CUT_CREDITS, renderStepCredits: RENDER_CREDITS, storageQuotaBytes: 0 } as Config,
    disk: { availableBytes: () => 1e12, isCritical: () => false } as Services["disk"],
    runner: { cancel: () => {}, wake: () => {} } as unknown as Services["runner"],
    counters: createServerCounters(),
    partialTranscripts: createPartialTranscripts(),
    log: silentLog(),
  }) as Services;

/** A workspace and the actions in it. `n` chooses among the existing targets. */
async function createWorld(db: TestStore) {
  let clock = 1_000;
  const services = createServices(db, () => clock++);
  const { store } = db;
  const source = createJobSource(services);
  const { userId, workspaceId, projectId } = await store.write((tx) => addUser(tx));
  const addSource = () =>
    store.write((tx) =>
      addAsset(
        tx,
        { workspaceId, projectId },
        {
          state: "ready",
          payment: "settled",
          audio_prepared: true,
          type: "audio",
          info: AUDIO,
          duration: AUDIO.duration,
        },
      ),
    );
  const assetIds = [(await addSource()).id];
  /** Jobs that were claimed, by runners that may have been replaced. */
  const claimed: Job[] = [];
  const actor = { workspaceId, userId };
  const rows = <Row>(statement: ReturnType<typeof sql>) => store.read.all<Row>(statement);
  const pick = async (statement: ReturnType<typeof sql>, n: number): Promise<string | null> => {
    const found = await rows<{ id: string }>(statement);
    return found.length === 0 ? null : found[n % found.length]!.id;
  };
  const pickAsset = async (n: number) => (await findAssetById(store.read, assetIds[n % assetIds.length]!)) ?? null;
  /** Runs a request that may be rejected. */
  const ask = async (request: () => Promise<unknown>): Promise<void> => {
    await request().catch((error) => {
      if (!(error instanceof AppError)) throw error;
    });
  };

  const operations = {
    grant: (n: number) =>
      store.write(async (tx) => {
        await grantWorkspace(tx, workspaceId, n);
        await settleWaiting(tx, workspaceId, services.now());
      }),
    source: async () => {
      assetIds.push((await addSource()).id);
    },
    /** A recording that waits for credits. */
    wait: async (n: number) => {
      await store.write(async (tx) => {
        const charge = 1 + (n % 9);
        const change = { state: "pending_payment", charge, prepared_at: services.now(), audio_prepared: true } as const;
        await addAsset(tx, { workspaceId, projectId }, change);
        await settleWaiting(tx, workspaceId, services.now());
      });
    },
    chain: async (n: number) => {
      const asset = await pickAsset(n);
      const names = [...n.toString(2)].map((digit) => (digit === "0" ? "cut" : "render")).slice(0, 4);
      const steps = (names as JobName[]).map((name) => STEPS[name]!);
      if (asset) await ask(() => store.write((tx) => createChain(services, tx, { ...actor, asset, steps })));
    },
    cut: async (n: number) => {
      const asset = await pickAsset(n);
      const params = { script: `word ${n % 4}`, options: CUT_MODES.natural };
      if (asset) await ask(() => store.write((tx) => createCut(services, tx, { ...actor, ...params, asset })));
    },
    render: async (n: number) => {
      const asset = await pickAsset(n);
      const output = { format: "m4a", audio_bitrate: 64_000 + (n % 4) };
      if (asset)
        await ask(() => store.write((tx) => createRender(services, tx, { ...actor, asset, cut: null, output })));
    },
    claim: async (n: number) => {
      const [first, second] = [NAMES[n % 2]!, NAMES[(n + 1) % 2]!];
      const due =
        (await source.next(first, "runner", [])) ??
        (await source.next(second, "runner", [])) ??
        (await source.nextAlone("runner", []));
      const job = due && (await source.claim(due.stepId, "runner", 1e9));
      if (job) claimed.push(job);
    },
    complete: async (n: number) => {
      const job = claimed[n % Math.max(1, claimed.length)];
      if (!job) return;
      const isCurrent = isCurrentAttempt(await findStep(store.read, job.stepId), job);
      const isCompleted = await store.write((tx) =>
        completePipelineStep(services, tx, job, async () => {
          const end = { state: "completed", completed_at: services.now() } as const;
          if (job.name === "cut") await updateOpenCut(tx, job.subjectId, { ...end, plan: PLAN });
          else await updateOpenRender(tx, job.subjectId, { ...end, size_bytes: RENDER_BYTES });
        }),
      );
      expect(isCompleted).toBe(isCurrent);
    },
    fail: async (n: number) => {
      const job = claimed[n % Math.max(1, claimed.length)];
      const code = job?.name === "cut" ? "no_speech" : "media_limits_exceeded";
      // Includes errors after which the step is repeated.
      if (job) await source.fail(job, n % 3 === 0 ? new Error("broken") : new AppError(code, "Failed."));
    },
    cancel: async (n: number) => {
      const id = await pick(sql`SELECT id FROM pipelines WHERE workspace_id = ${workspaceId} ORDER BY id`, n);
      if (id) await ask(() => cancelPipeline(services, workspaceId, id));
    },
    retry: async (n: number) => {
      const stepId = await pick(sql`SELECT id FROM steps WHERE workspace_id = ${workspaceId} ORDER BY id`, n);
      if (!stepId) return;
      await ask(() =>
        store.write(async (tx) => {
          const step = await findStep(tx, stepId);
          const pipeline = (await findPipelineById(tx, step!.pipeline_id))!;
          await retryStep(services, tx, actor, { pipeline, stepId });
        }),
      );
    },
    removeCut: async (n: number) => {
      const id = await pick(sql`SELECT id FROM cuts WHERE workspace_id = ${workspaceId} ORDER BY id`, n);
      if (id) await removeCut(services, id);
    },
    removeRender: async (n: number) => {
      const id = await pick(sql`SELECT id FROM renders WHERE workspace_id = ${workspaceId} ORDER BY id`, n);
      const render = id && (await findRenderById(store.read, id));
      if (render) await removeRender(services, render);
    },
    /** A source with everything made of it, an output, or a recording that waits. */
    removeAsset: async (n: number) => {
      const id = await pick(sql`SELECT id FROM assets WHERE workspace_id = ${workspaceId} ORDER BY id`, n);
      if (id) await removeAsset(services, id);
    },
    /**
     * The server is killed: running steps are due again, and later writes of the killed attempts must have no effect.
     */
    crash: async () => {
      await store.write((tx) => requeueInterruptedSteps(tx, services.now()));
    },
  };

  const listProblems = () => listPipelineProblems(store, workspaceId, { source: SOURCE_BYTES, render: RENDER_BYTES });

  /** Runs everything that is due, and checks that nothing is left. */
  async function finish(): Promise<void> {
    await operations.crash();
    // Failed ones may be due later.
    clock += 60_000;
    for (let done = -1; done < claimed.length; ) {
      done = claimed.length;
      await operations.claim(done);
      if (claimed.length > done) await operations.complete(done);
    }
    expect(
      await rows(sql`SELECT id FROM pipelines WHERE workspace_id = ${workspaceId} AND finished_at IS NULL`),
    ).toEqual([]);
    expect(await readTotalHeld(store.read, workspaceId)).toBe(0);
  }

  return { operations, claimed, listProblems, finish };
}

type Operation = keyof Awaited<ReturnType<typeof createWorld>>["operations"];

const WEIGHTS: Record<Operation, number> = {
  grant: 3,
  source: 1,
  wait: 1,
  chain: 5,
  cut: 2,
  render: 2,
  claim: 9,
  complete: 9,
  fail: 2,
  cancel: 2,
  retry: 5,
  removeCut: 1,
  removeRender: 1,
  removeAsset: 1,
  crash: 1,
};

const operation = fc.record({
  what: fc.oneof(
    ...Object.entries(WEIGHTS).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as Operation) })),
  ),
  n: fc.noBias(fc.integer({ min: 1, max: 30 })),
});

test("the late result of an attempt before a retry is refused, though the retry has the same number", async () => {
  await using db = await freshStore();
  const { operations, claimed, listProblems } = await createWorld(db);
  await operations.grant(30);
  await operations.cut(0);
  await operations.claim(0);
  await operations.cancel(0);
  await operations.retry(0);
  await operations.claim(0);
  const [late, current] = claimed;
  expect(late!.subjectId).not.toBe(current!.subjectId);
  expect({ ...late!, subjectId: "" }).toEqual({ ...current!, subjectId: "" });
  await operations.fail(0);
  await operations.complete(0);
  expect(isCurrentAttempt(await findStep(db.store.read, current!.stepId), current!)).toBe(true);
  await operations.complete(1);
  expect(await listProblems()).toEqual([]);
});

test(`${HISTORIES} random histories: holds, ledger, outputs and events agree with the steps after each operation`, async () => {
  await using db = await freshStore();
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 20, maxLength: 50 }), async (history) => {
      const world = await createWorld(db);
      await world.operations.grant(30);
      for (const [at, { what, n }] of history.entries()) {
        await world.operations[what](n);
        expect([at, what, await world.listProblems()]).toEqual([at, what, []]);
      }
      await world.finish();
      expect(await world.listProblems()).toEqual([]);
      await db.store.write((tx) => tx.run(sql`DELETE FROM steps`));
    }),
    { numRuns: HISTORIES },
  );
});
