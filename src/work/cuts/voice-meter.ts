/** Measures voices in analysis audio, for the planner. */
import { type AnalysisAudioFile, PCM_SAMPLE_RATE_HZ } from "../../domain/speech";
import type { Span } from "../../domain/time";
import { measureVoice, type VoiceFeatures, voiceWindow } from "../../domain/voice";
import { openAudioFile } from "../../lib/analysis-audio/reader";

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
      features.push(measureVoice(halveRate(integers), PCM_SAMPLE_RATE_HZ / 2));
    }
    return features;
  } finally {
    await audio.close();
  }
}

/** Returns samples at half the rate, -1 to 1: enough for the pitch of a voice, at a quarter of the cost. */
function halveRate(integers: Int16Array): Float32Array {
  const out = new Float32Array(integers.length >> 1);
  for (let i = 0; i < out.length; i++) out[i] = (integers[2 * i]! + integers[2 * i + 1]!) / 65_536;
  return out;
}
