/** The pages for signing in and for the links in mails: one HTML page, whose script shows what its path asks for. */
import { Elysia } from "elysia";
import api from "../../web/account/api.js" with { type: "text" };
import device from "../../web/account/device.js" with { type: "text" };
import form from "../../web/account/form.js" with { type: "text" };
import main from "../../web/account/main.js" with { type: "text" };
import navigation from "../../web/account/navigation.js" with { type: "text" };
import pages from "../../web/account/pages.js" with { type: "text" };
import style from "../../web/account.css" with { type: "text" };
import page from "../../web/account.html" with { type: "text" };
import { toPageResponse } from "./pages";

const SCRIPTS: Record<string, string> = { api, device, form, main, navigation, pages };

/** The paths of the pages. `web/account/pages.js` has a function for each. */
export const ACCOUNT_PATHS = [
  "/setup",
  "/sign-in",
  "/sign-up",
  "/forgot-password",
  "/reset-password",
  "/verify-email",
  "/invitation",
  "/oauth/device",
] as const;

export function createAccountPagesPlugin() {
  const plugin = new Elysia({ name: "account-pages" });
  plugin.get("/account.css", () => toPageResponse("css", style));
  for (const [name, script] of Object.entries(SCRIPTS))
    plugin.get(`/account/${name}.js`, () => toPageResponse("javascript", script));
  for (const path of ACCOUNT_PATHS) plugin.get(path, () => toPageResponse("html", page as unknown as string));
  return plugin;
}
