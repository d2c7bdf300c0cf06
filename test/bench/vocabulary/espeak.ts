/**
 * Speech by Debian's `libespeak-ng1`, called in-process: it says a name as its language does, within an English
 * sentence.
 */
import { dlopen, FFIType, JSCallback, type Pointer, read, toArrayBuffer } from "bun:ffi";

/** Samples at `rate`, and where the name is in them, in seconds. */
export type SpokenName = { samples: Float32Array; rate: number; start: number; end: number };

const LIBRARY = `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu/libespeak-ng.so.1`;
const { ptr, i32, u32, u64 } = FFIType;
const SYNCHRONOUS = 2;
const [UTF8, SSML] = [1, 0x10];
const RATE_PARAMETER = 1;
/** The layout of espeak's events on 64-bit machines. */
const EVENT = { size: 40, milliseconds: 16, none: 0, mark: 3 };

/** Opens the library. A voice is named as `en-us+m3`. Throws when libespeak-ng1 is not installed. */
export function openEspeak() {
  const { symbols: espeak } = dlopen(LIBRARY, {
    espeak_Initialize: { args: [i32, i32, ptr, i32], returns: i32 },
    espeak_SetSynthCallback: { args: [FFIType.function], returns: FFIType.void },
    espeak_SetVoiceByName: { args: [ptr], returns: i32 },
    espeak_SetParameter: { args: [i32, i32, i32], returns: i32 },
    espeak_Synth: { args: [ptr, u64, u32, i32, u32, u32, ptr, ptr], returns: i32 },
  });
  const rate = espeak.espeak_Initialize(SYNCHRONOUS, 0, null, 0);
  let parts: Int16Array[] = [];
  let marks: number[] = [];
  const receive = (samples: Pointer | null, count: number, events: Pointer): number => {
    if (samples && count > 0) parts.push(new Int16Array(toArrayBuffer(samples, 0, count * 2).slice(0)));
    for (let at = 0; read.i32(events, at) !== EVENT.none; at += EVENT.size)
      if (read.i32(events, at) === EVENT.mark) marks.push(read.i32(events, at + EVENT.milliseconds) / 1000);
    return 0;
  };
  const callback = new JSCallback(receive, { args: [ptr, i32, ptr], returns: i32 });
  espeak.espeak_SetSynthCallback(callback);

  /**
   * Says a sentence with a name in the place of `{}`, which is pronounced as in `language`, at a number of words a
   * minute.
   */
  return (sentence: string, name: string, manner: { voice: string; language: string; pace: number }): SpokenName => {
    [parts, marks] = [[], []];
    if (espeak.espeak_SetVoiceByName(Buffer.from(`${manner.voice}\0`)) !== 0)
      throw new Error(`no voice ${manner.voice}`);
    espeak.espeak_SetParameter(RATE_PARAMETER, manner.pace, 0);
    const spoken = `<mark name="a"/><voice xml:lang="${manner.language}">${name}</voice><mark name="b"/>`;
    const text = Buffer.from(`<speak>${sentence.replace("{}", spoken)}</speak>\0`);
    espeak.espeak_Synth(text, text.length, 0, 1, 0, UTF8 | SSML, null, null);
    const samples = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      for (const [n, sample] of part.entries()) samples[at + n] = sample / 32_768;
      at += part.length;
    }
    return { samples, rate, start: marks[0] ?? 0, end: marks[1] ?? 0 };
  };
}
