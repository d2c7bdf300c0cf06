/** The head in `offcut doctor`, when the settings are those of a worker. */
import { version } from "../../package.json";
import { type Config, isLoopback, readCertificate } from "../config";
import type { TokenCheck } from "../domain/worker-messages";
import { WORKER_PROTOCOL } from "../domain/workers";
import { createHead } from "../outbound/head";
import { describeHeadError, HeadError } from "../outbound/head-requests";
import { type CheckResult, ok, warning } from "../work/health/checks";

/**
 * Whether it configures a worker, whose data folder has no database: opening it would make the folder that of a server.
 */
export const isOfWorker = ({ head, token }: Pick<Config, "head" | "token">): boolean => head !== null || token !== null;

/** With more, the times in the logs of both machines do not fit together, and a valid certificate may be refused. */
const MAX_CLOCK_MS = 60_000;
const NOT_FOUND = 404;

/**
 * Asks the head whether it accepts the token and the version of this worker, which neither joins nor disturbs a worker
 * that runs. Throws a plain `Error` with the remedy.
 */
export async function checkHead(config: Pick<Config, "ca" | "head" | "token">): Promise<CheckResult> {
  const { head: url, token } = config;
  if (url === null) throw new Error("head is missing: set it to the address of the server");
  if (token === null) throw new Error("token is missing: create one on the head with offcut worker token create");
  const head = createHead({ url, token, ca: await readCertificate(config.ca) });
  const sentAt = Date.now();
  const found = await head
    .check({ protocol: WORKER_PROTOCOL, version }, new AbortController().signal)
    .catch((error: unknown) => {
      throw new Error(`${url}: ${describeProblem(error)}`);
    });
  return describeHead(url, found, found.time - (sentAt + Date.now()) / 2);
}

const describeProblem = (error: unknown): string =>
  error instanceof HeadError && error.status === NOT_FOUND
    ? `Nothing at this address knows workers: it is no Offcut server, has no redis_url, or has another version than ${version}.`
    : describeHeadError(error);

/** `clockMs`: how far the head's clock is ahead of that of this machine. */
function describeHead(url: string, { name, version: ofHead, isOnline }: TokenCheck, clockMs: number) {
  const about = `${url}, version ${ofHead}, accepts the token of ${name}, whose worker is ${isOnline ? "online" : "offline"}`;
  const { protocol, hostname } = new URL(url);
  const problems = [
    ...(protocol === "http:" && !isLoopback(hostname)
      ? ["the token and recordings are sent unencrypted, use https://"]
      : []),
    ...(Math.abs(clockMs) > MAX_CLOCK_MS
      ? [`the clock of this machine is ${formatClock(-clockMs)} that of the head`]
      : []),
  ];
  return problems.length === 0 ? ok(about) : warning(`${about}: ${problems.join("; ")}`);
}

const formatClock = (aheadMs: number): string =>
  `${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? "ahead of" : "behind"}`;
