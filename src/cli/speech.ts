/** The hidden command that makes the executable a speech worker, started by the speech engine. */
import { openExtracted } from "../lib/assets";
import { runSpeechProcess } from "../speech/process-main";

/** `[folder]`: the extracted assets; nothing in development. Ends with its standard input. */
export async function speechProcessCommand(args: string[]): Promise<number> {
  const assets = openExtracted(args[0] ?? null);
  await runSpeechProcess(assets.speechDir);
  return 0;
}
