/** A speech process whose second encoder fails. */
import { runSpeechProcess } from "../../../src/speech/process-main";
import { isSecondEncoder } from "../../../src/speech/second-encoder";

if (isSecondEncoder) throw new Error("no second encoder today");
await runSpeechProcess(process.argv[2]!);
