/** A page of the database is damaged while the server is stopped: it starts, and says so. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { getFolders } from "../../../../src/blobs/folders";
import { loadConfig } from "../../../../src/config";
import { openStore } from "../../../../src/store/db";
import { checkReadiness, type HealthNeeds } from "../../../../src/work/health/readiness";
import { readSystemHealth } from "../../../../src/work/health/system-health";
import type { CoreNeeds } from "../../../../src/work/needs";
import { createDatabaseCheck } from "../../../../src/work/upkeep/database-check";
import { createProblemChecks, type ProblemNeeds } from "../../../../src/work/upkeep/problem-checks";
import { damageTable } from "../../../damaged-table";
import { until } from "../../../until";
import { freshStore } from "../../store/test-store";

test("damage is found by the check of the start and by queries; /readyz, the administration and an alert report it", async () => {
  await using fresh = await freshStore();
  const path = join(fresh.folder, "offcut.db");
  const folders = getFolders(fresh.folder);
  await fresh.store.copyTo(path);
  const interrupted = createDatabaseCheck({ folders, store: fresh.store } as CoreNeeds);
  interrupted.start();
  await interrupted.stop();
  expect(fresh.store.findDamage()).toBeNull();
  await damageTable(path, "deliveries");
  const store = await openStore(path);
  try {
    const found: string[] = [];
    store.onDamage((problem) => found.push(problem));
    // A query of another table finds nothing.
    await store.read.all(sql`SELECT * FROM users`);
    expect(store.findDamage()).toBeNull();
    expect(await store.read.all(sql`SELECT * FROM deliveries`).catch(() => "failed")).toBe("failed");
    expect(found).toEqual([expect.stringContaining("malformed")]);
    expect(await store.write((tx) => tx.run(sql`DELETE FROM deliveries`)).catch(() => "failed")).toBe("failed");
    expect(found).toHaveLength(1);
    const file = join(fresh.folder, "settings.toml");
    await Bun.write(file, "");
    const config = await loadConfig({ file, env: {}, flags: {} });
    const services = { cluster: null, config, ffmpegPath: path, folders, now: () => 0, store, publicUrl: () => "" };
    expect(await checkReadiness(services as unknown as HealthNeeds)).toMatchObject({
      ready: false,
      database: false,
    });
    const problem = await createProblemChecks(services as unknown as ProblemNeeds).database_damaged.find();
    expect(problem).toMatchObject({ severity: "critical", title: "The database is damaged" });
    // Its figures are those of the tables that can be read.
    const sources = {
      tools: {
        encoders: async () => ({ video: [], audio: [] }),
        ffmpeg: { path, version: "7", bundled: false },
        sandbox: { mode: "none", reason: null },
      },
      slots: { prepare: 1, cut: 1, render: 1, preview: 1 },
      probes: { findMailProblem: async () => null, findBackupProblem: async () => null, readRedis: async () => null },
    };
    const disk = { availableBytes: () => 1 };
    const health = await readSystemHealth({ ...services, disk } as never, sources as never);
    expect(health).toMatchObject({ status: "degraded", pendingDeliveries: 0 });
    expect(health.checks[0]).toMatchObject({ name: "database", state: "broken" });
  } finally {
    await store.close();
  }
  const started = await openStore(path);
  const check = createDatabaseCheck({ folders, store: started } as CoreNeeds);
  check.start();
  await until("the damage", () => started.findDamage() !== null);
  await check.stop();
  await started.close();
});
