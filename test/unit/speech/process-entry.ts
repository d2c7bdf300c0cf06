/**
 * The speech process for tests and benches, like the hidden command of the executable: `bun process-entry.ts FOLDER`.
 */
import { runSpeechProcess } from "../../../src/speech/process-main";

await runSpeechProcess(process.argv[2]!);
