/**
 * Decides when a piece is encoded, and with which priority. Pieces that a user is about to see and hear come before
 * renders, up to a share of this machine's processor time for each workspace. Further pieces of a workspace are encoded
 * after everything else, one at a time, so that a user who opens many recordings delays no other.
 */
import { cpus } from "node:os";
import { type AppError, queueFull } from "../../domain/errors";
import { createFairSemaphore } from "../../lib/fair-semaphore";
import type { SpawnOptions } from "../../lib/process";
import { createTimeShare } from "../../lib/time-share";
import type { Asset } from "../../store/assets";

/** `seconds`: duration of the encoded media. */
export type EncodingRequest = { asset: Pick<Asset, "workspace_id">; signal: AbortSignal; seconds: number };

/** Parameters of an encoding, which reports the processor time of its processes to `onEnd`. */
export type EncodingRun = {
  priority: Extract<SpawnOptions["priority"], "interactive" | "lowest">;
  onEnd: (cpuSeconds: number) => void;
};

export type EncodingTurns = ReturnType<typeof createEncodingTurns>;

const MAX_WAITING = 128;
const MAX_WAITING_PER_WORKSPACE = 32;
const MAX_WAIT_MS = 15_000;
const RETRY_AFTER_SECONDS = 2;

/** Maximum number of encodings at the same time. One slot is left for other workspaces. */
const PREFERRED = { maxRunning: 3, maxRunningPerKey: 2 };
const BACKGROUND = { maxRunning: 1, maxRunningPerKey: 1 };

/**
 * Including a preview, renders of others take at most a tenth longer: a share does not grow while a background encoding
 * of its workspace runs. The first piece of a recording may cost more than the burst.
 */
const PREFERRED_SHARE = { rate: cpus().length / 25, burst: 0.5 };
/** Processor seconds that a second of a piece is expected to take, until its process has ended. */
const EXPECTED_COST = 0.1;

export const createBusyError = (what: string): AppError =>
  queueFull(`pieces are being ${what}`, false, RETRY_AFTER_SECONDS);

/** Creates the queues. Workspaces take turns in each. */
export function createEncodingTurns(share = PREFERRED_SHARE, now: () => number = Date.now) {
  const limits = { maxWaiting: MAX_WAITING, maxWaitingPerKey: MAX_WAITING_PER_WORKSPACE, maxWaitMs: MAX_WAIT_MS };
  const toError = () => createBusyError("encoded");
  const preferred = createFairSemaphore({ ...PREFERRED, ...limits }, toError);
  const background = createFairSemaphore({ ...BACKGROUND, ...limits }, toError);
  const shares = createTimeShare(share);

  return {
    /**
     * Runs an encoding in its turn, unless the client has disconnected while it waited. Errors: those of `encode`; the
     * signal's reason; `AppError` `upstream_unavailable` when too many are queued.
     */
    async run<Result>(
      { asset, signal, seconds }: EncodingRequest,
      encode: (run: EncodingRun) => Promise<Result>,
    ): Promise<Result> {
      const key = asset.workspace_id;
      const isPreferred = shares.hasLeft(key, now());
      const expected = seconds * EXPECTED_COST;
      let owed = isPreferred ? expected : 0;
      if (isPreferred) shares.spend(key, expected, now());
      const onEnd = (cpuSeconds: number) => {
        if (!isPreferred) return;
        shares.spend(key, cpuSeconds - owed, now());
        owed = 0;
      };
      let hasStarted = false;
      const start = async () => {
        signal.throwIfAborted();
        hasStarted = true;
        if (isPreferred) return await encode({ priority: "interactive", onEnd });
        const startedAt = now();
        try {
          return await encode({ priority: "lowest", onEnd });
        } finally {
          const grown = (share.rate * Math.max(0, now() - startedAt)) / 1000;
          shares.spend(key, Math.min(share.burst, grown), now());
        }
      };
      try {
        return await (isPreferred ? preferred : background).run(key, start);
      } catch (error) {
        if (!hasStarted) onEnd(0);
        throw error;
      }
    },
  };
}
