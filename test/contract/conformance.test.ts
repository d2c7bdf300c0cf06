/** The public family, row by row: each test is a row of the contract, and every response is checked against the documented schemas. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { assetRows } from "./rows/assets";
import { cutRows } from "./rows/cuts";
import { edgeRows } from "./rows/edges";
import { entranceRows } from "./rows/entrance";
import { exportRows } from "./rows/exports";
import { projectRows } from "./rows/projects";
import { renderRows } from "./rows/renders";
import { uploadRows } from "./rows/uploads";
import { webhookRows } from "./rows/webhooks";
import { type World, world } from "./rows/world";

setDefaultTimeout(60_000);

// Webhooks come before the rows that advance the clock: receivers compare a signature's time with their own.
const ROWS = [
  ...entranceRows,
  ...webhookRows,
  ...projectRows,
  ...assetRows,
  ...uploadRows,
  ...cutRows,
  ...exportRows,
  ...renderRows,
  ...edgeRows,
];

let here: World;
let held = 0;
beforeAll(async () => {
  here = await world();
});
afterAll(async () => {
  await here[Symbol.asyncDispose]();
  console.log(`conformance: ${held} of ${ROWS.length} rows held`);
});

for (const [words, holds] of ROWS) {
  test(words, async () => {
    await holds(here);
    held++;
  });
}

test("no row caused an internal error", () => expect(here.server.errors).toEqual([]));
