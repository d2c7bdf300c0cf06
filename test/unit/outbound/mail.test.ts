import { describe, expect, test } from "bun:test";
import type { SMTPServerOptions } from "smtp-server";
import type { Mail } from "../../../src/domain/mail";
import { createMailer } from "../../../src/outbound/mail";
import { renderMail } from "../../../src/work/mail/templates";
import { PAYLOADS } from "../../http/notification-samples";
import { startSmtpReceiver } from "../../smtp";

const NOW = 1_800_000_000_000;
const FROM = "offcut@studio.example";
const MAIL: Mail = { to: "anna@example.com", subject: "Hello", text: "Plain.\n", html: "<p>Rich.</p>\n" };

async function sendThrough(options: SMTPServerOptions, mail: Mail = MAIL) {
  await using receiver = await startSmtpReceiver(options);
  const mailer = createMailer({ url: receiver.url, from: () => FROM });
  const result = await mailer.send(mail);
  mailer.close();
  return { result, mails: receiver.mails };
}

const replyWith = (code: number, text: string) => Object.assign(new Error(text), { responseCode: code });

describe("sending mails", () => {
  test("a mail has a text part and an HTML part, and one recipient", async () => {
    const { result, mails } = await sendThrough({});
    expect(result).toEqual({ outcome: "sent" });
    expect(mails).toHaveLength(1);
    const [mail] = mails;
    expect(mail).toMatchObject({ subject: "Hello", envelopeTo: ["anna@example.com"], from: { address: FROM } });
    expect([mail!.text?.trim(), mail!.html?.trim()]).toEqual(["Plain.", "<p>Rich.</p>"]);
    expect(mail!.raw).toContain("Auto-Submitted: auto-generated");
  });

  const refusals: [name: string, options: SMTPServerOptions, outcome: string][] = [
    ["an unknown address", { onRcptTo: (_a, _s, done) => done(replyWith(550, "no such user")) }, "refused"],
    ["a full mailbox", { onRcptTo: (_a, _s, done) => done(replyWith(452, "mailbox full")) }, "failed"],
    ["greylisting", { onMailFrom: (_a, _s, done) => done(replyWith(451, "try later")) }, "failed"],
    [
      "a sender that is not allowed",
      { onMailFrom: (_a, _s, done) => done(replyWith(550, "not your address")) },
      "failed",
    ],
    ["missing credentials", { authOptional: false }, "failed"],
    ["a server that closes", { onConnect: (_s, done) => done(replyWith(421, "overloaded")) }, "failed"],
  ];
  test.each(refusals)("%s", async (_, options, outcome) => {
    const { result, mails } = await sendThrough(options);
    expect(result.outcome).toBe(outcome as typeof result.outcome);
    expect("detail" in result && result.detail.length).toBeGreaterThan(0);
    expect(mails).toEqual([]);
  });

  test("a server that does not listen", async () => {
    const receiver = await startSmtpReceiver();
    await receiver[Symbol.asyncDispose]();
    const mailer = createMailer({ url: receiver.url, from: () => FROM });
    expect(await mailer.send(MAIL)).toMatchObject({ outcome: "failed" });
    mailer.close();
  });

  test("a self-signed certificate is refused, unless the URL disables encryption", async () => {
    await using receiver = await startSmtpReceiver({ disabledCommands: [] });
    const strict = createMailer({ url: receiver.url, from: () => FROM });
    expect(await strict.send(MAIL)).toMatchObject({ outcome: "failed", detail: expect.stringMatching(/certificate/i) });
    strict.close();
    const plain = createMailer({ url: `${receiver.url}?ignoreTLS=true`, from: () => FROM });
    expect(await plain.send(MAIL)).toEqual({ outcome: "sent" });
    plain.close();
  });

  test("a check sends nothing", async () => {
    await using receiver = await startSmtpReceiver();
    const mailer = createMailer({ url: receiver.url, from: () => FROM });
    expect(await mailer.findProblem()).toBeNull();
    mailer.close();
    expect(receiver.mails).toEqual([]);
    await receiver[Symbol.asyncDispose]();
    expect(await createMailer({ url: receiver.url, from: () => FROM }).findProblem()).toContain("ECONNREFUSED");
  });

  test("an address at an IP address can be the sender", async () => {
    await using receiver = await startSmtpReceiver();
    const mailer = createMailer({ url: receiver.url, from: () => "noreply@[127.0.0.1]" });
    expect(await mailer.send(MAIL)).toEqual({ outcome: "sent" });
    mailer.close();
    expect(receiver.mails[0]!.from?.address).toBe("noreply@[127.0.0.1]");
  });

  test("user and password of the URL are used, and are in no error", async () => {
    const seen: unknown[] = [];
    await using receiver = await startSmtpReceiver({
      authOptional: false,
      allowInsecureAuth: true,
      authMethods: ["PLAIN"],
      onAuth: ({ username, password }, _s, done) => {
        seen.push({ username, password });
        if (password === "s3cret") done(null, { user: username });
        else done(replyWith(535, "wrong password"));
      },
    });
    const at = (credentials: string) => `smtp://${credentials}@127.0.0.1:${receiver.port}`;
    const right = createMailer({ url: at("mailer:s3cret"), from: () => FROM });
    expect(await right.send(MAIL)).toEqual({ outcome: "sent" });
    right.close();
    const wrong = createMailer({ url: at("mailer:wr0ng"), from: () => FROM });
    const result = await wrong.send(MAIL);
    wrong.close();
    expect(result.outcome).toBe("failed");
    expect(JSON.stringify(result)).not.toContain("wr0ng");
    expect(seen).toHaveLength(2);
  });
});

describe("text that a user typed stays text", () => {
  test("a name with a line break adds no header and no recipient", async () => {
    const values = {
      url: "https://cut.example/invitation#x",
      workspace: 'Cut"\r\nBcc: eve@example.com\r\n\r\nBuy now',
      invited_by: "Eve <script>alert(1)</script>",
      expires_at: NOW + 7 * 24 * 3600_000,
    };
    const { result, mails } = await sendThrough({}, renderMail("anna@example.com", "invitation", values, NOW)!);
    expect(result).toEqual({ outcome: "sent" });
    expect(mails[0]!.envelopeTo).toEqual(["anna@example.com"]);
    expect(mails[0]!.bcc ?? []).toEqual([]);
    expect(mails[0]!.raw.split("\r\n\r\n")[0]).not.toMatch(/^bcc:/im);
    expect(mails[0]!.html).not.toContain("<script>");
    expect(mails[0]!.html).toContain("&lt;script&gt;");
  });

  test("a list of addresses is one address, which no server accepts", async () => {
    const { mails } = await sendThrough({}, { ...MAIL, to: "anna@example.com, eve@example.com" });
    expect(mails.flatMap(({ envelopeTo }) => envelopeTo)).not.toContain("eve@example.com");
  });

  test("a name is not the text of the mail", () => {
    const values = { url: "https://cut.example/", workspace: null, invited_by: "x".repeat(10_000), expires_at: NOW };
    expect(renderMail("anna@example.com", "invitation", values, NOW)!.text.length).toBeLessThan(500);
  });
});

describe("templates", () => {
  test.each([
    [7 * 24 * 3600_000, "7 days"],
    [24 * 3600_000, "24 hours"],
    [3600_000, "60 minutes"],
    [3600_000 - 20 * 60_000, "40 minutes"],
    [10_000, "1 minute"],
  ])("a link that expires in %p ms", (ms, text) => {
    const mail = renderMail(
      "anna@example.com",
      "password_reset",
      { url: "https://cut.example/", expires_at: NOW + ms },
      NOW,
    );
    expect(mail!.text).toContain(`expires in ${text}.`);
    expect(mail!.html).toContain(`expires in ${text}.`);
  });

  test("a sign-in code is in both parts", () => {
    const mail = renderMail("anna@example.com", "sign_in_code", { code: "123456", expires_at: NOW }, NOW);
    expect(mail!.text).toContain("123456");
    expect(mail!.html).toContain("123456");
  });

  test("a template that does not exist", () => {
    expect(renderMail("anna@example.com", "toString", {}, NOW)).toBeNull();
  });
});

test("the days in a mail are unambiguous in every language", () => {
  const times = { requested_at: "2027-01-02T18:00:00.000Z", expires_at: "2027-01-31T23:59:00.000Z" };
  const item = { ...PAYLOADS.data_export_ready, ...times, status: "ready", error_message: null } as const;
  const values = { url: "https://cut.example", items: [item], total: 1 };
  const { text } = renderMail("anna@example.com", "data_export_ready", values, NOW)!;
  expect(text).toContain("Requested on 2 January 2027: ready, download it by 31 January 2027");
});
