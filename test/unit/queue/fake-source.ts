/** A source of jobs in memory that records what the runner does with it. */
import type { Job, JobSource } from "../../../src/domain/jobs";

export type FakeSource = JobSource & {
  /** Actions of the runner, in order: `claim`s that found something, `release`, `fail`. */
  did: string[];
  add(stepId: string, change?: Partial<Job>): void;
  /** The next renewal says that this step is lost. */
  lose(stepId: string): void;
  /** Resolves at the next renewal that includes this step, with the reported progress. */
  renewed(stepId: string): Promise<number | null>;
  /** Resolves when the runner has asked who is next. */
  asked(): Promise<void>;
  /** Makes the next call of this method fail, or the next calls. */
  breakNext(method: "claim" | "renew" | "fail", error?: Error, times?: number): void;
};

export function fakeSource(): FakeSource {
  const waiting: Job[] = [];
  const taken: Job[] = [];
  const did: string[] = [];
  const lost = new Set<string>();
  const watching: { stepId: string; resolve: (progress: number | null) => void }[] = [];
  const asking: (() => void)[] = [];
  const broken = new Map<string, Error[]>();
  const breakHere = (method: string) => {
    const error = broken.get(method)?.pop();
    if (error) throw error;
  };
  return {
    did,
    add: (stepId, change = {}) => {
      waiting.push({
        stepId,
        pipelineId: `pipeline of ${stepId}`,
        workspaceId: "user",
        name: "render",
        subjectId: `subject of ${stepId}`,
        attempt: 1,
        failures: 0,
        kernelKills: 0,
        runsAlone: false,
        ...change,
      });
    },
    lose: (stepId) => lost.add(stepId),
    renewed: (stepId) => new Promise((resolve) => watching.push({ stepId, resolve })),
    breakNext: (method, error = new Error(`${method} does not work`), times = 1) =>
      broken.set(method, Array(times).fill(error)),

    claim: async (stepId) => {
      breakHere("claim");
      const at = waiting.findIndex((job) => job.stepId === stepId);
      if (at < 0) return null;
      const [job] = waiting.splice(at, 1);
      did.push(`claim ${stepId}`);
      taken.push(job!);
      return job!;
    },
    renew: async (running) => {
      breakHere("renew");
      for (const { stepId, progress } of running) {
        for (const watcher of watching.filter((w) => w.stepId === stepId)) {
          watching.splice(watching.indexOf(watcher), 1);
          watcher.resolve(progress);
        }
      }
      return running.map((r) => r.stepId).filter((stepId) => lost.has(stepId));
    },
    release: async (job) => {
      did.push(`release ${job.stepId}`);
      taken.splice(taken.indexOf(job), 1);
      waiting.push(job);
    },
    fail: async (job, error) => {
      breakHere("fail");
      taken.splice(taken.indexOf(job), 1);
      did.push(`fail ${job.stepId}: ${(error as Error).message}`);
    },
    asked: () => new Promise((resolve) => asking.push(resolve)),
    next: async (name, _, except) => {
      for (const notify of asking.splice(0)) notify();
      const job = waiting.find((each) => each.name === name && !each.runsAlone && !except.includes(each.stepId));
      return job ?? null;
    },
    nextAlone: async (_, except) => {
      const job = waiting.find((each) => each.runsAlone && !except.includes(each.stepId));
      return job ?? null;
    },
    nextDueInMs: async () => null,
  };
}
