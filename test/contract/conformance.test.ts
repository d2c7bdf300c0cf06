/**
 * The public family, row by row: each test is a row of the contract, and every response is checked against the
 * documented schemas.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { callLog } from "../http/client";
import { PATIENCE_MS } from "../http/harness";
import { listUncalledRoutes, PUBLIC_CONTRACT } from "./response-checks";
import { assetRows } from "./rows/assets";
import { cutRows } from "./rows/cuts";
import { edgeRows } from "./rows/edges";
import { exportRows } from "./rows/exports";
import { createFixtures, type Fixtures } from "./rows/fixtures";
import { projectRows } from "./rows/projects";
import { renderRows } from "./rows/renders";
import { requestRows } from "./rows/requests";
import { uploadRows } from "./rows/uploads";
import { webhookRows } from "./rows/webhooks";

setDefaultTimeout(PATIENCE_MS);

// Webhooks come before the rows that advance the clock: receivers compare a signature's time with their own.
const ROWS = [
  ...requestRows,
  ...webhookRows,
  ...projectRows,
  ...assetRows,
  ...uploadRows,
  ...cutRows,
  ...exportRows,
  ...renderRows,
  ...edgeRows,
];

let fixtures: Fixtures;
let passed = 0;
beforeAll(async () => {
  fixtures = await createFixtures();
});
afterAll(async () => {
  await fixtures[Symbol.asyncDispose]();
  console.log(`conformance: ${passed} of ${ROWS.length} rows passed`);
});

for (const [title, run] of ROWS) {
  test(title, async () => {
    await run(fixtures);
    passed++;
  });
}

test("no row caused an internal error", () => expect(fixtures.server.errors).toEqual([]));

test("every route of the family has a row in which it succeeds", () => {
  // With a filter by name, most rows did not run.
  if (passed < ROWS.length) return;
  expect(listUncalledRoutes(PUBLIC_CONTRACT, callLog)).toEqual([]);
});
