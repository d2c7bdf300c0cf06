import { describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { SMTPServerOptions } from "smtp-server";
import { createLog } from "../../../../src/lib/log";
import { createSealer } from "../../../../src/lib/sealer";
import { createMailer } from "../../../../src/outbound/mail";
import type { StoredMail } from "../../../../src/store/mails";
import { createMails } from "../../../../src/work/mail/mails";
import { createMailSender } from "../../../../src/work/mail/sender";
import { startSmtpReceiver } from "../../../smtp";
import { until } from "../../../until";
import { addUser, freshStore } from "../../store/test-store";

const MINUTE = 60_000;
const SECRET = "a".repeat(43);
const TOKEN = "T0k3n".repeat(8);

const replyWith = (code: number, text: string) => Object.assign(new Error(text), { responseCode: code });

/** A store, a mail server and a sender with a clock. */
async function world(options: SMTPServerOptions = {}) {
  const fresh = await freshStore();
  const receiver = await startSmtpReceiver(options);
  const mailer = createMailer({ url: receiver.url, from: () => "offcut@studio.example" });
  let time = 1_800_000_000_000;
  const lines: string[] = [];
  const log = createLog((line) => lines.push(line), false);
  const { store } = fresh;
  const sealer = createSealer(SECRET);
  const mails = createMails({ isConfigured: true, sealer, log });
  const createSender = () => createMailSender({ store, sealer, mailer, log, now: () => time });
  const sender = createSender();
  store.onCommit(sender.wake);
  const rows = () => store.read.all<StoredMail>(sql`SELECT * FROM mails ORDER BY id`);
  return {
    ...fresh,
    receiver,
    mails,
    sender,
    createSender,
    rows,
    lines,
    now: () => time,
    advance: (ms: number) => {
      time += ms;
      sender.wake();
    },
    /** Queues a password reset. */
    queue: (to: string, userId: string | null = null) =>
      store.write((tx) =>
        mails.queue(
          tx,
          {
            to,
            userId,
            template: "password_reset",
            values: { url: `https://cut.example/reset-password#${TOKEN}`, expires_at: time + 60 * MINUTE },
          },
          time,
        ),
      ),
    state: (wanted: string, count = 1) =>
      until(`${count} mails ${wanted}`, async () => {
        const found = (await rows()).filter(({ state }) => state === wanted);
        return found.length >= count && found;
      }),
    [Symbol.asyncDispose]: async () => {
      await sender.stop();
      mailer.close();
      await receiver[Symbol.asyncDispose]();
      await fresh[Symbol.asyncDispose]();
    },
  };
}

describe("a mail", () => {
  test("is sent after the commit, and its content is removed from the database", async () => {
    await using w = await world();
    w.sender.start();
    await w.queue("anna@example.com");
    const mail = await w.receiver.mailTo("anna@example.com");
    expect(mail.text).toContain(`https://cut.example/reset-password#${TOKEN}`);
    const [row] = await w.state("sent");
    expect(row).toMatchObject({ attempts: 1, sealed_values: null, due_at: null, last_error: null, sent_at: w.now() });
    expect(w.lines.join()).not.toContain(TOKEN);
    expect(w.lines.join()).not.toContain("anna@example.com");
  });

  test("does not exist if its cause is rolled back", async () => {
    await using w = await world();
    w.sender.start();
    const failed = w.store.write(async (tx) => {
      const values = { url: "https://cut.example/", expires_at: w.now() + MINUTE };
      await w.mails.queue(tx, { to: "anna@example.com", userId: null, template: "password_reset", values }, w.now());
      throw new Error("cause failed");
    });
    await expect(failed).rejects.toThrow("cause failed");
    await w.queue("ben@example.com");
    await w.state("sent");
    expect(w.receiver.mails.map(({ envelopeTo }) => envelopeTo)).toEqual([["ben@example.com"]]);
  });

  test("waits in the database without its secrets in clear, also for the next start", async () => {
    await using w = await world();
    await w.queue("anna@example.com");
    expect(JSON.stringify(await w.rows())).not.toContain(TOKEN);
    expect(w.receiver.mails).toEqual([]);
    const next = w.createSender();
    next.start();
    await w.state("sent");
    await next.stop();
    expect(w.receiver.mails).toHaveLength(1);
  });

  test("is not stored without a mail server", async () => {
    await using w = await world();
    const log = createLog(() => {}, false);
    const off = createMails({ isConfigured: false, sealer: createSealer(SECRET), log });
    await w.store.write((tx) =>
      off.queue(
        tx,
        { to: "anna@example.com", userId: null, template: "password_changed", values: { api_keys: null } },
        w.now(),
      ),
    );
    expect(await w.rows()).toEqual([]);
  });
});

describe("a mail server", () => {
  test("that asks to try later is asked again", async () => {
    let isOverloaded = true;
    await using w = await world({
      onRcptTo: (_a, _s, done) => done(isOverloaded ? replyWith(451, "greylisted") : null),
    });
    w.sender.start();
    await w.queue("anna@example.com");
    const postponed = () => until("an attempt", async () => (await w.rows()).find(({ attempts }) => attempts > 0));
    expect(await postponed()).toMatchObject({ state: "pending", due_at: w.now() + 10_000 });
    isOverloaded = false;
    w.advance(10_000);
    await w.receiver.mailTo("anna@example.com");
    expect((await w.state("sent"))[0]).toMatchObject({ attempts: 2, last_error: null });
    expect(w.receiver.mails).toHaveLength(1);
  });

  test("that refuses the recipient is not asked again", async () => {
    await using w = await world({ onRcptTo: (_a, _s, done) => done(replyWith(550, "no such user")) });
    w.sender.start();
    await w.queue("anna@example.com");
    const [row] = await w.state("failed");
    expect(row).toMatchObject({ attempts: 1, sealed_values: null, due_at: null });
    expect(row!.last_error).toContain("no such user");
  });

  test("that is back after a link has expired does not send it", async () => {
    await using w = await world();
    await w.queue("anna@example.com");
    w.advance(61 * MINUTE);
    w.sender.start();
    const [row] = await w.state("failed");
    expect(row!.last_error).toContain("expired");
    expect(w.receiver.mails).toEqual([]);
  });

  test("that accepted a mail does not get it again while the database cannot record it", async () => {
    await using w = await world();
    const { store } = w;
    await w.queue("anna@example.com");
    const { write } = store;
    let failures = 0;
    store.write = async () => {
      failures++;
      throw new Error("database or disk is full");
    };
    w.sender.start();
    await until("a failure to record", () => failures > 0);
    for (let times = 0; times < 20; times++) w.sender.wake();
    await until("another one", () => failures > 1);
    store.write = write;
    await w.state("sent");
    expect(w.receiver.mails).toHaveLength(1);
  });
});

describe("recipients", () => {
  test("with many mails do not delay others", async () => {
    const release = Promise.withResolvers<void>();
    await using w = await world({
      onMailFrom: (_a, _s, done) => void release.promise.then(() => done()),
    });
    const owner = await w.store.write((tx) => addUser(tx));
    for (let index = 0; index < 25; index++) await w.queue(`anna${index}@example.com`, owner.userId);
    await w.queue("ben@example.com");
    w.sender.start();
    release.resolve();
    await w.state("sent", 26);
    const position = w.receiver.mails.findIndex(({ envelopeTo }) => envelopeTo[0] === "ben@example.com");
    expect(position).toBeLessThanOrEqual(2);
  });

  test("get at most 30 mails an hour", async () => {
    await using w = await world();
    for (let index = 0; index < 40; index++) await w.queue("anna@example.com");
    expect(await w.rows()).toHaveLength(30);
    await w.queue("ben@example.com");
    expect(await w.rows()).toHaveLength(31);
    w.advance(61 * MINUTE);
    await w.queue("anna@example.com");
    expect(await w.rows()).toHaveLength(32);
  });

  test("who wait for a mail come first", async () => {
    await using w = await world();
    const values = {
      url: "https://cut.example/",
      workspace: null,
      role: null,
      invited_by: null,
      expires_at: w.now() + MINUTE,
    };
    for (let index = 0; index < 20; index++) {
      const to = `anna${index}@example.com`;
      await w.store.write((tx) => w.mails.queue(tx, { to, userId: null, template: "invitation", values }, w.now()));
    }
    await w.queue("ben@example.com");
    w.sender.start();
    await w.state("sent", 21);
    const position = w.receiver.mails.findIndex(({ envelopeTo }) => envelopeTo[0] === "ben@example.com");
    expect(position).toBeLessThan(4);
  });
});
