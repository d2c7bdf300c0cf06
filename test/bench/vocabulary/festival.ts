/** Speech with word times by Debian's `festival`, in voices that flite does not have. Only for making test material. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Manner, SPEECH_RATE, type Spoken } from "../../fixtures/flite";

const WAVE_HEADER_BYTES = 44;

/** Opens a voice, such as `ked_diphone` of `festvox-kdlpc16k`. It has its own pitch. */
export const openFestivalVoice =
  (name: string) =>
  (text: string, { stretch }: Pick<Manner, "stretch">): Spoken => {
    const folder = mkdtempSync(join(tmpdir(), "offcut-festival-"));
    const wave = join(folder, "spoken.wav");
    const expressions = [
      `(voice_${name})`,
      `(Parameter.set 'Duration_Stretch ${stretch})`,
      `(set! spoken (utt.synth (Utterance Text ${JSON.stringify(text)})))`,
      `(utt.wave.resample spoken ${SPEECH_RATE})`,
      `(utt.save.wave spoken ${JSON.stringify(wave)} 'riff)`,
      `(mapcar (lambda (word) (format t "%s\\t%f\\t%f\\n" (item.name word) (item.feat word "word_start")
        (item.feat word "word_end"))) (utt.relation.items spoken 'Word))`,
    ];
    const { stdout, stderr, exitCode } = Bun.spawnSync(["festival", "-b", ...expressions]);
    if (exitCode !== 0) throw new Error(stderr.toString());
    const values = new Int16Array(readFileSync(wave).buffer.slice(WAVE_HEADER_BYTES));
    rmSync(folder, { recursive: true });
    const words = stdout
      .toString()
      .split("\n")
      .filter((line) => line.includes("\t"))
      .map((line) => {
        const [word, start, end] = line.split("\t");
        return { word: word!, start: Number(start), end: Number(end) };
      });
    return { samples: Float32Array.from(values, (value) => value / 32_768), words };
  };
