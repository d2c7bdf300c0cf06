import { expect, test } from "bun:test";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { openMediaTools } from "../../src/boot-tools";
import { loadConfig } from "../../src/config";
import { openAssets } from "../../src/lib/assets";
import { findSandbox } from "../../src/lib/find-sandbox";
import { temporaryFolder } from "../temporary-folder";

const probe = ["/usr/bin/env"];
const { mode } = await findSandbox({ wanted: true, programs: probe, shared: [], probe, path: process.env.PATH });

/**
 * Answers as ffmpeg does, and writes each start outside of a sandbox to a list: in a sandbox, its folder is missing.
 */
const PROGRAM = `#!/bin/sh
echo start >>"$(dirname "$0")/list/starts"
echo "ffmpeg version 7.9-test" >&2
echo "  libavutil      59. 39.100 / 59. 39.100" >&2
echo " V....D libx264              libx264 H.264"
`;

async function openWith(sandbox: "auto" | "off") {
  await using folder = await temporaryFolder();
  const ffmpeg = join(folder.path, "ffmpeg");
  const starts = Bun.file(join(folder.path, "list", "starts"));
  await Bun.write(starts, "");
  await Bun.write(ffmpeg, PROGRAM);
  await chmod(ffmpeg, 0o755);
  const config = await loadConfig({ env: {}, flags: { ffmpeg, sandbox, "data-dir": folder.path } });
  const assets = await openAssets({ dataDir: folder.path });
  const tools = await openMediaTools(config, assets, folder.path, { speech: null, log: null });
  await tools.speech.close();
  return { tools, starts: (await starts.text()).split("\n").filter(Boolean).length };
}

test.skipIf(mode !== "bwrap")("the run that tries the sandbox also describes ffmpeg", async () => {
  const { tools, starts } = await openWith("auto");
  expect(tools.sandbox.mode).toBe("bwrap");
  expect(tools.ffmpeg).toMatchObject({ version: "7.9-test", libavutil: 59, bundled: false });
  expect(starts).toBe(0);
});

test("without a sandbox, ffmpeg describes itself", async () => {
  const { tools, starts } = await openWith("off");
  expect(tools.sandbox.mode).toBe("none");
  expect(tools.ffmpeg).toMatchObject({ version: "7.9-test", libavutil: 59 });
  expect(starts).toBe(1);
});
