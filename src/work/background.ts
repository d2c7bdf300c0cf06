/**
 * Background work of the server beside requests and jobs: deliveries, mails, alerts, data exports, backups, the purge
 * of accounts and the hourly sweep.
 */

import { getMailSender } from "../config";
import { createPoller, type Poller } from "../lib/poller";
import { createMailer } from "../outbound/mail";
import { createNightlyBackup } from "./backup/nightly-backup";
import { createSnapshots } from "./backup/snapshots";
import { createSpaceKeeper } from "./backup/space-keeper";
import { CLOCK_INTERVAL_MS, type ConfirmedTime } from "./confirmed-time";
import { createPlannedCutStarter } from "./cuts/planned-cuts";
import { createDataExporter } from "./data-export/exporter";
import { purgeAccounts } from "./identity/account-purge";
import type { MediaTools } from "./jobs/media-tools";
import { createMailSender, type MailSender } from "./mail/sender";
import { createInvitationNotifier } from "./notifications/invitation-notices";
import { createNotificationMailer } from "./notifications/notification-mails";
import { sweep } from "./recovery";
import type { Services } from "./services";
import { createDatabaseCheck } from "./upkeep/database-check";
import { createScrubber } from "./upkeep/scrubber";
import { createDeliverer } from "./webhooks/deliver";
import { getAddressRules } from "./webhooks/endpoints";

const SWEEP_INTERVAL_MS = 3600 * 1000;

/** Creates the background work. It looks for something to do after each commit, once it is started. */
export function createBackgroundWork(services: Services, tools: MediaTools, confirmedTime: ConfirmedTime) {
  const { folders, store } = services;
  const mailSender = openMailSender(services);
  const workers = [
    createDeliverer({ ...services, rules: getAddressRules(services) }),
    createDataExporter(services),
    createNotificationMailer(services),
    createInvitationNotifier(services),
    createPlannedCutStarter(services),
    ...(mailSender ? [mailSender] : []),
  ];
  const { backupTo } = services.config;
  const pollers = [
    createClockReader(services, confirmedTime),
    createSweeper(services),
    createSpaceKeeper(services),
    createSnapshots(services),
    createScrubber(services, tools, { isOnline: async () => (await folders.guard.check()) === null }),
    services.alerts,
    createDatabaseCheck(services),
    ...(backupTo === null ? [] : [createNightlyBackup(services, backupTo)]),
  ];
  for (const { wake } of workers) store.onCommit(wake);
  return {
    start: () => {
      for (const worker of workers) worker.start();
      for (const poller of pollers) poller.start();
    },
    /** Resolves when all of it has ended. */
    stop: async () => {
      await Promise.all([...workers, ...pollers].map((worker) => worker.stop()));
    },
  };
}

/** Creates the poller that reads the clock every ten minutes, and at the stop. `clock`: as that of `ConfirmedTime`. */
export function createClockReader(
  { log }: Pick<Services, "log">,
  { readClock }: Pick<ConfirmedTime, "readClock">,
  clock = () => performance.now(),
): Poller {
  let dueAt = clock() + CLOCK_INTERVAL_MS;
  const read = () => readClock().catch((error) => log.warn("clock.read_failed", { error }));

  async function poll(): Promise<number> {
    if (clock() >= dueAt) {
      dueAt = clock() + CLOCK_INTERVAL_MS;
      await read();
    }
    return dueAt - clock();
  }

  const poller = createPoller(poll, (error) => log.error("clock.poll_failed", { error }));
  return { ...poller, stop: () => poller.stop().then(read) };
}

/** Creates the poller that purges accounts at the start and every hour, and sweeps every hour: the start has swept. */
function createSweeper(services: Services): Poller {
  const { log } = services;
  let startedAt: number | null = null;

  async function poll(): Promise<number> {
    const isFirst = startedAt === null;
    const dueInMs = startedAt === null ? 0 : startedAt + SWEEP_INTERVAL_MS - performance.now();
    if (dueInMs > 0) return dueInMs;
    startedAt = performance.now();
    await purgeAccounts(services, poller.signal).catch((error) => {
      if (!poller.signal.aborted) log.error("accounts.purge_failed", { error });
    });
    if (!isFirst) await sweep(services, poller.signal);
    return SWEEP_INTERVAL_MS;
  }

  const poller = createPoller(poll, (error) => log.error("sweep.failed", { error }));
  return poller;
}

/** Returns null if no mail server is configured. */
function openMailSender(services: Services): MailSender | null {
  const { config, publicUrl } = services;
  if (config.smtpUrl === null) return null;
  const mailer = createMailer({ url: config.smtpUrl, from: () => getMailSender(config, publicUrl()) });
  return createMailSender({ ...services, mailer });
}
