/** Reads the prices of work on this server, and ends the charging of a server whose billing was turned off. */
import type { Config } from "../../config";
import type { BillingMode } from "../../domain/billing";
import { listUnsettledWorkspaces, waiveAssetCharges } from "../../store/assets";
import { deleteAllHolds } from "../../store/credits";
import type { Queries } from "../../store/db";
import { findBillingChoice } from "../../store/server-choices";
import { waiveStepPrices } from "../../store/steps";
import { settleWaiting } from "./charge";

type PriceSettings = Pick<Config, "billing" | "creditsPerMinute" | "cutStepCredits" | "renderStepCredits">;
export type Prices = Omit<PriceSettings, "billing">;

/** Returns the configured mode, otherwise the one chosen at setup, otherwise `on`. */
export const readBillingMode = async (config: Pick<Config, "billing">, db: Queries): Promise<BillingMode> =>
  config.billing ?? (await findBillingChoice(db)) ?? "on";

/** Returns the prices in credits, all of which are 0 while billing is off. */
export async function readPrices(config: PriceSettings, db: Queries): Promise<Prices> {
  const isOff = (await readBillingMode(config, db)) === "off";
  return isOff ? { creditsPerMinute: 0, cutStepCredits: 0, renderStepCredits: 0 } : config;
}

/**
 * Releases all holds, and makes the recordings ready that wait for credits: whatever is unfinished when billing is
 * turned off costs nothing. Changes nothing the second time.
 */
export async function waiveCharges(tx: Queries, now: number): Promise<void> {
  await waiveAssetCharges(tx);
  await waiveStepPrices(tx);
  await deleteAllHolds(tx);
  for (const workspaceId of await listUnsettledWorkspaces(tx)) await settleWaiting(tx, workspaceId, now);
}
