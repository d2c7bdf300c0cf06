/** What the hidden command of the executable does, for tests and benches: `bun child-entry.ts FOLDER`. */
import { runSpeechWorker } from "../../../src/speech/worker";

await runSpeechWorker(process.argv[2]!);
