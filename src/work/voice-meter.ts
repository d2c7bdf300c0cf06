/** Measures voices in analysis audio, for the planner. */
import { type AnalysisAudioFile, PCM_SAMPLE_RATE_HZ } from "../domain/speech";
import type { Span } from "../domain/time";
import { measureVoice, type VoiceFeatures, voiceWindow } from "../domain/voice";
import { openAudioFile } from "../lib/analysis-audio/reader";

const toSample = (time: number): number => Math.round((time * PCM_SAMPLE_RATE_HZ) / 1e6);

/** Returns the voice features of each span of the audio. Throws `DamagedAudioError` and file system errors. */
export async function measureVoices(file: AnalysisAudioFile, spans: readonly Span[]): Promise<VoiceFeatures[]> {
  const audio = await openAudioFile(file.path);
  try {
    const features: VoiceFeatures[] = [];
    for (const span of spans) {
      const window = voiceWindow(span);
      const from = toSample(window.start);
      const integers = await audio.read(from, toSample(window.end) - from);
      features.push(measureVoice(Float32Array.from(integers).map(toUnit), PCM_SAMPLE_RATE_HZ));
    }
    return features;
  } finally {
    await audio.close();
  }
}

const toUnit = (value: number): number => value / 32_768;
