/**
 * Links that work without an API key for a limited time. Download links are
 * `/files/{kind}/{id}/{what}?expires=…&signature=…`, upload links get the same query. The signature covers the rest of
 * the link. Whether the resource still exists is checked on use.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * The target of a link. `shares` are links to renders for other people, which last longer and have a row each. `what`
 * is `source`, `output`, `page`, `captions`, `poster`, `filmstrip`, `preview`, `waveform`, `transcript` or `archive`.
 */
export type LinkTarget = { kind: "assets" | "renders" | "exports" | "shares"; id: string; what: string };

type LockedShare = { id: string; passwordHash: string };

export type LinkProblem = "malformed" | "expired" | "wrong_signature";

export const LINK_SECONDS = 15 * 60;

/** Creates links below `publicUrl` that are signed with `secret`. */
export function createSignedLinks(secret: string, publicUrl: () => string) {
  const computeHmac = (text: string) => createHmac("sha256", secret).update(text).digest("base64url");
  const computeSignature = (t: LinkTarget, expires: string) =>
    computeHmac(`link\0${t.kind}\0${t.id}\0${t.what}\0${expires}`);
  const computeUploadSignature = (id: string, expires: string) => computeHmac(`upload\0${id}\0${expires}`);
  const computeExecutionSignature = (id: string) => computeHmac(`execution\0${id}`);
  const computeShareAccess = ({ id, passwordHash }: LockedShare) => computeHmac(`share\0${id}\0${passwordHash}`);
  const findProblem = (
    computed: (expires: string) => string,
    expires: string | null,
    given: string | null,
    now: number,
  ): LinkProblem | null => {
    if (!expires || !given || !/^\d{1,12}$/.test(expires)) return "malformed";
    if (!isEqual(computed(expires), given)) return "wrong_signature";
    return Number(expires) * 1000 < now ? "expired" : null;
  };
  const signUntil = (target: LinkTarget, expiresSeconds: number) => {
    const expires = String(expiresSeconds);
    const query = new URLSearchParams({ expires, signature: computeSignature(target, expires) });
    return `${publicUrl()}/files/${target.kind}/${target.id}/${target.what}?${query}`;
  };
  return {
    /** Returns a link that expires after `LINK_SECONDS`. */
    sign: (target: LinkTarget, now: number) => signUntil(target, Math.floor(now / 1000) + LINK_SECONDS),
    /** Returns the link of a share that works until `expiresAt`, in milliseconds since 1970. */
    signShare: (id: string, expiresAt: number, what: "output" | "page" | "captions" = "output") =>
      signUntil({ kind: "shares", id, what }, Math.floor(expiresAt / 1000)),
    /** Returns the proof that a browser has entered the password of a share. */
    signShareAccess: (share: LockedShare) => computeShareAccess(share),
    verifyShareAccess: (share: LockedShare, proof: string) => isEqual(computeShareAccess(share), proof),
    /** Returns the problem of a link; null if its signature is valid and it has not expired. */
    findProblem: (target: LinkTarget, expires: string | null, signature: string | null, now: number) =>
      findProblem((at) => computeSignature(target, at), expires, signature, now),
    /**
     * Returns the query of a link that accepts the file of this upload until `expiresAt`, in milliseconds since 1970.
     */
    signUpload: (id: string, expiresAt: number) => {
      const expires = String(Math.floor(expiresAt / 1000));
      return String(new URLSearchParams({ expires, signature: computeUploadSignature(id, expires) }));
    },
    /** Returns the problem of an upload link's query. See `findProblem`. */
    findUploadProblem: (id: string, expires: string | null, signature: string | null, now: number) =>
      findProblem((at) => computeUploadSignature(id, at), expires, signature, now),
    /** Returns the link of an execution on a worker. It is valid while the execution exists. */
    signExecution: (id: string) => {
      const query = new URLSearchParams({ signature: computeExecutionSignature(id) });
      return `${publicUrl()}/workers/executions/${id}?${query}`;
    },
    verifyExecution: (id: string, signature: string | null) =>
      signature !== null && isEqual(computeExecutionSignature(id), signature),
  };
}

export type SignedLinks = ReturnType<typeof createSignedLinks>;

function isEqual(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
