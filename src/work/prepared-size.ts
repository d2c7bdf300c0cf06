/** What preparations occupy: measured when they end, and removed when they have failed. */
import { readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { MediaFolder } from "../blobs/folders";
import { listNames, moveToTrash } from "../blobs/trash";
import { listUnmeasuredAssets, updateAsset } from "../store/assets";
import type { Services } from "./services";

/** Returns the bytes of everything in the asset's folder but its source. */
export async function measureDerivatives(folder: MediaFolder): Promise<number> {
  const names = await listDerivatives(folder);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder.dir, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

const listDerivatives = async ({ dir, source }: MediaFolder): Promise<string[]> =>
  (await listNames(dir)).filter((name) => name !== basename(source));

/** Removes what a killed process left half written in a folder; whole files stay. */
export async function removePartFiles(dir: string): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  for (const name of names) if (/\.part(\.|$)/.test(name)) await rm(join(dir, name), { force: true });
}

/** Removes what the preparation of a failed asset has made; the source stays until the asset is deleted. */
export async function discardDerivatives(services: Services, assetId: string): Promise<void> {
  const folder = services.folders.media(assetId);
  const names = await listDerivatives(folder);
  await moveToTrash(
    services.folders,
    names.map((name) => join(folder.dir, name)),
  );
  await services.store.write((tx) => updateAsset(tx, assetId, { derived_bytes: 0 }));
}

/** Assets looked at between two pauses. */
const MAX_PAGE_ASSETS = 100;

/**
 * Once after the start: measures assets that an older version has prepared, and removes what a crash has left of failed ones. Runs beside
 * everything else.
 */
export async function reconcileDerivatives(services: Services): Promise<void> {
  for (let after = ""; ; ) {
    const page = await listUnmeasuredAssets(services.store.read, after, MAX_PAGE_ASSETS);
    for (const { id, state } of page) {
      if (state === "failed") await discardDerivatives(services, id);
      else {
        const bytes = await measureDerivatives(services.folders.media(id));
        await services.store.write((tx) => updateAsset(tx, id, { derived_bytes: bytes }));
      }
    }
    const last = page.at(-1);
    if (!last) return;
    after = last.id;
  }
}
