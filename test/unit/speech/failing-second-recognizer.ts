/** A speech process whose second recognizer fails: when it starts, or after the milliseconds of the second argument. */
import { runSpeechProcess } from "../../../src/speech/process-main";
import { isSecondRecognizer } from "../../../src/speech/second-recognizer";

const fail = () => {
  throw new Error("no second recognizer today");
};
const delayMs = Number(process.argv[3] ?? 0);
if (isSecondRecognizer && delayMs === 0) fail();
else if (isSecondRecognizer) setTimeout(fail, delayMs);
await runSpeechProcess(process.argv[2]!);
