/**
 * A workspace whose credits change in every way that the product has, with the product's functions and without media.
 * Jobs advance stage by stage, so that anything can happen between two stages, and the process can be killed at any
 * write.
 */
import { sql } from "drizzle-orm";
import { openDiskReserve } from "../../src/blobs/folder-space";
import { getFolders } from "../../src/blobs/folders";
import { type Config, loadConfig } from "../../src/config";
import { AppError } from "../../src/domain/errors";
import { type Job, JobAborted } from "../../src/domain/jobs";
import type { MediaInfo } from "../../src/domain/media";
import { CUT_MODES } from "../../src/domain/plan";
import type { StepRequest } from "../../src/domain/step-params";
import { TICKS_PER_SECOND } from "../../src/domain/time";
import { createLog } from "../../src/lib/log";
import { findAssetById } from "../../src/store/assets";
import { findCutById } from "../../src/store/cuts";
import { findPipeline } from "../../src/store/pipelines";
import { findRenderById } from "../../src/store/renders";
import { requeueInterruptedSteps } from "../../src/store/step-queue";
import { findStep, isCurrentAttempt } from "../../src/store/steps";
import { changeCredits } from "../../src/work/access/administration";
import { COMMAND_ACTOR } from "../../src/work/access/audit";
import { removeAsset, removeCut, removeRender } from "../../src/work/assets/deletion";
import { refundCharge } from "../../src/work/billing/charge";
import { createCut } from "../../src/work/cuts/requests";
import { createServerCounters } from "../../src/work/health/counters";
import { createJobSource } from "../../src/work/jobs/job-source";
import type { JobNeeds } from "../../src/work/jobs/needs";
import { JOBS } from "../../src/work/jobs/registry";
import { createPartialTranscripts } from "../../src/work/live/partial-transcripts";
import { completePipelineStep, endPipelineStep, startPipeline } from "../../src/work/pipelines/pipelines";
import { cancelPipeline, createChain, retryStep } from "../../src/work/pipelines/requests";
import { createRender } from "../../src/work/renders/requests";
import { addAsset, addUser } from "../unit/store/test-store";
import { type KillableStore, Killed } from "./kill-switch";
import { createPayments } from "./ledger-payments";

const LEASE_MS = 60_000;
const STAGES = { prepare: 3, cut: 1, render: 1, preview: 1 };

/** Outcome of a stage: the job continues, throws an error that may not recur in another attempt, or one that would. */
export type StageEnd = "success" | "failure" | "permanent failure";

type RunningJob = { job: Job; stage: number };

/** Codes with which the product may refuse an operation of a history. */
const REFUSALS = [
  "insufficient_credits",
  "conflict",
  "not_found",
  "asset_processing",
  "asset_failed",
  "asset_payment_required",
  "asset_not_ready",
  "modifier_not_ready",
];

const info = (minutes: number): MediaInfo => ({
  type: "audio",
  demuxer: "wav",
  duration: minutes * 60 * TICKS_PER_SECOND,
  startPts: 0,
  video: null,
  audio: [
    { index: 0, codec: "pcm_s16le", sampleRate: 16_000, channels: 1, bitrate: null, language: null, title: null },
  ],
  timecode: null,
});
const SNIFFED = { type: "audio", extension: "wav", contentType: "audio/wav", demuxer: "wav" } as const;
const PLAN = JSON.stringify({ kept_duration: 1, segments: [], removed: [] });

/** Returns the configuration of the histories: everything costs something. */
export const loadPrices = async (): Promise<Config> => ({
  ...(await loadConfig({ env: { OFFCUT_CUT_STEP_CREDITS: "2", OFFCUT_RENDER_STEP_CREDITS: "3" }, flags: {} })),
});

export type LedgerWorld = Awaited<ReturnType<typeof createLedgerWorld>>;

/** Creates a workspace. `folder` is empty: no file is needed. */
export async function createLedgerWorld(killable: KillableStore, config: Config, folder: string) {
  const { store } = killable;
  // A recording that cost nothing, so that cuts and renders can begin at once.
  const owner = await store.write(async (tx) => {
    const created = await addUser(tx);
    const media = { type: "audio", duration: info(1).duration, info: info(1), audio_prepared: true } as const;
    await addAsset(tx, created, { ...media, state: "ready", charge: 0, payment: "settled" });
    return created;
  });
  const actor = { workspaceId: owner.workspaceId, userId: owner.userId };
  let clock = 1_000_000;
  const services = {
    store,
    config,
    folders: getFolders(folder),
    disk: openDiskReserve(getFolders(folder), 0, () => Number.MAX_SAFE_INTEGER),
    log: createLog(() => {}, false),
    now: () => clock,
    confirmedNow: () => clock,
    counters: createServerCounters(),
    partialTranscripts: createPartialTranscripts(),
    liveEvents: { publishProgress: () => {} } as unknown as JobNeeds["liveEvents"],
    runner: { start: () => {}, wake: () => {}, cancel: () => {}, stop: async () => {} },
  };
  const source = createJobSource(services);
  const payments = await createPayments(services, actor);
  const running = new Map<string, RunningJob>();
  /** Attempts that were replaced while they ran. */
  const frozen: Job[] = [];
  const minutes = new Map<string, number>();
  /** Credits from outside: grants less adjustments. `unsure` is one that was cut off. */
  let given = 0;
  let unsure = 0;
  let requests = 0;

  const listIds = async (query: ReturnType<typeof sql>): Promise<string[]> =>
    (await store.read.all<{ id: string }>(query)).map(({ id }) => id);
  const pick = <T>(list: T[], n: number): T | undefined => list[n % Math.max(1, list.length)];
  const pickId = async (table: "assets" | "cuts" | "renders" | "pipelines", n: number) =>
    pick(
      await listIds(sql`SELECT id FROM ${sql.identifier(table)} WHERE workspace_id = ${owner.workspaceId} ORDER BY id`),
      n,
    );
  const settleContext = (job: Job) => ({ job, now: clock, config });

  function settle(job: Job): Promise<boolean> {
    const output = { blobs: [], plan: PLAN, findings: [], recognized: [] };
    const rendered = {
      blobs: [{ name: "output", bytes: 10 }],
      strategy: "audio",
      encodedShare: 1,
      reasons: [],
      warnings: [],
    };
    return store.write((tx) =>
      completePipelineStep(services, tx, job, () =>
        JOBS[job.name].settle(tx, (job.name === "render" ? rendered : output) as never, settleContext(job)),
      ),
    );
  }

  async function begin(stepId: string): Promise<void> {
    const job = await source.claim(stepId, "runner", LEASE_MS);
    if (!job) return;
    running.set(stepId, { job, stage: 0 });
    if (await store.write((tx) => JOBS[job.name].begin(tx, settleContext(job)))) return;
    await store.write((tx) => endPipelineStep(tx, job, { state: "cancelled", now: clock }));
    running.delete(stepId);
  }

  async function runStage({ job, stage }: RunningJob): Promise<void> {
    if (stage === STAGES[job.name] - 1) {
      await settle(job);
      running.delete(job.stepId);
      return;
    }
    await store.write(async (tx) => {
      if (!isCurrentAttempt(await findStep(tx, job.stepId), job)) throw new JobAborted("lost");
      const probed = { kind: "probed", info: info(minutes.get(job.subjectId)!), sniffed: SNIFFED };
      const audio = { kind: "audio", hasWaveform: true, hasTranscript: true };
      const checkpoint = stage === 0 ? probed : audio;
      await JOBS.prepare.checkpoint!(tx, checkpoint as never, settleContext(job));
    });
    running.set(job.stepId, { job, stage: stage + 1 });
  }

  async function give(delta: number): Promise<void> {
    unsure = delta;
    const change = { userId: owner.userId, delta, note: null, workspaceId: null };
    await store.write((tx) => changeCredits(tx, COMMAND_ACTOR, change, clock));
    given += delta;
  }

  const operations = {
    ...payments.operations,
    grant: (n: number) => give(n + 1),
    take: (n: number) => give(-1 - (n % 6)),
    upload: (n: number) =>
      store.write(async (tx) => {
        const asset = await addAsset(tx, owner, { created_at: clock, created_by: owner.userId });
        minutes.set(asset.id, 1 + (n % 4));
        await startPipeline(services, tx, {
          ...actor,
          assetId: asset.id,
          name: "prepare",
          subjectId: asset.id,
          now: clock,
        });
      }),
    /** Claims a step that is due, or continues a running job, for some of its stages. */
    advance: async (n: number, end: StageEnd) => {
      const due = await listIds(
        sql`SELECT id FROM steps WHERE workspace_id = ${owner.workspaceId} AND state = 'pending' AND run_after <= ${clock} ORDER BY id`,
      );
      const stepId = pick([...running.keys(), ...due], n);
      if (!stepId) return;
      if (!running.has(stepId)) await begin(stepId);
      for (let stages = n % 4; stages > 0; stages--) {
        const job = running.get(stepId);
        if (job) await runStage(job);
      }
      const job = running.get(stepId)?.job;
      if (!job || end === "success") return;
      running.delete(stepId);
      const isPermanent = end === "permanent failure";
      await source.fail(job, isPermanent ? new AppError("processing_failed", "Broken.", { isPermanent }) : new Error());
    },
    /** Another attempt replaces a running one, as after a lost lease. */
    freeze: async (n: number) => {
      const job = pick([...running.values()], n)?.job;
      if (!job) return;
      await store.write((tx) =>
        tx.run(
          sql`UPDATE steps SET state = 'pending', run_after = ${clock} WHERE id = ${job.stepId} AND finished_at IS NULL`,
        ),
      );
      running.delete(job.stepId);
      frozen.push(job);
      await begin(job.stepId);
    },
    /** A replaced attempt comes back with its result. */
    thaw: async (n: number) => {
      const job = pick(frozen, n);
      if (job && (await settle(job))) throw new Error("a replaced attempt was settled");
    },
    cut: async (n: number) => {
      const id = await pickId("assets", n);
      const options = { ...CUT_MODES.natural, min_silence_seconds: 0.2 + requests++ / 1_000 };
      await store.write(async (tx) => {
        const asset = id && (await findAssetById(tx, id));
        if (asset) await createCut(services, tx, { ...actor, asset, script: "", options });
      });
    },
    render: async (n: number) => {
      const id = await pickId("assets", n);
      const output = { format: "mp3", audio_bitrate: 64_000 + requests++ };
      await store.write(async (tx) => {
        const asset = id && (await findAssetById(tx, id));
        if (asset) await createRender(services, tx, { ...actor, asset, cut: null, output });
      });
    },
    chain: async (n: number) => {
      const id = await pickId("assets", n);
      const options = { ...CUT_MODES.tight, min_silence_seconds: 0.2 + requests++ / 1_000 };
      const cut: StepRequest = { name: "cut", params: { script: "", options } };
      const render: StepRequest = { name: "render", params: { cutId: null, output: { format: "mp3" } } };
      const steps = [
        [cut, render],
        [cut, cut, render],
        [render, cut],
      ][n % 3]!;
      await store.write(async (tx) => {
        const asset = id && (await findAssetById(tx, id));
        if (asset) await createChain(services, tx, { ...actor, asset, steps });
      });
    },
    cancel: async (n: number) => {
      const id = await pickId("pipelines", n);
      if (id) await cancelPipeline(services, owner.workspaceId, id);
    },
    retry: async (n: number) => {
      const stepId = pick(
        await listIds(
          sql`SELECT id FROM steps WHERE workspace_id = ${owner.workspaceId} AND state IN ('failed', 'cancelled') ORDER BY id`,
        ),
        n,
      );
      const pipelineId = stepId && (await findStep(store.read, stepId))?.pipeline_id;
      if (!pipelineId) return;
      await store.write(async (tx) => {
        const pipeline = await findPipeline(tx, owner.workspaceId, pipelineId);
        if (pipeline) await retryStep(services, tx, actor, { pipeline, stepId });
      });
    },
    removeAsset: async (n: number) => {
      const id = await pickId("assets", n);
      if (id) await removeAsset(services, id);
    },
    removeCut: async (n: number) => {
      const id = await pickId("cuts", n);
      if (id && (await findCutById(store.read, id))) await removeCut(services, id);
    },
    removeRender: async (n: number) => {
      const id = await pickId("renders", n);
      const render = id && (await findRenderById(store.read, id));
      if (render) await removeRender(services, render);
    },
    refundAsset: async (n: number) => {
      const id = await pickId("assets", n);
      if (id) await store.write((tx) => refundCharge(tx, id, clock));
    },
  };

  return {
    owner,
    services,
    operations,
    /** Credits added from outside: by grants minus adjustments, and by payments minus refunds. */
    added: () => ({ given, ...payments.totals() }),
    /** Runs an operation. A refusal of the product changes nothing; a kill is followed by a restart. */
    run: async (operation: () => Promise<unknown>): Promise<"done" | "refused" | "killed"> => {
      clock += 30_000;
      unsure = 0;
      let outcome: "done" | "refused" | "killed" = "done";
      try {
        await operation();
      } catch (error) {
        const isRefusal = error instanceof AppError && REFUSALS.includes(error.code);
        if (!isRefusal && !(error instanceof JobAborted) && !(error instanceof Killed)) throw error;
        outcome = error instanceof Killed ? "killed" : "refused";
      }
      // An operation in which the store is killed may end with another error.
      if (outcome !== "killed" && killable.isAlive()) return outcome;
      await killable.restart();
      running.clear();
      frozen.length = 0;
      const [sum] = await store.read.all<{ given: number }>(
        sql`SELECT coalesce(sum(delta), 0) AS given FROM ledger WHERE workspace_id = ${owner.workspaceId} AND type IN ('grant', 'adjustment')`,
      );
      if (sum!.given === given + unsure) given = sum!.given;
      await store.write((tx) => requeueInterruptedSteps(tx, clock));
      await payments.resume();
      return "killed";
    },
    kill: (writes: number, moment: "before" | "after") => killable.arm(writes, moment),
    /** Runs all jobs to their end. */
    drain: async () => {
      for (;;) {
        clock += 30_000;
        const [open] = await store.read.all<{ n: number }>(
          sql`SELECT count(*) AS n FROM steps WHERE workspace_id = ${owner.workspaceId} AND finished_at IS NULL AND run_after IS NOT NULL`,
        );
        if (open!.n === 0) return;
        await operations.advance(3, "success");
      }
    },
  };
}
