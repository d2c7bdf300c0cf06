/**
 * One hostile file's way through the product: uploaded, prepared, cut and rendered, each to an end that the contract
 * allows.
 */
import type { Client } from "../../http/client";
import type { AssetDetail } from "../../http/resources";

const ASSET_CODES = [
  "unsupported_media",
  "corrupt_media",
  "no_media_streams",
  "media_limits_exceeded",
  "processing_failed",
];
const CUT_CODES = ["no_speech", "processing_failed", "transcription_unavailable", "script_mismatch"];
const RENDER_CODES = ["processing_failed", "storage_full", "media_limits_exceeded"];

/** `problem` is null when all went as it must. */
export type Attempt = { name: string; state: string; code: string | null; seconds: number; problem: string | null };

/** A hostile file on disk. */
export type WrittenFile = { name: string; container: string; path: string };

/** Tries one file. `secrets` must stand in no message. Never throws: errors are returned as the problem. */
export async function attempt(
  client: Client,
  file: WrittenFile,
  options: { goesOn: (asset: AssetDetail) => boolean; secrets: readonly string[] },
): Promise<Attempt> {
  const started = performance.now();
  let asset: AssetDetail | null = null;
  const outcome = (problem: string | null): Attempt => ({
    name: file.name,
    state: asset?.state ?? "unknown",
    code: asset?.error_code ?? null,
    seconds: Math.round((performance.now() - started) / 100) / 10,
    problem,
  });
  try {
    const extension = file.container;
    const bytes = await Bun.file(file.path).bytes();
    asset = await client.prepared(await client.upload(bytes, { filename: `hostile.${extension}` }));
    if (asset.state === "failed") {
      if (!ASSET_CODES.includes(asset.error_code ?? "")) return outcome(`unknown code ${asset.error_code}`);
      return outcome(messageProblem(asset.error_message, options.secrets));
    }
    if (asset.state !== "ready") return outcome(`ended ${asset.state}`);
    return outcome(options.goesOn(asset) ? await cutAndRender(client, asset, options.secrets) : null);
  } catch (error) {
    return outcome(error instanceof Error ? error.message : String(error));
  }
}

/** One line, without a path of the machine and without the content of another file. */
function messageProblem(message: string | null, secrets: readonly string[]): string | null {
  if (message === null || message === "" || message.includes("\n")) return `bad message ${JSON.stringify(message)}`;
  return secrets.some((secret) => message.includes(secret)) ? `message discloses a secret: ${message}` : null;
}

async function cutAndRender(client: Client, asset: AssetDetail, secrets: readonly string[]): Promise<string | null> {
  const problems: (string | null)[] = [];
  const check = (
    what: string,
    ended: { state: string; error_code: string | null; error_message: string | null },
    codes: string[],
  ) => {
    if (ended.state === "completed") return;
    if (ended.state !== "failed" || !codes.includes(ended.error_code ?? ""))
      problems.push(`${what}: ${ended.state} ${ended.error_code}`);
    else problems.push(messageProblem(ended.error_message, secrets));
  };
  const cut = await client.cutEnded((await client.startCut({ asset_id: asset.id })).id);
  check("cut", cut, CUT_CODES);
  const outputs = [
    ...((asset.audio_tracks ?? 0) > 0 ? [{ format: "mp3" }] : []),
    ...(asset.type === "video" ? [{ format: "mp4" }] : []),
  ];
  for (const output of outputs) {
    const render = await client.startRender({ asset_id: asset.id, output });
    check(`render ${output.format}`, await client.renderEnded(render.id), RENDER_CODES);
  }
  return problems.filter((problem) => problem !== null).join("; ") || null;
}
