/**
 * The hidden command that a drill runs on its scratch folder: starts the restored server, checks it and prints the
 * findings as JSON.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { startServer } from "../boot";
import { loadConfig } from "../config";
import { MANIFEST_NAME, parseManifest } from "../domain/backup";
import { anyFileSystem } from "../lib/file-systems";
import { createLog } from "../lib/log";
import { stretchLimits } from "../lib/process";
import type { DrillFindings } from "../work/backup/drill";
import { checkBalances, checkFiles, checkRender } from "../work/backup/drill-checks";
import { isRestoredForDrill } from "../work/backup/drill-folder";
import { runDoctorChecks } from "./doctor-checks";
import { print, printError } from "./print";

/** The drill as a whole is ended after 30 minutes. A busy server leaves it little processor time. */
const MAX_READ_MS = 12 * 60_000;
const MAX_SECONDS = 28 * 60;

/** Returns the exit code: 0, also when problems were found. */
export async function drillCommandMain([scratch = ""]: string[]): Promise<number> {
  stretchLimits();
  try {
    print(`${JSON.stringify(await checkScratch(scratch))}\n`);
    return 0;
  } catch (error) {
    printError((error as Error).message);
    return 1;
  }
}

async function checkScratch(scratch: string): Promise<DrillFindings> {
  await mkdir(join(scratch, "tmp"), { recursive: true });
  const manifest = parseManifest(await Bun.file(join(scratch, MANIFEST_NAME)).text());
  const config = await loadConfig({ file: join(scratch, "settings.toml"), env: {}, flags: {} });
  const socket = join(scratch, "api.sock");
  const { signal } = new AbortController();
  const server = await startServer(
    config,
    createLog((line) => printError(line.trimEnd()), false),
    { drillSocket: socket },
  );
  try {
    const target = { ...server.services, manifest };
    const problems = [
      ...(await findServerProblems(socket)),
      ...(await runDoctorChecks(config, { readType: anyFileSystem }))
        .filter(({ state }) => state === "broken")
        .map(({ name, about }) => `doctor: ${name}: ${about}.`),
    ];
    const balances = await checkBalances(target);
    const files = await checkFiles(target, { isRestored: isRestoredForDrill, maxMs: MAX_READ_MS, signal });
    const render = await checkRender(target, server.tools, {
      maxSeconds: Math.round(MAX_SECONDS - performance.now() / 1000),
      signal,
    });
    return {
      ...balances,
      ...files,
      ...render,
      problems: [...problems, ...balances.problems, ...files.problems, ...render.problems],
    };
  } finally {
    await server.stop();
  }
}

/** Asks the restored server whether it is ready. Its disk may be full: it writes nothing. */
async function findServerProblems(socket: string): Promise<string[]> {
  const response = await fetch("http://offcut/readyz", { unix: socket });
  const parts = (await response.json()) as { database: boolean; ffmpeg: boolean };
  return (["database", "ffmpeg"] as const)
    .filter((part) => !parts[part])
    .map((part) => `/readyz: ${part} is not ready.`);
}
