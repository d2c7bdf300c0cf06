/**
 * Download links that work without an API key for a short time: `/files/{kind}/{id}/{what}?expires=…&signature=…`. The signature covers the
 * rest of the link. Whether the file still exists is checked on download.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** What a link points to. `what`: `source`, `output`, `poster`, `filmstrip`, `preview`, `waveform`, `transcript`. */
export type LinkTarget = { kind: "assets" | "renders"; id: string; what: string };

export type SignedLinks = {
  /** Returns a link that expires after `LINK_SECONDS`. */
  sign(target: LinkTarget, now: number): string;
  /** Returns whether the signature is valid and the link has not expired. */
  verify(target: LinkTarget, expires: string | null, signature: string | null, now: number): boolean;
};

export const LINK_SECONDS = 15 * 60;

/** Returns links below `publicUrl` that are signed with `secret`. */
export function createSignedLinks(secret: string, publicUrl: () => string): SignedLinks {
  const computeSignature = (t: LinkTarget, expires: string) =>
    createHmac("sha256", secret).update(`link\0${t.kind}\0${t.id}\0${t.what}\0${expires}`).digest("base64url");
  return {
    sign: (target, now) => {
      const expires = String(Math.floor(now / 1000) + LINK_SECONDS);
      const query = new URLSearchParams({ expires, signature: computeSignature(target, expires) });
      return `${publicUrl()}/files/${target.kind}/${target.id}/${target.what}?${query}`;
    },
    verify: (target, expires, signature, now) => {
      if (!expires || !signature || !/^\d{1,12}$/.test(expires) || Number(expires) * 1000 < now) return false;
      const expected = Buffer.from(computeSignature(target, expires));
      const given = Buffer.from(signature);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}
