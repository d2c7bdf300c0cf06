/** Data exports, as clients request and read them. */
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { until } from "../until";
import { readZip } from "../zip";
import type { Client, Reply } from "./client";
import type { Harness } from "./harness";

const DEADLINE_SECONDS = 20;

export type ExportPayload = {
  status: "pending" | "ready" | "failed" | "expired";
  requested_at: string;
  has_media: boolean;
  finished_at: string | null;
  expires_at: string | null;
  size_bytes: number | null;
  error_message: string | null;
  download_url: string | null;
};
export type ExportNotification = { id: string; type: string; read_at: string | null; payload: ExportPayload };

export const requestExport = (client: Client, query = ""): Promise<Reply<ExportNotification>> =>
  client.call<ExportNotification>("POST", `/api/v1/users/me/export${query}`);

/** Returns a notification of the client's; throws if it is not among the newest. */
export async function readNotification(client: Client, id: string): Promise<ExportNotification> {
  const { items } = await client.must<{ items: ExportNotification[] }>("GET", "/api/v1/notifications?limit=100");
  const found = items.find((item) => item.id === id);
  if (!found) throw new Error(`no notification ${id}`);
  return found;
}

/** Waits until an export has this status. */
export const exportIs = (
  client: Client,
  id: string,
  status: ExportPayload["status"],
  deadlineSeconds = DEADLINE_SECONDS,
): Promise<ExportPayload> =>
  until(
    `export ${status}`,
    async () => {
      const { payload } = await readNotification(client, id);
      return payload.status === status && payload;
    },
    deadlineSeconds,
  );

/** Exports everything of the client and waits for the archive. */
export async function exportData(client: Client, query = ""): Promise<ExportPayload & { download_url: string }> {
  const { status, body } = await requestExport(client, query);
  if (status !== 202) throw new Error(`export: ${status} ${JSON.stringify(body)}`);
  return (await exportIs(client, body.id, "ready")) as ExportPayload & { download_url: string };
}

/** Downloads an archive into a folder, and reads its texts. */
export async function downloadArchive(url: string, folder: string) {
  const path = join(folder, `${crypto.randomUUID()}.zip`);
  await Bun.write(path, await fetch(url));
  const { entries, texts } = await readZip(path, (name) => !name.startsWith("media/"));
  return { path, names: entries.map((entry) => entry.fileName), entries, texts };
}

/** Returns the rows of a file of an archive. */
export function rowsOf<Row = Record<string, unknown>>(texts: Map<string, string>, file: string): Row[] {
  const text = texts.get(file);
  if (text === undefined) throw new Error(`${file} is missing`);
  return JSON.parse(text) as Row[];
}

/** Lists the IDs of a user's exports, oldest first. */
export const listExportIds = async (server: Harness, { userId }: Pick<Client, "userId">): Promise<string[]> =>
  (
    await server
      .services()
      .store.read.all<{ id: string }>(sql`SELECT id FROM data_exports WHERE user_id = ${userId} ORDER BY id`)
  ).map(({ id }) => id);
