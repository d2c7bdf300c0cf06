/** The hidden command that makes the executable a speech worker, started by the speech engine. */
import { openExtracted } from "../lib/assets";
import { runSpeechWorker } from "../speech/worker";

/** `[folder]`: the extracted assets; nothing in development. Ends with its standard input. */
export async function speechProcessCommand(args: string[]): Promise<number> {
  const assets = openExtracted(args[0] ?? null);
  await runSpeechWorker(assets.speechDir);
  return 0;
}
