/** The credits of a workspace. */
import { listHoldsWithAssets } from "../../store/credit-history";
import { listHolds, readBalance, readTotalHeld } from "../../store/credits";
import { listSteps } from "../../store/pipelines";
import { ok } from "../call";
import { offsetListRoute } from "../offset-list-route";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import { type Resource, SCHEMAS } from "../schemas";
import { showRow } from "../show-row";

const holdSchema = SCHEMAS.CreditBalance.properties.holds.items;

export const readCreditBalance = route({
  summary: "Retrieve the credits of the workspace",
  responses: { 200: respondsWith("CreditBalance", "The balance and the active holds") },
  handle: async ({ services: { store }, principal: { workspace } }) => {
    const holds = await listHolds(store.read, workspace.id);
    return ok({
      balance: await readBalance(store.read, workspace.id),
      total_held: await readTotalHeld(store.read, workspace.id),
      holds: holds.map((hold) => showRow(holdSchema, hold, {})),
    } satisfies Resource<"CreditBalance">);
  },
});

export const listActiveHolds = offsetListRoute({
  summary: "List the active holds of the workspace with their pipelines and recordings, oldest first",
  item: "CreditHold",
  description: "A page of holds",
  read: async ({ services: { store }, principal: { workspace } }, { limit, offset }) => {
    const { rows, total } = await listHoldsWithAssets(store.read, workspace.id, { limit, offset });
    const steps = await listSteps(
      store.read,
      rows.map(({ hold }) => hold.pipeline_id),
    );
    return { rows: rows.map((row) => ({ ...row, steps: steps.get(row.hold.pipeline_id) ?? [] })), total };
  },
  show: (_, { hold, asset, steps }) =>
    showRow(SCHEMAS.CreditHold, hold, { processor_names: steps.map((step) => step.processor_name), asset }),
});
