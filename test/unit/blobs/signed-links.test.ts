import { describe, expect, test } from "bun:test";
import { createSignedLinks, LINK_SECONDS, type LinkProblem, type LinkTarget } from "../../../src/blobs/signed-links";

const NOW = 1_700_000_000_500;
const target: LinkTarget = { kind: "assets", id: "0193", what: "source" };
const links = createSignedLinks("secret", () => "http://offcut.test:4700");

const parts = (link: string) => {
  const url = new URL(link);
  return { url, expires: url.searchParams.get("expires"), signature: url.searchParams.get("signature") };
};

test("a link is below the public URL and names its target", () => {
  const { url } = parts(links.sign(target, NOW));
  expect(url.origin).toBe("http://offcut.test:4700");
  expect(url.pathname).toBe("/files/assets/0193/source");
});

describe("a link", () => {
  const { expires, signature } = parts(links.sign(target, NOW));
  const end = Number(expires) * 1000;

  test("is valid until it expires", () => {
    expect(end).toBe(Math.floor(NOW / 1000) * 1000 + LINK_SECONDS * 1000);
    expect(links.findProblem(target, expires, signature, NOW)).toBeNull();
    expect(links.findProblem(target, expires, signature, end)).toBeNull();
    expect(links.findProblem(target, expires, signature, end + 1)).toBe("expired");
  });

  test.each<[string, LinkTarget, string | null, string | null, LinkProblem]>([
    ["another ID", { ...target, id: "0194" }, expires, signature, "wrong_signature"],
    ["another part", { ...target, what: "poster" }, expires, signature, "wrong_signature"],
    ["another kind", { ...target, kind: "renders" }, expires, signature, "wrong_signature"],
    ["a later expiry", target, String(Number(expires) + 1), signature, "wrong_signature"],
    ["an expiry that is not a number", target, "soon", signature, "malformed"],
    ["an expiry with an exponent", target, "9e99", signature, "malformed"],
    ["an expiry with a sign", target, `+${expires}`, signature, "malformed"],
    ["no expiry", target, null, signature, "malformed"],
    ["no signature", target, expires, null, "malformed"],
    ["an empty signature", target, expires, "", "malformed"],
    ["a truncated signature", target, expires, signature!.slice(0, 20), "wrong_signature"],
    [
      "a signature of another server",
      target,
      expires,
      parts(createSignedLinks("other", () => "http://x").sign(target, NOW)).signature,
      "wrong_signature",
    ],
  ])("is refused with %s", (_, changed, at, mark, problem) => {
    expect(links.findProblem(changed, at, mark, NOW)).toBe(problem);
  });
});

describe("a share link", () => {
  const expiresAt = Math.floor(NOW / 1000) * 1000 + 86_400_000;
  const { url, expires, signature } = parts(links.signShare("0193", expiresAt));
  const shared: LinkTarget = { kind: "shares", id: "0193", what: "output" };

  test("lasts as long as it was made for", () => {
    expect(url.pathname).toBe("/files/shares/0193/output");
    expect(links.findProblem(shared, expires, signature, expiresAt)).toBeNull();
    expect(links.findProblem(shared, expires, signature, expiresAt + 1)).toBe("expired");
  });

  test("is no download link", () => {
    expect(links.findProblem({ ...shared, kind: "renders" }, expires, signature, NOW)).toBe("wrong_signature");
  });
});
