/** Updates the data of cuts that lists show: the kept duration, and the number of open marks. */
import type { PlanJson } from "../../domain/plan-json";
import { fromSeconds } from "../../domain/time";
import { runLargeTasksSerially } from "../../lib/large-tasks";
import { type Cut, findCutById } from "../../store/cuts";
import type { Queries, Store } from "../../store/db";
import { countCut, listUncountedCuts, saveCutSummary } from "../../store/library";
import type { CoreNeeds } from "../needs";
import { countOpenMarks, readReviewedPlan } from "./review";

/** Counts the marks of a completed cut in the transaction that stores it, after the decisions about them. */
export async function summarizeCut(tx: Queries, cut: Cut): Promise<void> {
  const { plan, items } = readReviewedPlan(cut);
  await saveCutSummary(tx, {
    cut_id: cut.id,
    asset_id: cut.asset_id,
    is_set_aside: cut.is_set_aside,
    kept: toKept(plan),
    open_marks: await countOpenMarks(tx, cut.id, items),
  });
}

const toKept = ({ kept_duration: seconds }: PlanJson): number => fromSeconds(seconds);

const MAX_PAGE_CUTS = 100;

/**
 * Counts the cuts that an older version has stored. Runs once after the start, in the background; the next start
 * continues. Plans are judged outside of transactions, because that takes long.
 */
export async function countOlderCuts({ store, log }: CoreNeeds): Promise<void> {
  for (let after = ""; ; ) {
    const ids = await listUncountedCuts(store.read, after, MAX_PAGE_CUTS);
    for (const id of ids)
      await countOlderCut(store, id).catch((error) => log.warn("cut.plan_unreadable", { cut: id, error }));
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

async function countOlderCut(store: Store, id: string): Promise<void> {
  const cut = await findCutById(store.read, id);
  if (cut === null || cut.superseded_by !== null) return;
  const { kept, items } = await runLargeTasksSerially(cut.plan ?? "", () => {
    const reviewed = readReviewedPlan(cut);
    return { kept: toKept(reviewed.plan), items: reviewed.items };
  });
  await store.write(async (tx) => {
    await countCut(tx, id, { kept, open_marks: await countOpenMarks(tx, id, items) });
  });
}
