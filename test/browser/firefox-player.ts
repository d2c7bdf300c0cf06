/** Firefox with a script in place of the application's. */
import type { DrivenPage } from "./clean-audio-check";

const HOST = "studio.test";
export const FIREFOX = Bun.which("firefox-esr") ?? Bun.which("firefox");

type OpenFirefox = AsyncDisposable & { page: DrivenPage };

/** Starts Firefox with a session. Playback needs no click. */
export async function openFirefoxPlayer(script: string, cookie: string): Promise<OpenFirefox> {
  const { default: puppeteer } = await import("puppeteer-core");
  const browser = await puppeteer.launch({
    browser: "firefox",
    executablePath: FIREFOX ?? "firefox",
    extraPrefsFirefox: { "network.dns.localDomains": HOST, "media.autoplay.default": 0 },
  });
  await browser.setCookie({ name: "service_session", value: cookie, domain: HOST, path: "/", httpOnly: true });
  const page = await browser.newPage();
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    if (/\/app\/main-[^/]*\.js$/.test(request.url()))
      void request.respond({ status: 200, contentType: "text/javascript", body: script });
    else void request.continue();
  });
  return { page: page as unknown as DrivenPage, [Symbol.asyncDispose]: () => browser.close() };
}
