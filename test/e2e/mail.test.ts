/** Mails of the compiled server: `kill -9` while one is on its way, the reset of a password, an authenticator. */
import { expect, test } from "bun:test";
import { generateSync } from "otplib";
import { receiver } from "../http/receiver";
import { startSmtpReceiver } from "../smtp";
import { until } from "../until";
import { IS_BUNDLED_PASS } from "./offcut";
import { BUNDLED, createAccount, startServer } from "./server";

const PATIENCE_MS = 60_000;
const PASSWORD = "staple horse correct";
const EMAIL = "user1@example.test";

test.skipIf(IS_BUNDLED_PASS)(
  "a mail survives kill -9 and arrives once; its link sets the password; a code completes the sign-in",
  async () => {
    let isHanging = true;
    const connected = Promise.withResolvers<void>();
    await using smtp = await startSmtpReceiver({
      onMailFrom: (_address, _session, done) => {
        if (!isHanging) done();
        connected.resolve();
      },
    });
    await using server = await startServer({ ...BUNDLED, SMTP_URL: smtp.url });
    // Without a key, whose mail would come first.
    await createAccount(server.data, EMAIL, 0);
    const post = (path: string, json: unknown, headers: Record<string, string> = {}) =>
      fetch(`${server.url()}/api/v1/${path}`, {
        method: "POST",
        body: JSON.stringify(json),
        headers: { "Content-Type": "application/json", ...headers },
      });

    expect((await post("auth/password/forgot", { email: EMAIL })).status).toBe(202);
    await connected.promise;
    await server.kill();
    isHanging = false;
    await server.start();
    const { text } = await smtp.mailTo(EMAIL);
    const token = /\/reset-password#(\w+)/.exec(text!)![1]!;
    await until("the record of it", () => server.log().find(({ event }) => event === "mail.sent"));
    await server.kill();
    await server.start();

    expect((await post("auth/password/reset", { token, password: PASSWORD })).status).toBe(204);
    expect((await smtp.mailTo(EMAIL, 1)).subject).toBe("Your password was changed");
    expect(smtp.mails).toHaveLength(2);

    const signIn = async () => (await post("auth/login", { email: EMAIL, password: PASSWORD })).json();
    const session = { Authorization: `Bearer ${((await signIn()) as { token: string }).token}` };
    const enrolled = await post("users/me/two-factor", { password: PASSWORD }, session);
    const { secret } = (await enrolled.json()) as { secret: string };
    const now = Date.now() / 1000;
    const showCode = (seconds: number) => generateSync({ secret, epoch: Math.floor(now + seconds) });
    expect((await post("users/me/two-factor/confirm", { code: showCode(0) }, session)).status).toBe(204);
    const { challenge } = (await signIn()) as { challenge: string };
    // The code of the next step, because the current one was used.
    expect((await post("auth/login/two-factor", { challenge, code: showCode(30) })).status).toBe(200);
    expect(JSON.stringify(server.log())).not.toContain(token);
    const rows = await server.query("SELECT * FROM mails");
    expect(rows).toMatchObject([
      { state: "sent", sealed_values: null },
      { state: "sent" },
      { template: "two_factor_changed" },
    ]);
    expect(JSON.stringify(rows)).not.toContain(token);
  },
  PATIENCE_MS,
);

test.skipIf(IS_BUNDLED_PASS)(
  "a notification and its mail survive kill -9, and the mail arrives once",
  async () => {
    let isHanging = false;
    const connected = Promise.withResolvers<void>();
    await using smtp = await startSmtpReceiver({
      onMailFrom: (_address, _session, done) => {
        if (isHanging) connected.resolve();
        else done();
      },
    });
    await using hook = receiver();
    hook.answer(410);
    await using server = await startServer({ ...BUNDLED, SMTP_URL: smtp.url, WEBHOOKS_ALLOW_LOOPBACK: "true" });
    const user = await server.user();
    expect((await smtp.mailTo(EMAIL)).subject).toBe("An API key was created");
    isHanging = true;
    const json = { url: hook.url, event_types: ["asset.ready"] };
    const { id } = await user.must<{ id: string }>("POST", "/v1/webhook-endpoints", { json });
    await user.must("POST", `/v1/webhook-endpoints/${id}/test`);
    await connected.promise;
    await server.kill();
    isHanging = false;
    await server.start();
    expect((await smtp.mailTo(EMAIL, 1)).subject).toBe(
      `The webhook endpoint at ${new URL(hook.url).host} was disabled`,
    );
    await until("the record of it", () => server.log().find(({ event }) => event === "mail.sent"));
    await server.kill();
    await server.start();
    expect(await user.must<object>("GET", "/api/v1/notifications")).toMatchObject({
      items: [{ type: "webhook_disabled", payload: { endpoint_id: id } }],
      unread_count: 1,
    });
    await server.kill();
    expect(smtp.mails).toHaveLength(2);
    expect(await server.query("SELECT mail_state FROM notifications")).toEqual([{ mail_state: "queued" }]);
    expect(await server.query("SELECT state FROM mails")).toEqual([{ state: "sent" }, { state: "sent" }]);
  },
  PATIENCE_MS,
);
