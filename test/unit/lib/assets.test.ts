import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { findDamagedAssets, openAssets, openExtracted } from "../../../src/lib/assets";

test("run from the sources, the files come from the packages and the data folder stays untouched", async () => {
  const dataDir = "/nonexistent/data";
  const assets = await openAssets({ dataDir });
  expect(assets.folder).toBeNull();
  expect(existsSync(assets.ffmpeg)).toBe(true);
  expect(existsSync(dataDir)).toBe(false);
  expect(openExtracted(null)).toEqual(assets);
});

test("damaged files are named", async () => {
  const assets = await openAssets({ dataDir: "/nonexistent/data" });
  expect(await findDamagedAssets({ ...assets, ffmpeg: "/nonexistent/ffmpeg" })).toContain("/nonexistent/ffmpeg");
});

test("a child of the executable finds the files in its parent's folder", () => {
  expect(openExtracted("/data/assets/1-abc")).toEqual({
    folder: "/data/assets/1-abc",
    speechDir: "/data/assets/1-abc/speech",
    ffmpeg: "/data/assets/1-abc/ffmpeg",
    licenses: "/data/assets/1-abc/licenses.txt",
  });
});
