/**
 * Shares 20 tasks between the second recognizer and a first one that is stuck, while no step is confirmed. Prints how
 * many tasks were read after the second one has encoded ten times more: `bun blocked-steps.ts FOLDER`.
 */
import type { Recognizer } from "../../../src/speech/recognizer";
import {
  isSecondRecognizer,
  serveSecondRecognizer,
  startSecondRecognizer,
} from "../../../src/speech/second-recognizer";

if (isSecondRecognizer) await serveSecondRecognizer(process.argv[2]!);
const second = startSecondRecognizer()!;
const never = new Promise<never>(() => {});
const audio = new Float32Array(16_000);
let read = 0;
const readTask = async () => {
  read++;
  return { audio, texts: [[100, 200, 300]] };
};
const stuck = { score: () => never } as Partial<Recognizer> as Recognizer;
void second.share(20, readTask, stuck, () => never).next();
for (let n = 0; n < 10; n++) await second.encode(audio);
console.log(read);
process.exit();
