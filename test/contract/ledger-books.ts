/** Invariants of a workspace's credits at every moment, read from its rows with separate queries. */
import { sql } from "drizzle-orm";
import { readBalance } from "../../src/store/credits";
import type { Queries } from "../../src/store/db";

export type Totals = {
  balance: number;
  ledger: number;
  held: number;
  /** Held credits according to the assets and the pipelines. */
  heldForAssets: number;
  heldForSteps: number;
  consumed: number;
  /** Charges of assets that were refunded. */
  refundedCharges: number;
};

/** Reads the totals of a workspace. */
export async function readTotals(db: Queries, workspaceId: string): Promise<Totals> {
  const [row] = await db.all<Omit<Totals, "balance">>(sql`SELECT
    (SELECT coalesce(sum(delta), 0) FROM ledger WHERE workspace_id = ${workspaceId}) AS ledger,
    (SELECT coalesce(sum(amount), 0) FROM holds WHERE workspace_id = ${workspaceId}) AS held,
    (SELECT coalesce(sum(charge), 0) FROM assets WHERE workspace_id = ${workspaceId} AND payment = 'held') AS heldForAssets,
    (SELECT coalesce(sum(s.credits_cost), 0) FROM steps s JOIN pipelines p ON p.id = s.pipeline_id
      WHERE p.workspace_id = ${workspaceId} AND p.finished_at IS NULL AND s.finished_at IS NULL
        AND s.processor_name != 'prepare') AS heldForSteps,
    (SELECT coalesce(-sum(delta), 0) FROM ledger WHERE workspace_id = ${workspaceId} AND type LIKE 'consume%') AS consumed,
    (SELECT coalesce(sum(delta), 0) FROM ledger WHERE workspace_id = ${workspaceId} AND type = 'refund'
      AND asset_id IS NOT NULL) AS refundedCharges`);
  return { ...row!, balance: await readBalance(db, workspaceId) };
}

/** Lists the contradictions in the rows of a workspace, as sentences. */
export async function listContradictions(db: Queries, workspaceId: string, balance: number): Promise<string[]> {
  const rows = await db.all<{ what: string; id: string }>(sql`
    SELECT 'an asset is ready without one charge, or has a charge and is not ready' AS what, a.id FROM assets a
      WHERE a.workspace_id = ${workspaceId} AND a.kind = 'source' AND a.charge > 0
        AND (a.state = 'ready') != (SELECT count(*) = 1 AND sum(l.delta) = -a.charge FROM ledger l
          WHERE l.asset_id = a.id AND l.type = 'consume_asset')
    UNION ALL SELECT 'two entries of one kind for an asset, a step or an invoice',
        coalesce(asset_id, step_id, payment_invoice_id) FROM ledger
      WHERE workspace_id = ${workspaceId} AND (asset_id IS NOT NULL OR step_id IS NOT NULL OR type = 'topup')
      GROUP BY type, asset_id, step_id, payment_invoice_id HAVING count(*) > 1
    UNION ALL SELECT 'a step is completed without one charge, or has a charge and is not completed', s.id FROM steps s
      WHERE s.workspace_id = ${workspaceId} AND s.processor_name != 'prepare' AND s.credits_cost > 0
        AND (s.state = 'completed') != (SELECT count(*) = 1 AND sum(l.delta) = -s.credits_cost FROM ledger l
          WHERE l.workspace_id = ${workspaceId} AND l.step_id = s.id)
    UNION ALL SELECT 'a pipeline shows another consumption than the ledger', p.id FROM pipelines p
      WHERE p.workspace_id = ${workspaceId} AND p.total_credits_consumed != (SELECT coalesce(-sum(l.delta), 0)
        FROM steps s JOIN ledger l ON l.workspace_id = ${workspaceId} AND l.type LIKE 'consume%'
          AND CASE s.processor_name WHEN 'prepare' THEN l.asset_id = s.input_asset_id ELSE l.step_id = s.id END
        WHERE s.pipeline_id = p.id)
    UNION ALL SELECT 'a hold of something that has ended', h.id FROM holds h LEFT JOIN pipelines p ON p.id = h.pipeline_id
      WHERE h.workspace_id = ${workspaceId}
        AND (h.amount <= 0 OR p.id IS NULL OR (h.asset_id IS NULL AND p.finished_at IS NOT NULL))
    UNION ALL SELECT 'an asset waits although the balance covers it', id FROM (SELECT id, charge FROM assets
      WHERE workspace_id = ${workspaceId} AND state = 'pending_payment' ORDER BY prepared_at, id LIMIT 1)
      WHERE charge <= ${balance}`);
  return rows.map(({ what, id }) => `${what}: ${id}`);
}
