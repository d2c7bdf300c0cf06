/**
 * The compiled server: set-up and sign-in with curl and its cookie file, and with a real browser on the pages that it
 * serves.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { launchChromium } from "../chromium";
import { IS_BUNDLED_PASS, runOffcut } from "./offcut";
import { BUNDLED, type Server, startServer } from "./server";

const PATIENCE_MS = 90_000;
const EMAIL = "ada@studio.example";
const PASSWORD = "staple horse correct";

type Answer = { status: number; body: Record<string, unknown> };

/** Calls with curl, which keeps its cookies in a file as a browser would. */
async function curl(server: Server, method: string, path: string, json?: unknown, ...more: string[]): Promise<Answer> {
  const jar = join(server.folder, "cookies.txt");
  const body = json === undefined ? [] : ["-H", "Content-Type: application/json", "-d", JSON.stringify(json)];
  const args = ["-sS", "-X", method, "-c", jar, "-b", jar, "-w", "\n%{http_code}", ...body, ...more];
  const child = Bun.spawn(["curl", ...args, `${server.url()}${path}`], { stdout: "pipe", stderr: "pipe" });
  const [text, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`curl: ${error}`);
  const end = text.lastIndexOf("\n");
  const content = text.slice(0, end);
  return { status: Number(text.slice(end + 1)), body: content === "" ? {} : JSON.parse(content) };
}

test.skipIf(IS_BUNDLED_PASS)(
  "curl and a browser sign in",
  async () => {
    await using server = await startServer(BUNDLED);
    const url = (await runOffcut(["setup-url"], { folder: server.folder })).stdout.trim();
    const token = url.split("#")[1];

    // curl: set-up, the cookie, a write with it, sign-out, sign-in, the token in the header.
    const created = await curl(server, "POST", "/api/v1/auth/setup", { token, email: EMAIL, password: PASSWORD });
    expect(created).toMatchObject({ status: 201, body: { user: { email: EMAIL } } });
    expect(await curl(server, "GET", "/api/v1/users/me")).toMatchObject({ status: 200, body: { email: EMAIL } });
    expect(await curl(server, "POST", "/api/v1/projects", { name: "P" })).toMatchObject({ status: 403 });
    const origin = ["-H", `Origin: ${server.url()}`];
    expect(await curl(server, "POST", "/api/v1/projects", { name: "P" }, ...origin)).toMatchObject({ status: 201 });
    expect((await curl(server, "POST", "/api/v1/auth/logout", undefined, ...origin)).status).toBe(204);
    expect((await curl(server, "GET", "/api/v1/users/me")).status).toBe(401);
    // A session revoked by logout is not accepted in the header either.
    const bearer = ["-H", `Authorization: Bearer ${created.body.token}`];
    expect((await curl(server, "GET", "/api/v1/users/me", undefined, ...bearer)).status).toBe(401);
    const login = { email: EMAIL, password: PASSWORD };
    expect((await curl(server, "POST", "/api/v1/auth/login", { ...login, password: "wrong" })).status).toBe(401);
    const signedIn = await curl(server, "POST", "/api/v1/auth/login", login);
    const header = ["-H", `Authorization: Bearer ${signedIn.body.token}`];
    const key = await curl(server, "POST", "/api-keys", { name: "curl" }, ...header);
    expect([key.status, String(key.body.key).slice(0, 3)]).toEqual([201, "sk_"]);
    const api = ["-H", `Authorization: Bearer ${key.body.key}`];
    expect((await curl(server, "GET", "/v1/projects", undefined, ...api)).status).toBe(200);

    // Chromium on the page of the executable.
    await using browser = await launchChromium();
    const page = await browser.newPage();
    await page.goto(`${server.url()}/sign-in`);
    await page.fill("[name=email]", EMAIL);
    await page.fill("[name=password]", PASSWORD);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${server.url()}/`);
    const email = await page.evaluate(
      async () => ((await (await fetch("/api/v1/users/me")).json()) as { email: string }).email,
    );
    expect(email).toBe(EMAIL);
    const cookies = await page.context().cookies();
    expect(cookies).toMatchObject([{ name: "service_session", httpOnly: true, sameSite: "Lax" }]);

    const log = JSON.stringify(server.log());
    for (const secret of [PASSWORD, token!, signedIn.body.token, key.body.key])
      expect(log).not.toContain(String(secret));
  },
  PATIENCE_MS,
);
