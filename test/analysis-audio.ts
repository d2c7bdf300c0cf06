/** Analysis audio for tests, whole. */
import { openAudioFile } from "../src/lib/analysis-audio/reader";

/** All samples of a file. */
export async function allSamples(path: string): Promise<Int16Array> {
  const audio = await openAudioFile(path);
  try {
    return await audio.read(0, audio.samples);
  } finally {
    await audio.close();
  }
}
