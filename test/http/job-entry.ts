/** The entry of the bundle that `job-command.ts` makes. */
import { runJobWorker } from "../../src/work/job-child/worker";

await runJobWorker();
process.exit(0);
