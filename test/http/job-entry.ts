/** The entry of the bundle that `job-command.ts` makes. */
import { jobCommandMain } from "../../src/cli/job";

process.exit(await jobCommandMain());
