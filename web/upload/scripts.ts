/** Scripts that are dropped or chosen together with the recording of the same name. */

import { ApiError, api, must, toMessage } from "../app/api";
import { formatCount } from "../app/format";
import { RETRY_DELAYS_MS, sleep } from "../app/retry";
import { me, toWorkspaceHeader } from "../app/session";
import { showToast } from "../app/toasts";
import { toFolder } from "./dropped-files";
import { isScript } from "./recording-types";

/** The scripts that the server does not have yet, by recording. */
const waiting = new WeakMap<File, File>();
/** The ID of the asset to which the script of a recording is being sent, by recording. */
const sending = new WeakMap<File, string>();

const MAX_ATTEMPTS = 200;

/**
 * Returns the recordings among files, and keeps their scripts for `sendScript`. Shows a message about unused scripts.
 */
export function takeScripts(files: readonly File[]): File[] {
  const { recordings, scripts, unmatched, ambiguous } = pairScripts(files, toFolder);
  // Loaded while the server can be reached, before the upload has begun.
  if (scripts.size > 0) void loadCode(() => import("../pages/asset/script")).catch(() => {});
  for (const [recording, script] of scripts) waiting.set(recording, script);
  refuse(unmatched, "no recording in its folder has the same name.");
  refuse(ambiguous, "several files have the same name. Rename them, or drop their folders.");
  return recordings;
}

/** Drops the scripts of skipped recordings, and shows a message about those not used for an uploaded recording. */
export function dropScripts(skipped: readonly File[], uploaded: readonly File[]): void {
  const dropped = new Set(skipped.map((recording) => waiting.get(recording)));
  for (const recording of skipped) waiting.delete(recording);
  for (const recording of uploaded) dropped.delete(waiting.get(recording));
  refuse(
    [...dropped].filter((script) => script !== undefined),
    "drop it on the page of the recording you already have.",
  );
}

function refuse(scripts: readonly File[], reason: string): void {
  if (scripts[0] === undefined) return;
  const names = scripts.length === 1 ? `“${scripts[0].name}”` : formatCount(scripts.length, "script");
  showToast({ kind: "bad", text: `${names} not used: ${reason}` });
}

/**
 * Sends the script of a recording, if it has one, once the server knows the recording. If the recording is not cut, the
 * script is kept for its Script tab. `workspaceId`: that of the upload; null for the personal workspace.
 */
export async function sendScript(recording: File, uploadUrl: string | null, workspaceId: string | null): Promise<void> {
  const file = waiting.get(recording);
  const assetId = uploadUrl?.split("/").at(-1);
  const userId = me.peek()?.id;
  if (file === undefined || assetId === undefined || userId === undefined || sending.get(recording) === assetId) return;
  sending.set(recording, assetId);
  try {
    const script = await readText(file);
    // The personal workspace has the ID of its user. Without a header, the call would go to the workspace that the
    // pages show.
    const isPlanned = await planWithScript(assetId, script, workspaceId ?? userId);
    if (!isPlanned) await keepScript(assetId, script);
    waiting.delete(recording);
    const text = `“${file.name}” is in the Script tab of its recording. No cut was started with it.`;
    if (!isPlanned) showToast({ kind: "info", text });
  } catch (error) {
    const status = error instanceof ApiError ? error.status : 0;
    if (status === 409) await keepScript(assetId, await readText(file)).catch(() => {});
    // It is sent again when the upload resumes or is created again.
    const isLoaded = !(error instanceof ApiError && error.code === NOT_LOADED);
    if (status !== 401 && status !== 404 && !isTransient(error) && isLoaded) waiting.delete(recording);
    // The upload reports the end of the session; a missing recording was cancelled.
    if (status !== 401 && status !== 404)
      showToast({ kind: "bad", text: `“${file.name}” was not used as a script. ${toMessage(error)}` });
  } finally {
    if (sending.get(recording) === assetId) sending.delete(recording);
  }
}

const NOT_LOADED = "not_loaded";
const MAX_LOADS = 5;

/** Loads code, again after a while if the server cannot be reached. Throws `ApiError` with the code `not_loaded`. */
async function loadCode<Code>(load: () => Promise<Code>): Promise<Code> {
  for (const delay of RETRY_DELAYS_MS.slice(0, MAX_LOADS)) {
    await sleep(delay);
    const code = await load().catch(() => null);
    if (code !== null) return code;
  }
  const text = "Offcut could not read the file. Reload the page, then drop the file on the recording's page.";
  throw new ApiError(text, NOT_LOADED, 0);
}

/** Throws `ApiError` for a file that cannot be read. */
async function readText(file: File): Promise<string> {
  const { readScript } = await loadCode(() => import("../pages/asset/script"));
  try {
    return await readScript(file);
  } catch (error) {
    throw new ApiError(error instanceof Error ? error.message : String(error), "unreadable", 0);
  }
}

/**
 * Returns false if the recording is not cut after the upload, or is cut already. Repeats calls while the server cannot
 * be reached or is busy. Throws `ApiError`.
 */
async function planWithScript(assetId: string, script: string, workspaceId: string): Promise<boolean> {
  const call = { params: { path: { asset_id: assetId } }, headers: toWorkspaceHeader(workspaceId) };
  let isRefused = false;
  for (let attempt = 1; ; attempt++) {
    try {
      const { mode } = await must(api.GET("/api/v1/assets/{asset_id}/cut-after-upload", call));
      if (mode === null) return false;
      await must(api.PUT("/api/v1/assets/{asset_id}/cut-after-upload", { ...call, body: { mode, script } }));
      return true;
    } catch (error) {
      // The next call returns whether the recording is cut already. Any other conflict, such as a full quota, is an
      // error.
      if (error instanceof ApiError && error.status === 409 && !isRefused) {
        isRefused = true;
        continue;
      }
      if (!isTransient(error) || attempt === MAX_ATTEMPTS) throw error;
      const delay = RETRY_DELAYS_MS[Math.min(attempt, RETRY_DELAYS_MS.length) - 1]!;
      // A busy server says how long to wait.
      await sleep(error instanceof ApiError && error.retryAfterSeconds ? 1_000 * error.retryAfterSeconds : delay);
    }
  }
}

const isTransient = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === "offline" || error.status === 429 || error.status >= 500);

/** Keeps a script for the Script tab of a recording. Throws `ApiError`. */
async function keepScript(assetId: string, script: string): Promise<void> {
  const { createScriptForm } = await loadCode(() => import("../pages/asset/script"));
  if (createScriptForm(assetId).setScript(script)) return;
  throw new ApiError("Browser storage is full. Drop the script on the recording's page.", "storage_full", 0);
}

const normalize = (name: string): string => name.normalize("NFC").toLowerCase();

type PairedScripts<T> = { recordings: T[]; scripts: Map<T, T>; unmatched: T[]; ambiguous: T[] };

/**
 * Pure. Finds the script of each recording. `toFolder` returns the folder of a file, empty if it is not known.
 * `unmatched`: scripts with the name of no recording. `ambiguous`: scripts that share a name with another script, or
 * whose recording shares its name with another one.
 */
export function pairScripts<T extends { name: string }>(
  files: readonly T[],
  toFolder: (file: T) => string,
): PairedScripts<T> {
  const toKey = (file: T): string => normalize(`${toFolder(file)}/${file.name.replace(/\.[^.]*$/, "")}`);
  const recordings = files.filter((file) => !isScript(file));
  const candidates = Map.groupBy(recordings, toKey);
  const found = Map.groupBy(files.filter(isScript), toKey);
  const result: PairedScripts<T> = { recordings, scripts: new Map(), unmatched: [], ambiguous: [] };
  for (const [key, scripts] of found) {
    const own = candidates.get(key) ?? [];
    // Files of several cameras, such as `a.mp4` and `a.wav`, have one script.
    const hasTwins = new Set(own.map(({ name }) => normalize(name))).size < own.length;
    if (own.length === 0) result.unmatched.push(...scripts);
    else if (scripts.length > 1 || hasTwins) result.ambiguous.push(...scripts);
    else for (const recording of own) result.scripts.set(recording, scripts[0]!);
  }
  return result;
}
