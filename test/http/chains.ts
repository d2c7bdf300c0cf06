/** Calls of pipelines that several tests share. */
import { readBalance, readTotalHeld } from "../../src/store/credits";
import { until } from "../until";
import type { Client } from "./client";
import type { Harness } from "./harness";
import type { LedgerEntry, Paged, Pipeline } from "./resources";

export const CUT = { processor_name: "cut" };
export const RENDER = { processor_name: "render", params: { output: { format: "m4a" } } };

export const startChain = (user: Client, assetId: string, steps: unknown[] = [CUT, RENDER]) =>
  user.must<Pipeline>("POST", "/api/v1/pipelines", { json: { input_asset_id: assetId, steps } });

export const readChain = (user: Client, id: string) => user.must<Pipeline>("GET", `/api/v1/pipelines/${id}`);

export const chainEnded = (user: Client, id: string) =>
  until(`pipeline ${id}`, async () => {
    const pipeline = await readChain(user, id);
    return pipeline.finished_at === null ? null : pipeline;
  });

export const states = ({ state, steps }: Pipeline): string[] => [state, ...steps.map((step) => step.state)];

/** Returns the available and the held credits of the workspace. */
export async function money(server: Harness, user: Client) {
  const { read } = server.services().store;
  return { free: await readBalance(read, user.userId), held: await readTotalHeld(read, user.userId) };
}

/** Returns the charges of steps, oldest first. */
export const listStepCharges = async (user: Client): Promise<number[]> =>
  (await user.must<Paged<LedgerEntry>>("GET", "/v1/credits/history")).items
    .filter(({ type }) => type === "consume_step")
    .map(({ delta }) => delta)
    .toReversed();
