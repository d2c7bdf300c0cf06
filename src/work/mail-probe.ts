/** Whether the mail server can be used. */
import { type Config, getMailSender } from "../config";
import { createMailer } from "../outbound/mail";

/** Signs in to the mail server without sending a mail. Returns null, also without a mail server, or one line that says what is wrong. */
export async function findMailProblem(config: Config, base: string): Promise<string | null> {
  if (config.smtpUrl === null) return null;
  const mailer = createMailer({ url: config.smtpUrl, from: () => getMailSender(config, base) });
  return mailer.findProblem().finally(() => mailer.close());
}

const MAX_AGE_MS = 60_000;

/** Returns a function that finds the problem at most once a minute, so that reading it often does not burden the mail server. */
export function createMailProbe(config: Config, base: () => string): () => Promise<string | null> {
  let last: { at: number; problem: Promise<string | null> } | null = null;
  return () => {
    const now = performance.now();
    if (last === null || now - last.at > MAX_AGE_MS) last = { at: now, problem: findMailProblem(config, base()) };
    return last.problem;
  };
}
