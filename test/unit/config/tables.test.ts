import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { listMaskedSettings } from "../../../src/cli/settings";
import { type Config, ConfigError, loadConfig } from "../../../src/config";
import { temporaryFolder } from "../../temporary-folder";

async function load(toml: string, env: Record<string, string> = {}): Promise<Config> {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "offcut.toml");
  await Bun.write(file, toml);
  return await loadConfig({ env, flags: { config: file } });
}

const STUDIO = `[[oidc]]
name = "Studio"
issuer = "https://login.example.com"
client_id = "offcut"
client_secret = "s3cret"
scopes = ["openid", "groups"]
groups_claim = "groups"
admin_group = "editors"
create_accounts = true
`;
const studio = {
  name: "Studio",
  issuer: "https://login.example.com",
  clientId: "offcut",
  clientSecret: "s3cret",
  scopes: ["openid", "groups"],
  groupsClaim: "groups",
  adminGroup: "editors",
  createAccounts: true,
};

describe("arrays of tables", () => {
  test("without any there are none", async () => {
    expect((await load("")).oidc).toEqual([]);
  });

  test("the file lists tables; missing keys have defaults", async () => {
    const second = '[[oidc]]\nname = "Guests"\nissuer = "http://10.0.0.5:8080/"\nclient_id = "guests"\n';
    expect((await load(STUDIO + second)).oidc).toEqual([
      studio,
      {
        name: "Guests",
        issuer: "http://10.0.0.5:8080",
        clientId: "guests",
        clientSecret: null,
        scopes: ["openid", "email", "profile"],
        groupsClaim: null,
        adminGroup: null,
        createAccounts: false,
      },
    ]);
  });

  test("environment variables set one table, which replaces those of the file", async () => {
    const env = {
      OFFCUT_OIDC_ISSUER: "https://id.example.org",
      OFFCUT_OIDC_CLIENT_ID: "x",
      OFFCUT_OIDC_SCOPES: "openid, email",
    };
    const { oidc } = await load(STUDIO, env);
    expect(oidc).toHaveLength(1);
    expect(oidc[0]).toMatchObject({ name: "oidc", issuer: "https://id.example.org", scopes: ["openid", "email"] });
  });

  const table = (lines: string) => `[[oidc]]\nname = "a"\nissuer = "https://a.example"\nclient_id = "a"\n${lines}\n`;
  const rows: [name: string, toml: string, env: Record<string, string>, message: string][] = [
    ["an unknown key", table('isuer = "x"'), {}, 'oidc[0]: unknown key "isuer"'],
    ["a key of Object", table("constructor = 1"), {}, 'oidc[0]: unknown key "constructor"'],
    ["a missing key", '[[oidc]]\nname = "a"\nclient_id = "a"', {}, "oidc[0]: issuer is missing"],
    ["a wrong type", table("groups_claim = 5"), {}, "oidc[0].groups_claim must be a non-empty string"],
    [
      "an issuer that is no URL",
      '[[oidc]]\nissuer = "a"\nclient_id = "a"',
      {},
      "oidc[0].issuer must be an http or https URL",
    ],
    ["a name twice", table("") + table(""), {}, 'oidc[1].name "a" is used twice'],
    ["a single table", '[oidc]\nname = "a"', {}, "oidc must be written as [[oidc]]"],
    ["a value", "oidc = 5", {}, "oidc must be written as [[oidc]]"],
    ["an incomplete environment", "", { OFFCUT_OIDC_CLIENT_ID: "a" }, "OFFCUT_OIDC_*: oidc[0]: issuer is missing"],
    ["an unknown variable", "", { OFFCUT_OIDC_PROT: "a" }, 'OFFCUT_OIDC_PROT: unknown setting "oidc_prot"'],
    ["a variable for the array", "", { OFFCUT_OIDC: "a" }, "OFFCUT_OIDC: set OFFCUT_OIDC_… for one oidc"],
  ];
  test.each(rows)("%s stops the start", async (_, toml, env, message) => {
    const error = await load(toml, env).then(
      () => null,
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as Error).message).toContain(message);
    expect((error as Error).message).not.toContain("\n");
  });

  test("secrets in tables are masked", async () => {
    const shown = listMaskedSettings(await load(STUDIO)).find(({ key }) => key === "oidc");
    expect(shown?.value).toEqual([
      {
        name: "Studio",
        issuer: "https://login.example.com",
        client_id: "offcut",
        client_secret: "***",
        scopes: ["openid", "groups"],
        groups_claim: "groups",
        admin_group: "editors",
        create_accounts: true,
      },
    ]);
  });
});

const PACK = `[[price]]
id = "pack"
name = "600 credits"
kind = "pack"
credits = 600
amount = 1200
currency = "EUR"
`;
const KEYS = { OFFCUT_STRIPE_SECRET_KEY: "sk_test_4242", OFFCUT_STRIPE_WEBHOOK_SECRET: "whsec_4242" };

describe("prices", () => {
  test("are read from the file; missing keys have defaults", async () => {
    const subscription = PACK.replace('id = "pack"', 'id = "studio"').replace('"pack"', '"subscription"');
    const { price } = await load(
      `${PACK}${subscription}interval = "month"\nstripe_price = "price_1"\nactive = false\n`,
    );
    expect(price).toEqual([
      {
        id: "pack",
        name: "600 credits",
        kind: "pack",
        credits: 600,
        amount: 1200,
        currency: "eur",
        interval: null,
        stripePrice: null,
        active: true,
      },
      expect.objectContaining({ kind: "subscription", interval: "month", stripePrice: "price_1", active: false }),
    ]);
  });

  const change = (from: string, to: string) => PACK.replace(from, to);
  const rows: [name: string, toml: string, env: Record<string, string>, message: string][] = [
    ["an ID twice", PACK + PACK, {}, 'price[1].id "pack" is used twice'],
    ["an empty ID", change('"pack"', '""'), {}, "price[0].id must be a non-empty string"],
    ["a long ID", change('"pack"', `"${"x".repeat(121)}"`), {}, "price[0].id must have at most 120 characters"],
    [
      "an unknown kind",
      change('kind = "pack"', 'kind = "gift"'),
      {},
      "price[0].kind must be one of pack, subscription",
    ],
    ["no credits", change("600\n", "0\n"), {}, "price[0].credits must be an integer from 1"],
    ["a fraction", change("1200", "12.5"), {}, "price[0].amount must be an integer from 0"],
    ["an unknown currency", change("EUR", "euro"), {}, "price[0].currency must be an ISO 4217 code"],
    ["a missing currency", change('currency = "EUR"', ""), {}, "price[0]: currency is missing"],
    ["a pack with an interval", `${PACK}interval = "month"`, {}, 'price "pack": interval is only for'],
    ["an unknown interval", `${PACK}interval = "week"`, {}, "price[0].interval must be one of month, year"],
    [
      "a subscription without one",
      change('kind = "pack"', 'kind = "subscription"'),
      {},
      'price "pack": a subscription needs',
    ],
    ["no stripe_price with Stripe", PACK, KEYS, 'price "pack": stripe_price is missing'],
    ["half of the keys", "", { OFFCUT_STRIPE_SECRET_KEY: "sk_test_4242" }, "must be set together"],
    ["the other half", "", { OFFCUT_STRIPE_WEBHOOK_SECRET: "whsec_4242" }, "must be set together"],
    [
      "a Stripe address with a path",
      "",
      { OFFCUT_STRIPE_URL: "http://127.0.0.1/v1" },
      "stripe_url must be an http or https URL without a path",
    ],
  ];
  test.each(rows)("%s stops the start", async (_, toml, env, message) => {
    const error = await load(toml, env).then(
      () => null,
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as Error).message).toContain(message);
    expect((error as Error).message).not.toMatch(/\n|4242/);
  });

  test("environment variables set one price; the secrets of Stripe are masked", async () => {
    const price = { ID: "a", NAME: "A", KIND: "pack", CREDITS: "5", AMOUNT: "100", CURRENCY: "usd", STRIPE_PRICE: "p" };
    const env = Object.fromEntries(Object.entries(price).map(([key, value]) => [`OFFCUT_PRICE_${key}`, value]));
    const config = await load(PACK, { ...env, ...KEYS });
    expect(config.price).toMatchObject([{ id: "a", credits: 5, amount: 100 }]);
    const shown = listMaskedSettings(config).filter(({ key }) => key.startsWith("stripe_"));
    expect(shown.map(({ key, value }) => [key, value])).toEqual([
      ["stripe_secret_key", "***"],
      ["stripe_webhook_secret", "***"],
      ["stripe_url", null],
    ]);
  });
});
