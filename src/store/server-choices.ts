/** Choices of the dashboard for the whole server. */
import { BILLING_MODES, type BillingMode } from "../domain/billing";
import type { Queries } from "./db";
import { rowsOf } from "./rows";
import { serverChoices } from "./schema-upkeep";

const choiceRows = rowsOf(serverChoices);

/** Returns the billing mode chosen at setup; null if none was. */
export async function findBillingChoice(db: Queries): Promise<BillingMode | null> {
  const choice = await choiceRows.findById(db, "billing");
  return BILLING_MODES.find((mode) => mode === choice?.value) ?? null;
}

export const insertBillingChoice = (tx: Queries, value: BillingMode) => choiceRows.add(tx, { id: "billing", value });
