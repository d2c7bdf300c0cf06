/** The hidden command that makes the executable the child process of a job. Ends with its standard input. */
import { runJobWorker } from "../work/job-child/worker";

/** Serves operations; gives the exit code. */
export async function jobCommandMain(): Promise<number> {
  await runJobWorker();
  return 0;
}
