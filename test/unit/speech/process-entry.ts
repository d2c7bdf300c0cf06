/** What the hidden command of the executable does, for tests and benches: `bun process-entry.ts FOLDER`. */
import { runSpeechProcess } from "../../../src/speech/process-main";

await runSpeechProcess(process.argv[2]!);
