import { expect, test } from "bun:test";
import { readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openRecordLog } from "../../../src/speech/record-log";
import { temporaryFolder } from "../../temporary-folder";

const bytes = (...values: number[]) => Uint8Array.from(values);

/** A log with three records, closed. */
async function written(path: string): Promise<void> {
  const log = await openRecordLog(path, "recording 1");
  await log.put("a", bytes(1, 2, 3));
  await log.putJson("b", { words: ["é", 0.1 + 0.2] });
  await log.put("c", bytes());
  await log.close();
}

test("records of an earlier run can be taken once, and later records are appended", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "log");
  await written(path);
  let puts = 0;
  const log = await openRecordLog(path, "recording 1", () => puts++);
  expect(log.take("a")).toEqual(bytes(1, 2, 3));
  expect(log.take("a")).toBeNull();
  expect(log.takeJson<unknown>("b")).toEqual({ words: ["é", 0.1 + 0.2] });
  expect(log.take("c")).toEqual(bytes());
  expect(log.take("d")).toBeNull();
  await log.put("d", bytes(4));
  expect(puts).toBe(1);
  await log.close();
  const again = await openRecordLog(path, "recording 1");
  expect([again.take("a"), again.take("d")]).toEqual([bytes(1, 2, 3), bytes(4)]);
  await again.close();
});

test("records can be written at the same time", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "log");
  const log = await openRecordLog(path, "recording 1");
  const values = Array.from({ length: 20 }, (_, n) => crypto.getRandomValues(new Uint8Array(1 + 1_000 * n)));
  await Promise.all(values.map((value, n) => log.put(`record ${n}`, value)));
  await log.close();
  const again = await openRecordLog(path, "recording 1");
  expect(values.map((_, n) => again.take(`record ${n}`))).toEqual(values);
  await again.close();
});

test("the log of another recording is discarded", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "log");
  await written(path);
  const other = await openRecordLog(path, "recording 2");
  expect(other.take("a")).toBeNull();
  await other.close();
  const back = await openRecordLog(path, "recording 1");
  expect(back.take("a")).toBeNull();
  await back.close();
});

test("records before a truncation or damage are kept, and new records follow them", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "log");
  await written(path);
  const whole = new Uint8Array(await readFile(path));
  for (let at = 0; at < whole.length; at++) {
    for (const damage of ["cut", "flip"] as const) {
      await writeFile(path, whole);
      if (damage === "cut") await truncate(path, at);
      else
        await writeFile(
          path,
          whole.map((value, n) => (n === at ? value ^ 0x55 : value)),
        );
      const log = await openRecordLog(path, "recording 1");
      expect([null, [1, 2, 3]]).toContainEqual(log.take("a") === null ? null : [1, 2, 3]);
      await log.put("new", bytes(9));
      await log.close();
      const again = await openRecordLog(path, "recording 1");
      expect(again.take("new")).toEqual(bytes(9));
      await again.close();
    }
  }
});

test("when the file cannot be created, nothing is stored and nothing fails", async () => {
  const log = await openRecordLog("/proc/no-such-folder/log", "recording 1");
  await log.put("a", bytes(1));
  expect(log.take("a")).toBeNull();
  await log.close();
  expect(await stat("/proc/no-such-folder").catch(() => null)).toBeNull();
});
