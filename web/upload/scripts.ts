/** Scripts that are dropped or chosen together with the recording of the same name. */
import { api, must, toMessage } from "../app/api";
import { formatCount } from "../app/format";
import { showToast } from "../app/toasts";
import { pairScripts } from "./pair-scripts";

/** The types of scripts, for `accept` of a field for recordings. */
export const SCRIPT_TYPES = ".txt,.md,.markdown,.srt,.vtt,.docx";

/** The scripts of recordings whose upload has not begun. */
const waiting = new WeakMap<File, File>();

/** Returns the recordings among files, and keeps their scripts for `sendScript`. Says which scripts have no recording. */
export function takeScripts(files: readonly File[]): File[] {
  const { recordings, scripts, unmatched } = pairScripts(files);
  for (const [recording, script] of scripts) waiting.set(recording, script);
  if (unmatched[0] !== undefined) {
    const names = unmatched.length === 1 ? `“${unmatched[0].name}”` : formatCount(unmatched.length, "script");
    showToast({ kind: "bad", text: `${names} not used: a script has the name of its recording. Drop both together.` });
  }
  return recordings;
}

/** Sends the script of a recording, if it has one, once the server knows the recording. */
export async function sendScript(recording: File, uploadUrl: string | null): Promise<void> {
  const file = waiting.get(recording);
  const assetId = uploadUrl?.split("/").at(-1);
  if (file === undefined || assetId === undefined) return;
  waiting.delete(recording);
  try {
    const { readScript } = await import("../pages/asset/read-script");
    const script = await readScript(file);
    const params = { path: { asset_id: assetId } };
    const planned = await must(api.GET("/api/v1/assets/{asset_id}/cut-after-upload", { params }));
    const body = { mode: planned.mode ?? "natural", script };
    await must(api.PUT("/api/v1/assets/{asset_id}/cut-after-upload", { params, body }));
  } catch (error) {
    showToast({ kind: "bad", text: `“${file.name}” was not used as a script. ${toMessage(error)}` });
  }
}
