/**
 * Measures the first load and long lists of the dashboard in Chromium: `bun test/bench/web/lists.ts [ROWS]` (default
 * 10,000). A server in this process, its pages over plain HTTP under a host name. Prints JSON; exits with 1 if a limit
 * is exceeded.
 */
import { newId } from "../../../src/lib/ids";
import { insertProject } from "../../../src/store/projects";
import { insertUser } from "../../../src/store/users";
import { createAdmin, startSession } from "../../http/accounts";
import { type Harness, harness } from "../../http/harness";
import { addGrants } from "../../http/ledger-rows";
import { createListPages, median } from "./list-pages";

const ROWS = Number(process.argv[2] ?? 10_000);
const LIMITS = { bytes: 60_000, interactive_ms: 300, first_screen_ms: 300, fps: 50 };

await using server = await harness();
const admin = await createAdmin(server);
const { key } = await startSession(server, admin);
await seed(server);
const pages = await createListPages(server.url());

/** Adds projects, users and credits. */
async function seed({ services }: Harness): Promise<void> {
  const now = Date.now();
  const common = { workspace_id: admin.userId, created_by: admin.userId, state: "active" as const, archived_at: null };
  await addGrants(server, admin.userId, ROWS);
  await services().store.write(async (tx) => {
    for (let n = 0; n < ROWS; n++) {
      const at = now - n * 60_000;
      const times = { created_at: at, updated_at: at, last_activity_at: at };
      await insertProject(tx, { ...common, id: newId(), name: `Project ${n}`, ...times });
      const userId = newId();
      await insertUser(tx, { id: userId, email: `${userId}@example.test`, created_at: now - n });
    }
  });
}

/**
 * The first page in a browser without a cache, of a user with one project. Bytes are without the font and calls of the
 * API.
 */
async function measureFirstLoad() {
  const user = await server.user();
  await user.must("POST", "/api/v1/projects", { json: { name: "Interviews" } });
  const session = await startSession(server, user);
  const interactive: number[] = [];
  const listed: number[] = [];
  let bytes = 0;
  for (let run = 0; run < 10; run++) {
    const page = await pages.open(session.key);
    const sizes: Promise<number>[] = [];
    page.on("requestfinished", (request) => {
      if (!/\/api\/|\.woff2$/.test(request.url())) sizes.push(request.sizes().then((size) => size.responseBodySize));
    });
    const shown = run % 2 ? ".project" : "main .button.primary";
    (run % 2 ? listed : interactive).push(await pages.measureOpening(page, "/", shown));
    await page.waitForLoadState("load");
    bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    await page.context().close();
  }
  return { bytes, interactive_ms: median(interactive), list_ms: median(listed) };
}

const results = {
  first_load: await measureFirstLoad(),
  projects: await pages.measureList(key, "/projects", ".project h2", ROWS),
  users: await pages.measureList(key, "/admin/users", ".data-table tbody tr", ROWS),
  problems: pages.problems,
};
await pages.browser.close();
console.log(JSON.stringify(results, null, 2));
const lists = [results.projects, results.users];
const isOver =
  results.first_load.bytes > LIMITS.bytes ||
  results.first_load.interactive_ms > LIMITS.interactive_ms ||
  lists.some((list) => list.first_screen_ms > LIMITS.first_screen_ms || list.full.fps < LIMITS.fps);
process.exit(isOver || results.problems.length > 0 ? 1 : 0);
