/** The prepared graphs for tests: built once, in the folder that the build uses. */
import { join } from "node:path";
import { prepareSpeechGraphs } from "../../../src/build/speech-graphs";

export const SPEECH_DIR = join(import.meta.dir, "../../../dist/assets/speech");

/** Resolves with the folder when the graphs exist and are current. */
export async function speechDir(): Promise<string> {
  await prepareSpeechGraphs(SPEECH_DIR);
  return SPEECH_DIR;
}
