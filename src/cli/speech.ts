/** The hidden command `__speech`, with which the speech engine starts the executable as its speech process. */
import { openExtracted } from "../lib/assets";
import { runSpeechProcess } from "../speech/process-main";

/** Runs the speech process until its standard input is closed. `args`: the folder of the assets, or nothing. */
export async function speechProcessCommand(args: string[]): Promise<number> {
  const assets = openExtracted(args[0] ?? null);
  await runSpeechProcess(assets.speechDir);
  return 0;
}
