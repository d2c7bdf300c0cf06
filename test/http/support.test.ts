/** The archive for a bug report of a server whose users, projects, files and texts have recognizable names. */
import { afterAll, beforeAll, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { supportCommand } from "../../src/cli/support";
import { newId } from "../../src/lib/ids";
import { insertBackupRun } from "../../src/store/backup-runs";
import { temporaryFolder } from "../temporary-folder";
import { readZip, testWithUnzip } from "../zip";
import { createAdmin } from "./accounts";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";

setDefaultTimeout(PATIENCE_MS);

/** Is in all names, texts and addresses that users have stored. */
const MARK = "zyxwvut";
/** The names that users gave a recording and its cut. */
const NAMES = ["Quarzdossier", "Blaufassung"];
const ADDRESS = "203.0.113.77";

let server: Harness;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  const configuration = `[[price]]\nid = "pack"\nname = "${MARK} credits"\nkind = "pack"\ncredits = 1\namount = 100\ncurrency = "eur"\n`;
  server = await harness(
    {
      PUBLIC_URL: `https://${MARK}.example`,
      SMTP_URL: `smtp://${MARK}:${MARK}@127.0.0.1:9`,
      TRUSTED_PROXIES: "127.0.0.1",
    },
    { configuration },
  );
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** Runs the command, and returns its output and the archive's texts. */
async function support(name: string, ...args: string[]) {
  const path = join(folder.path, name);
  const written: string[] = [];
  const spy = spyOn(process.stdout, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  try {
    expect(await supportCommand(["-o", path, ...args])).toBe(0);
  } finally {
    spy.mockRestore();
  }
  return { path, printed: written.join(""), ...(await readZip(path)) };
}

async function seed(): Promise<void> {
  const admin = await createAdmin(server);
  const user = await server.user();
  const { store, log } = server.services();
  await store.write(async (tx) => {
    await tx.run(sql`UPDATE users SET first_name = ${`First ${MARK}`}, last_name = ${MARK} WHERE id = ${user.userId}`);
    await tx.run(sql`UPDATE users SET email = ${`${MARK}@${MARK}.example`} WHERE id = ${admin.userId}`);
    await tx.run(
      sql`INSERT INTO worker_tokens (id, name, hash, created_at) VALUES ('t', ${`worker ${MARK}`}, ${MARK}, 1)`,
    );
    await tx.run(
      sql`INSERT INTO webhook_endpoints (id, workspace_id, url, event_types, state, secret, created_at)
        VALUES ('w', ${user.userId}, ${`https://hooks.${MARK}.example/${MARK}`}, '[]', 'enabled', ${MARK}, 1)`,
    );
  });
  const project = await user.must<{ id: string }>("POST", "/v1/projects", { json: { name: `Project ${MARK}` } });
  const asset = await user.ready(await wav(2), { filename: `${MARK}.wav`, projectId: project.id });
  const cut = await user.startCut({ asset_id: asset.id, script: `Say ${MARK} now.` });
  await user.must("PATCH", `/api/v1/assets/${asset.id}`, { json: { name: NAMES[0] } });
  await user.must("PATCH", `/api/v1/cuts/${cut.id}`, { json: { name: NAMES[1] } });
  await user.call("GET", `/v1/projects/${MARK}?q=${MARK}`, { headers: { "X-Forwarded-For": ADDRESS } });
  await user.call("POST", "/v1/projects", { json: { name: "x", [MARK]: MARK } });
  await server.idle();
  // As failures of programs and other servers may be worded.
  log.error("file.failed", {
    error: new Error(`Cannot open ${MARK}.wav of Project ${MARK} at ${ADDRESS}`),
    user: MARK,
  });
  log.error("plan.failed", { error: new Error(`No words in ${NAMES[0]}, ${NAMES[1]}`) });
  log.warn("mail.given_up", { reason: `550 no mailbox for ${MARK}@${MARK}.example`, client: ADDRESS });
  const error = `/backup/${MARK} is missing. Asset ${MARK}.wav differs.`;
  await store.write((tx) =>
    insertBackupRun(tx, { id: newId(), kind: "drill", state: "failed", path: `/${MARK}`, error, started_at: 1 }),
  );
  server.disk.freeBytes = 1e9;
  await server.services().alerts.check();
}

test("an archive helps with a bug and names no one", async () => {
  await seed();
  const settings = ["--data-dir", server.dataDir, "--smtp-url", `smtp://${MARK}:${MARK}@127.0.0.1:9`];
  const { path, printed, texts, entries } = await support("one.zip", "--json", ...settings);
  const report = JSON.parse(printed);
  expect(report).toMatchObject({ path, bytes: (await stat(path)).size });
  expect(report.log_lines).toBeGreaterThan(10);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await testWithUnzip(path)).toBe(0);
  expect(entries.map(({ fileName }) => fileName)).toEqual([
    "README.txt",
    "summary.json",
    "doctor.txt",
    "settings.json",
    "schema.sql",
    "log.jsonl",
  ]);

  const all = [...texts.values()].join("\n");
  // The log itself has them, so that the search can fail.
  expect(server.log.join("\n")).toContain(MARK);
  expect(all.toLowerCase()).not.toContain(MARK);
  for (const name of NAMES) {
    expect(server.log.join("\n")).toContain(name);
    expect(all).not.toContain(name);
  }
  for (const secret of [ADDRESS, "127.0.0.1", server.dataDir, "@example.test", "https://", "smtp://"])
    expect([secret, all.includes(secret)]).toEqual([secret, false]);

  const summary = JSON.parse(texts.get("summary.json")!);
  expect(summary).toMatchObject({
    offcut: expect.any(String),
    error: null,
    disk: { free_bytes: expect.any(Number) },
    database: { rows: { users: 2, projects: 1, assets: 1, webhook_endpoints: 1 } },
    alerts: [
      { problem: "disk_space", severity: "critical", resolved_at: null },
      { problem: "drill_failed", severity: "critical", resolved_at: null },
    ],
    backup_runs: [{ kind: "drill", state: "failed", error: "… is missing. Asset … differs." }],
  });
  expect(summary.database.migrations[0].name).toBe("0000_initial");
  expect(texts.get("schema.sql")).toContain("CREATE TABLE `alerts`");
  expect(texts.get("doctor.txt")).toMatch(/^ok {4}data folder/m);
  expect(JSON.parse(texts.get("settings.json")!)).toMatchObject({ data_dir: "set", smtp_url: "set", port: 4700 });
  const lines = texts
    .get("log.jsonl")!
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const failure = lines.find(({ event }) => event === "file.failed");
  expect(failure.error).toMatchObject({ name: "Error", message: "Cannot open … of … at …" });
  expect(failure.error.stack).toMatch(/^at \S+ \(:\d+:\d+\)/);
  expect(lines.filter(({ event }) => event === "request.completed").length).toBeGreaterThan(3);
});

test("without a running server, the archive states that it has no log", async () => {
  await using data = await temporaryFolder();
  const { printed, texts } = await support("two.zip", "--data-dir", data.path);
  expect(printed).toEndWith("no log, because no server is running).\n");
  expect([...texts.keys()]).toEqual(["README.txt", "summary.json", "doctor.txt", "settings.json", "schema.sql"]);
  expect(texts.get("README.txt")).toContain("There is no log");
});

test("a database that cannot be opened is part of the report", async () => {
  await using data = await temporaryFolder();
  await Bun.write(join(data.path, "offcut.db"), `${MARK} is no database`.repeat(500));
  const { texts } = await support("three.zip", "--data-dir", data.path);
  expect(JSON.parse(texts.get("summary.json")!)).toMatchObject({ database: null, error: expect.any(String) });
  expect([...texts.values()].join("\n")).not.toContain(MARK);
});
