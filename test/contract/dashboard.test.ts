/** The dashboard family, row by row: each test is a row of the contract, and every response is checked against the documented schemas. */
import { afterAll, beforeAll, setDefaultTimeout, test } from "bun:test";
import { accountLinkRows } from "./rows/account-links";
import { administrationRows } from "./rows/administration";
import { apiKeyRows } from "./rows/api-keys";
import { familyRows } from "./rows/dashboard-family";
import { createDashboardFixtures, type DashboardFixtures } from "./rows/dashboard-fixtures";
import { providerAndDeviceRows } from "./rows/providers-and-devices";
import { secondFactorRows } from "./rows/second-factors";
import { sessionRows } from "./rows/sessions";
import { signInRows } from "./rows/sign-in";
import { workspaceRows } from "./rows/workspaces";

setDefaultTimeout(60_000);

const ROWS = [
  ...familyRows,
  ...signInRows,
  ...sessionRows,
  ...accountLinkRows,
  ...secondFactorRows,
  ...workspaceRows,
  ...apiKeyRows,
  ...providerAndDeviceRows,
  ...administrationRows,
];

let fixtures: DashboardFixtures;
let passed = 0;
beforeAll(async () => {
  fixtures = await createDashboardFixtures();
});
afterAll(async () => {
  await fixtures[Symbol.asyncDispose]();
  console.log(`conformance of the dashboard family: ${passed} of ${ROWS.length} rows passed`);
});

for (const [title, run] of ROWS) {
  test(title, async () => {
    await run(fixtures);
    passed++;
  });
}
