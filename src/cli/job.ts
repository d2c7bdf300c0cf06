/** The hidden command that runs the executable as a job's child process, until its standard input ends. */
import { runJobWorker } from "../work/job-child/worker";

/** Serves operations. Returns the exit code. */
export async function jobCommandMain(): Promise<number> {
  await runJobWorker();
  return 0;
}
