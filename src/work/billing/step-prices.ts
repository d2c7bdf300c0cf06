/** Prices of pipeline steps: held when a pipeline starts, charged step by step, released when it ends. */
import { AppError } from "../../domain/errors";
import { JOB_FACTS, type JobName } from "../../domain/jobs";
import { deleteStepHold, insertHold, insertLedgerEntry, readBalance, reduceStepHold } from "../../store/credits";
import type { Queries } from "../../store/db";
import { addCreditsConsumed } from "../../store/pipelines";
import type { Step } from "../../store/steps";
import { settleWaiting } from "./charge";
import type { Prices } from "./prices";

/** Returns the credits for a step. A preparation, with its preview, is charged with its asset, see `charge.ts`. */
export function getStepPrice(prices: Pick<Prices, "cutStepCredits" | "renderStepCredits">, name: JobName): number {
  const { price } = JOB_FACTS[name];
  return price === null ? 0 : prices[price];
}

/**
 * Holds credits for the steps of a pipeline. Throws `AppError` `insufficient_credits` when the balance does not cover
 * them.
 */
export async function holdStepPrices(
  tx: Queries,
  pipeline: { id: string; workspaceId: string },
  credits: number,
  now: number,
): Promise<void> {
  if (credits === 0) return;
  if ((await readBalance(tx, pipeline.workspaceId)) < credits)
    throw new AppError("insufficient_credits", `This needs ${credits} credits. Add credits.`);
  await insertHold(tx, {
    workspace_id: pipeline.workspaceId,
    pipeline_id: pipeline.id,
    amount: credits,
    created_at: now,
  });
}

/** Turns the held price of a completed step into a charge. */
export async function consumeStepPrice(tx: Queries, step: Step, now: number): Promise<void> {
  // A preparation is charged with its asset.
  if (JOB_FACTS[step.processor_name].price === null || step.credits_cost === 0) return;
  await reduceStepHold(tx, step.pipeline_id, step.credits_cost);
  await insertLedgerEntry(tx, {
    workspace_id: step.workspace_id,
    type: "consume_step",
    delta: -step.credits_cost,
    step_id: step.id,
    created_at: now,
  });
  await addCreditsConsumed(tx, step.pipeline_id, step.credits_cost);
}

/** Releases the remaining holds of a pipeline, and charges the assets that are waiting for credits. */
export async function releaseStepPrices(
  tx: Queries,
  pipeline: { id: string; workspaceId: string },
  now: number,
): Promise<void> {
  if (await deleteStepHold(tx, pipeline.id)) await settleWaiting(tx, pipeline.workspaceId, now);
}
