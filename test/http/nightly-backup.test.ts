/** The nightly backup of a running server, whose clock is moved. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { harness, PATIENCE_MS } from "./harness";

setDefaultTimeout(PATIENCE_MS);

const DAY_MS = 24 * 3600 * 1000;

test("a server writes the backup that was missed, one for each day, and removes old ones", async () => {
  await using backups = await temporaryFolder();
  const list = async () => (await readdir(backups.path)).filter((name) => name.startsWith("offcut-")).sort();
  await using server = await harness({
    BACKUP_TO: backups.path,
    BACKUP_KEEP_DAILY: "2",
    BACKUP_KEEP_WEEKLY: "0",
  });
  const [first] = await until("the first backup", async () => ((await list()).length === 1 ? list() : null));
  for (let day = 2; day <= 3; day++) {
    server.advance(DAY_MS);
    await server.restart();
    await until(`the backup of day ${day}`, () =>
      server.log.filter((line) => line.includes('"backup.completed"')).length === day ? true : null,
    );
  }
  await until("two backups", async () => ((await list()).length === 2 ? true : null));
  expect(await list()).not.toContain(first!);
  // The same day again: nothing is written.
  await server.restart();
  expect(server.log.filter((line) => line.includes('"backup.completed"'))).toHaveLength(3);
});
