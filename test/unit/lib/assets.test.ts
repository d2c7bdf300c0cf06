import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { findDamagedAssets, openAssets, openExtracted } from "../../../src/lib/assets";

test("when run from the sources, assets come from the packages and the data folder is not used", async () => {
  const dataDir = "/nonexistent/data";
  const assets = await openAssets({ dataDir });
  expect(assets.folder).toBeNull();
  expect(existsSync(assets.ffmpeg)).toBe(true);
  expect(existsSync(dataDir)).toBe(false);
  expect(openExtracted(null)).toEqual(assets);
});

test("lists damaged files", async () => {
  const assets = await openAssets({ dataDir: "/nonexistent/data" });
  expect(await findDamagedAssets({ ...assets, ffmpeg: "/nonexistent/ffmpeg" })).toContain("/nonexistent/ffmpeg");
});

test("a child process opens the assets in its parent's folder", () => {
  expect(openExtracted("/data/assets/1-abc")).toEqual({
    folder: "/data/assets/1-abc",
    speechDir: "/data/assets/1-abc/speech",
    ffmpeg: "/data/assets/1-abc/ffmpeg",
    licenses: "/data/assets/1-abc/licenses.txt",
    webDir: "/data/assets/1-abc/web",
  });
});
