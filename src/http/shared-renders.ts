/** The render of a share link, and whether a browser has entered the link's password. */
import type { LinkTarget } from "../blobs/signed-links";
import { AppError } from "../domain/errors";
import { findRenderShareById, type RenderShare } from "../store/render-shares";
import { findRenderById, type Render } from "../store/renders";
import { findUserById } from "../store/users";
import { isWorkspaceDisabled } from "../store/workspaces";
import { requireWriter } from "../work/access/access";
import type { Services } from "../work/services";
import { formatCookie, readCookie } from "./dashboard/cookies";

export type SharedRender = { share: RenderShare; render: Render };

/**
 * Returns the render of a link; null if the link was revoked, its creator has lost write access, or the file is
 * missing.
 */
export async function findSharedRender({ store }: Services, shareId: string): Promise<SharedRender | null> {
  const share = await findRenderShareById(store.read, shareId);
  const user = share && (await findUserById(store.read, share.created_by));
  if (!share || !user) return null;
  try {
    await requireWriter(store.read, user, share.workspace_id);
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
  const render = await findRenderById(store.read, share.render_id);
  if (render?.state !== "completed" || (await isWorkspaceDisabled(store.read, render.workspace_id))) return null;
  return { share, render };
}

/** Returns why the signed link of a request does not work: it is invalid or has expired. Null if it works. */
export function findLinkProblem({ links, now }: Services, { url }: Request, target: LinkTarget) {
  const { searchParams } = new URL(url);
  return links.findProblem(target, searchParams.get("expires"), searchParams.get("signature"), now());
}

const COOKIE = "offcut_share";

/** Returns whether the request may have the file: the link has no password, or the browser has entered it. */
export function isUnlocked({ links }: Services, request: Request, { id, password_hash }: RenderShare): boolean {
  if (password_hash === null) return true;
  const given = readCookie(request.headers.get("cookie"), COOKIE);
  return given !== null && links.verifyShareAccess({ id, passwordHash: password_hash }, given);
}

/** Formats the cookie of a browser that has entered the password. It is sent with the requests of this link only. */
export const formatShareCookie = (
  { links, now }: Services,
  { id, expires_at }: RenderShare,
  passwordHash: string,
  isSecure: boolean,
): string =>
  formatCookie({
    name: COOKIE,
    value: links.signShareAccess({ id, passwordHash }),
    path: `/files/shares/${id}`,
    maxAgeSeconds: Math.max(0, Math.ceil((expires_at - now()) / 1000)),
    isSecure,
  });
