/** Attacks on the sign-in at OpenID Connect providers. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { PATIENCE_MS } from "./harness";
import {
  createBrowser,
  goTo,
  refusal,
  START,
  start,
  startProviders,
  startUrl,
  stopProviders,
  studio,
} from "./oidc-providers";

setDefaultTimeout(PATIENCE_MS);
beforeAll(startProviders);
afterAll(stopProviders);

describe("attacks are refused, without a session:", () => {
  test.each(["https://evil.example/", "//evil.example", "/\\evil.example", "/\t/evil.example", "projects", "/a\nb"])(
    "redirect to %j",
    async (redirect) => {
      expect(refusal(await createBrowser().open(startUrl("Studio", redirect)))).toBe("422 query.redirect");
    },
  );

  test("an unknown provider, none of several, and unknown parameters", async () => {
    const browser = createBrowser();
    expect(refusal(await browser.open(startUrl("Evil")))).toBe("422 query.provider");
    expect(refusal(await browser.open(START))).toBe("422 query.provider");
    expect(refusal(await browser.open(`${startUrl()}&issuer=https://evil.example`))).toBe("422 query.issuer");
  });

  test("a callback that is opened again", async () => {
    const browser = createBrowser();
    const callback = await goTo(browser, "ada");
    const [first, second] = await Promise.all([browser.open(callback), browser.open(callback)]);
    expect([first.status, second.status].sort()).toEqual([303, 400]);
    expect(refusal(await browser.open(callback))).toBe("400 bad_request");
  });

  test("somebody else's callback, in a browser with and without a sign-in of its own; it still works in the right one", async () => {
    const [mallory, victim] = [createBrowser(), createBrowser()];
    const callback = await goTo(mallory, "ada");
    expect(refusal(await victim.open(callback))).toBe("400 bad_request");
    await goTo(victim, "ada");
    expect(refusal(await victim.open(callback))).toBe("400 bad_request");
    expect((await mallory.open(callback)).status).toBe(303);
  });

  test("a code with the state of another sign-in of the same browser", async () => {
    const browser = createBrowser();
    const [first, second] = [new URL(await goTo(browser, "ada")), new URL(await goTo(browser, "ada"))];
    first.searchParams.set("state", second.searchParams.get("state")!);
    expect(refusal(await browser.open(first.href))).toBe("400 bad_request");
  });

  test("a code of one provider for another", async () => {
    const browser = createBrowser();
    const atGuests = new URL(await goTo(browser, "nora", "Guests"));
    const atStudio = new URL(await goTo(browser, "ada"));
    atStudio.searchParams.set("code", atGuests.searchParams.get("code")!);
    expect(refusal(await browser.open(atStudio.href))).toBe("400 bad_request");
    atGuests.searchParams.set("iss", studio.issuer);
    expect(refusal(await browser.open(atGuests.href))).toBe("400 bad_request");
  });

  test.each([
    ["no state", (url: URL) => url.searchParams.delete("state")],
    ["another state", (url: URL) => url.searchParams.set("state", "x".repeat(43))],
    ["no code", (url: URL) => url.searchParams.delete("code")],
    ["another code", (url: URL) => url.searchParams.set("code", "x")],
    ["another issuer", (url: URL) => url.searchParams.set("iss", "https://evil.example")],
    ["a user who denied", (url: URL) => url.searchParams.set("error", "access_denied")],
  ])("a callback with %s", async (_, change) => {
    const browser = createBrowser();
    const url = new URL(await goTo(browser, "ada"));
    change(url);
    expect(refusal(await browser.open(url.href))).toBe("400 bad_request");
  });

  test("a sign-in that took longer than 10 minutes", async () => {
    await using own = await start();
    const browser = createBrowser(own);
    const callback = await goTo(browser, "ada");
    own.advance(601_000);
    expect(refusal(await browser.open(callback))).toBe("400 bad_request");
  });

  test("200 starts from one address within 15 minutes", async () => {
    await using own = await start();
    const browser = createBrowser(own);
    const pages = await Promise.all(Array.from({ length: 201 }, () => browser.open(startUrl())));
    expect(pages.filter(({ status }) => status === 302)).toHaveLength(200);
    expect(pages.filter(({ status }) => status === 429)).toHaveLength(1);
  });
});
