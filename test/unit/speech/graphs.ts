/** The prepared graphs for tests: made once, in the folder where the build puts them. */
import { join } from "node:path";
import { prepareSpeechGraphs } from "../../../src/build/speech-graphs";

export const SPEECH_DIR = join(import.meta.dir, "../../../dist/assets/speech");

/** Resolves with the folder when the graphs are there and current. */
export async function speechDir(): Promise<string> {
  await prepareSpeechGraphs(SPEECH_DIR);
  return SPEECH_DIR;
}
