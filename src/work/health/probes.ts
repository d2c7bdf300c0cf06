/**
 * Probes that are too expensive for each request: the mail server, the place of backups, Redis, and totals of the
 * database.
 */
import { type Config, getMailSender } from "../../config";
import { createMailer } from "../../outbound/mail";
import { countAllOpenUploads } from "../../store/assets";
import type { Queries } from "../../store/db";
import { countDeliveries } from "../../store/delivery-queue";
import { readStorageTotals } from "../../store/storage";
import type { Backups } from "../backup/backups";
import { readRedisState } from "../cluster/redis-state";

/** Signs in to the mail server without sending mail. Returns the problem in one line; null without one. */
export async function findMailProblem(config: Config, base: string): Promise<string | null> {
  if (config.smtpUrl === null) return null;
  const mailer = createMailer({ url: config.smtpUrl, from: () => getMailSender(config, base) });
  return mailer.findProblem().finally(() => mailer.close());
}

/** Counts that read an index from its start to its end. */
const readStoredTotals = async (db: Queries) => ({
  ...(await readStorageTotals(db)),
  openUploads: await countAllOpenUploads(db),
  failedDeliveries: await countDeliveries(db, "failed"),
});

/** `isRedisReachable`: as seen by the server's own connection. */
type ProbeSources = {
  base(): string;
  backups(): Pick<Backups, "findProblem">;
  db: Queries;
  isRedisReachable(): boolean | undefined;
};

export const createHealthProbes = (config: Config, { base, backups, db, isRedisReachable }: ProbeSources) => ({
  findMailProblem: cacheProbe(() => findMailProblem(config, base())),
  /** Checks the place of the nightly backups. */
  findBackupProblem: cacheProbe(async () => (config.backupTo === null ? null : backups().findProblem(config.backupTo))),
  readRedis: cacheProbe(() => readRedisState(config), isRedisReachable),
  readStoredTotals: cacheProbe(() => readStoredTotals(db)),
});

/** Null: no problem, or no Redis is configured. */
export type HealthProbes = ReturnType<typeof createHealthProbes>;

const MAX_AGE_MS = 60_000;

/**
 * Limits a probe to once a minute, so that frequent status requests do not burden its server. It runs again when
 * `readState` has changed.
 */
function cacheProbe<T>(probe: () => Promise<T>, readState: () => unknown = () => null): () => Promise<T> {
  let last: { at: number; state: unknown; result: Promise<T> } | null = null;
  return () => {
    const now = performance.now();
    const state = readState();
    if (last === null || now - last.at > MAX_AGE_MS || last.state !== state) {
      const result = probe().catch((error) => {
        last = null;
        throw error;
      });
      last = { at: now, state, result };
    }
    return last.result;
  };
}
