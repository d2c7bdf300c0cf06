import { expect, test } from "bun:test";
import { sendWebhook } from "../../../src/outbound/webhook";
import { receiver } from "../../http/receiver";

const secret = `whsec_${Buffer.from("twenty-four bytes of key").toString("base64")}`;
const message = (url: string, timeoutMs = 5_000) => ({ url, id: "one", secrets: [secret], body: "{}", timeoutMs });
const loopback = { allowLoopback: true, allowPrivate: false };
const here = async () => [{ address: "127.0.0.1", family: 4 as const }];

test("a receiver that hangs times out", async () => {
  await using hook = receiver();
  hook.answer("hang");
  const outcome = await sendWebhook(message(hook.url, 100), loopback, new Date(), here);
  expect(outcome).toMatchObject({ ok: false, status: null, error: "no response in time" });
});

test("the connection goes to the checked address, with the host name of the URL", async () => {
  await using hook = receiver();
  const url = hook.url.replace("127.0.0.1", "hooks.example.test");
  expect(await sendWebhook(message(url), loopback, new Date(), here)).toMatchObject({ ok: true, status: 204 });
  expect(hook.received[0]!.headers.get("host")).toBe(new URL(url).host);
});

test("nothing is sent to a name that resolves to a forbidden address since it was registered", async () => {
  await using hook = receiver();
  const url = hook.url.replace("127.0.0.1", "hooks.example.test");
  const outcome = await sendWebhook(message(url), { allowLoopback: false, allowPrivate: false }, new Date(), here);
  expect(outcome).toMatchObject({ ok: false, status: null });
  expect(outcome.error).toContain("webhooks may not use");
  expect(hook.received).toEqual([]);
});

test("the message has the headers of Standard Webhooks and the exact body", async () => {
  await using hook = receiver();
  const now = new Date("2026-01-02T03:04:05.678Z");
  await sendWebhook({ ...message(hook.url), body: '{"type":"é"}' }, loopback, now, here);
  const [got] = hook.received;
  expect(got!.body).toBe('{"type":"é"}');
  expect(got!.headers.get("content-type")).toBe("application/json");
  expect(got!.headers.get("webhook-id")).toBe("one");
  expect(got!.headers.get("webhook-timestamp")).toBe("1767323045");
});
