import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { listMaskedSettings } from "../../../src/cli/masked-settings";
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
