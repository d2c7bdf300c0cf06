import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listNativeFiles } from "../../../src/build/native-addons";
import { loadNative, setNativeFolder } from "../../../src/lib/native";

const PROJECT = join(import.meta.dir, "../../..");

test("an addon is loaded once from the folder, and the error of a broken one names its path", async () => {
  const folder = await mkdtemp(join(tmpdir(), "offcut-native-"));
  try {
    setNativeFolder(folder);
    await Bun.write(join(folder, "broken.node"), "no addon");
    expect(() => loadNative("broken.node")).toThrow(join(folder, "broken.node"));

    const libsql = listNativeFiles(PROJECT).find((file) => file.name === "libsql.node")!;
    await Bun.write(join(folder, libsql.name), Bun.file(libsql.path));
    const addon = loadNative("libsql.node") as { databaseOpen: unknown };
    expect(typeof addon.databaseOpen).toBe("function");
    expect(loadNative("libsql.node")).toBe(addon);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
