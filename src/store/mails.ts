/** The queue of mails. */
import { and, eq, gt, inArray, isNull, lt, notInArray, sql } from "drizzle-orm";
import type { Queries } from "./db";
import { readValue, rowsOf } from "./rows";
import { mails } from "./schema-accounts";

const mailRows = rowsOf(mails);

export type StoredMail = typeof mails.$inferSelect;

export const insertMail = mailRows.add;

/** `turn` identifies the recipient, by user if the server knows one. */
export type DueMail = { id: string; template: string; turn: string };

const MAX_DUE_MAILS = 1_000;

/** Lists the first due mail of each recipient, longest due first. */
export const listDueMails = (db: Queries, now: number): Promise<DueMail[]> =>
  // With `min`, SQLite takes the other columns from the row with the minimum.
  db.all<DueMail & { due_at: number }>(sql`
    SELECT id, template, coalesce(user_id, recipient) AS turn, min(due_at) AS due_at
    FROM mails INDEXED BY mails_due WHERE state = 'pending' AND due_at <= ${now}
    GROUP BY coalesce(user_id, recipient) ORDER BY min(due_at), id LIMIT ${MAX_DUE_MAILS}`);

/** Returns the time at which the next mail becomes due after `now`, or null. */
export const findNextMailTime = (db: Queries, now: number): Promise<number | null> =>
  readValue(db, sql`SELECT min(due_at) FROM mails INDEXED BY mails_due WHERE state = 'pending' AND due_at > ${now}`);

export const countPendingMails = (db: Queries) => mailRows.count(db, { state: "pending" });

export const findPendingMail = (db: Queries, id: string) => mailRows.find(db, { id, state: "pending" });

export async function updateMail(tx: Queries, id: string, change: Partial<StoredMail>): Promise<void> {
  await tx.update(mails).set(change).where(eq(mails.id, id));
}

/** Counts mails to a recipient that were queued after `since`: those of one template, or of all except some. */
export async function countRecentMails(
  db: Queries,
  recipient: { userId: string | null; address: string },
  since: number,
  templates: { only: string } | { except: readonly string[] },
) {
  const { userId, address } = recipient;
  const isRecipient =
    userId === null ? and(isNull(mails.user_id), eq(mails.recipient, address)) : eq(mails.user_id, userId);
  const isCounted =
    "only" in templates ? eq(mails.template, templates.only) : notInArray(mails.template, [...templates.except]);
  return mailRows.count(db, and(isRecipient, gt(mails.created_at, since), isCounted));
}

/** Deletes mails that were sent or given up, and created before `time`. */
export const deleteFinishedMailsBefore = (tx: Queries, time: number) =>
  mailRows.delete(tx, and(inArray(mails.state, ["sent", "failed"]), lt(mails.created_at, time)));
