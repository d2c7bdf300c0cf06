/**
 * Sends the stored mails that are due. A mail is recorded as sent when the mail server has accepted it, so it is sent
 * twice only if this server dies in between.
 */
import { findMailRetryDelay, type MailResult } from "../../domain/mail";
import type { Log } from "../../lib/log";
import { createPoller } from "../../lib/poller";
import type { Sealer } from "../../lib/sealer";
import { sleep } from "../../lib/sleep";
import { withTimeLimit } from "../../lib/time-limit";
import { createTurns } from "../../lib/turns";
import type { Mailer } from "../../outbound/mail";
import type { Store } from "../../store/db";
import {
  type DueMail,
  findNextMailTime,
  findPendingMail,
  listDueMails,
  type StoredMail,
  updateMail,
} from "../../store/mails";
import { readMailValues } from "./mails";
import { findMailExpiry, renderMail, URGENT_TEMPLATES } from "./templates";

const MAX_IN_FLIGHT = 4;
const RECORD_RETRY_MS = 500;
const STOP_MS = 10_000;

/** Creates the sender. Each recipient has at most one mail in flight; the one served longest ago comes first. */
export function createMailSender(options: { store: Store; sealer: Sealer; mailer: Mailer; log: Log; now(): number }) {
  const { store, sealer, mailer, log, now } = options;
  /** Deliveries in progress by recipient. */
  const inFlight = new Map<string, Promise<void>>();
  const turns = createTurns();
  const poller = createPoller(poll, (error) => log.error("mail.poll_failed", { error }));

  async function trySending(mail: StoredMail): Promise<MailResult> {
    const values = readMailValues(sealer, mail);
    if (values === null)
      return { outcome: "refused", detail: "The content cannot be decrypted with this data folder's key." };
    const expiry = findMailExpiry(values);
    if (expiry !== null && expiry <= now()) return { outcome: "refused", detail: "The link or code has expired." };
    const rendered = renderMail(mail.recipient, mail.template, values, now());
    if (rendered === null) return { outcome: "refused", detail: `This version has no template "${mail.template}".` };
    return mailer.send(rendered);
  }

  const pause = () => sleep(RECORD_RETRY_MS, poller.signal).catch(() => {});

  /** Retries until the database accepts it: otherwise the mail would be sent again. */
  async function record(id: string, change: Partial<StoredMail>): Promise<void> {
    for (;;) {
      try {
        return await store.write((tx) => updateMail(tx, id, change));
      } catch (error) {
        log.error("mail.record_failed", { mail: id, error });
        if (poller.isStopped) return;
        await pause();
      }
    }
  }

  async function attempt(id: string): Promise<void> {
    const mail = await findPendingMail(store.read, id);
    if (!mail) return;
    const result = await trySending(mail);
    const attempts = mail.attempts + 1;
    const delay = result.outcome === "failed" ? findMailRetryDelay(attempts) : null;
    const fields = { mail: id, template: mail.template, attempts };
    if (result.outcome === "sent") {
      const change = { state: "sent" as const, sealed_values: null, due_at: null, last_error: null, sent_at: now() };
      await record(id, { ...change, attempts });
      log.info("mail.sent", fields);
    } else if (delay === null) {
      const change = { state: "failed" as const, sealed_values: null, due_at: null, last_error: result.detail };
      await record(id, { ...change, attempts });
      log.warn("mail.given_up", { ...fields, reason: result.detail });
    } else {
      await record(id, { attempts, due_at: now() + delay, last_error: result.detail });
      log.warn("mail.postponed", { ...fields, reason: result.detail, retry_in_ms: delay });
    }
  }

  const isUrgent = ({ template }: DueMail): boolean => (URGENT_TEMPLATES as string[]).includes(template);
  const compare = (a: DueMail, b: DueMail): number =>
    Number(isUrgent(b)) - Number(isUrgent(a)) || turns.compare(a.turn, b.turn);
  const chooseNext = (due: DueMail[]): DueMail | undefined =>
    due.filter(({ turn }) => !inFlight.has(turn)).toSorted(compare)[0];

  function begin({ id, turn }: DueMail): void {
    turns.take(turn);
    const ended = attempt(id)
      .catch((error) => {
        log.error("mail.failed", { mail: id, error });
        // The database cannot be read: wait before the next attempt.
        return pause();
      })
      .finally(() => {
        inFlight.delete(turn);
        poller.wake();
      });
    inFlight.set(turn, ended);
  }

  async function poll(): Promise<number | null> {
    const lookedAt = now();
    const due = inFlight.size < MAX_IN_FLIGHT ? await listDueMails(store.read, lookedAt) : [];
    for (let next = chooseNext(due); next && inFlight.size < MAX_IN_FLIGHT; next = chooseNext(due)) {
      if (poller.isStopped) return null;
      begin(next);
    }
    // Due mails are in flight or wait for a slot, and the end of an attempt wakes the sender.
    const next = await findNextMailTime(store.read, lookedAt);
    return next === null ? null : next - now();
  }

  return {
    start: poller.start,
    /** Looks for mails soon, once for several calls. */
    wake: poller.wake,
    /** Waits briefly for mails that are being sent, and closes the connections. */
    stop: async () => {
      await poller.stop();
      await withTimeLimit<unknown>(Promise.all(inFlight.values()), STOP_MS, () => {});
      mailer.close();
    },
  };
}

export type MailSender = ReturnType<typeof createMailSender>;
