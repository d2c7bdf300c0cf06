/** Times of queued work that lie too far in the future, because the clock was ahead when they were stored. */
import { and, eq, gt } from "drizzle-orm";
import type { Queries } from "./db";
import { rowsOf } from "./rows";
import { steps } from "./schema";
import { mails } from "./schema-accounts";
import { plannedCuts } from "./schema-cuts";
import { deliveries } from "./schema-outbox";

/** Longer than jobs and planned cuts are ever postponed. */
const MAX_JOB_DELAY_MS = 20 * 60_000;
/** Longer than the pause between two attempts to send a mail or a webhook. */
const MAX_DELIVERY_DELAY_MS = 24 * 3600_000;

/** Makes work due now that would otherwise wait until the clock reaches its time. */
export async function bringForward(tx: Queries, now: number): Promise<void> {
  const [job, delivery] = [now + MAX_JOB_DELAY_MS, now + MAX_DELIVERY_DELAY_MS];
  await rowsOf(steps).updateAll(tx, { run_after: now }, and(eq(steps.state, "pending"), gt(steps.run_after, job)));
  await rowsOf(plannedCuts).updateAll(tx, { retry_at: now }, gt(plannedCuts.retry_at, job));
  await rowsOf(deliveries).updateAll(
    tx,
    { due_at: now },
    and(eq(deliveries.state, "pending"), gt(deliveries.due_at, delivery)),
  );
  await rowsOf(mails).updateAll(tx, { due_at: now }, and(eq(mails.state, "pending"), gt(mails.due_at, delivery)));
}
