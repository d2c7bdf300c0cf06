/** Invariants of pipelines, holds, ledger, outputs and events at every moment. */
import { sql } from "drizzle-orm";
import { readBalance } from "../../../../src/store/credits";
import type { Store } from "../../../../src/store/db";
import { readStorageUsed } from "../../../../src/store/storage";

/** Lists the violated invariants of a workspace. `bytes`: of each source and of each completed render. */
export async function listPipelineProblems(
  store: Store,
  workspaceId: string,
  bytes: { source: number; render: number },
): Promise<string[]> {
  const rows = <Row>(statement: ReturnType<typeof sql>) => store.read.all<Row>(statement);
  // Each query selects rows that must not exist.
  const inHere = sql`p.workspace_id = ${workspaceId}`;
  const never: [string, ReturnType<typeof sql>][] = [
    [
      "a pipeline has ended but has a due step, or has not and has none",
      sql`SELECT p.id FROM pipelines p LEFT JOIN steps s ON s.pipeline_id = p.id AND s.finished_at IS NULL AND s.run_after IS NOT NULL
          WHERE ${inHere} GROUP BY p.id HAVING count(s.id) <> (p.finished_at IS NULL)`,
    ],
    [
      "a step is due before the earlier ones have completed",
      sql`SELECT s.id FROM steps s JOIN pipelines p ON p.id = s.pipeline_id JOIN steps e ON e.pipeline_id = p.id AND e.step_order < s.step_order
          WHERE ${inHere} AND s.run_after IS NOT NULL AND e.state <> 'completed'`,
    ],
    [
      "the state of a pipeline is not that of its steps",
      sql`SELECT p.id FROM pipelines p WHERE ${inHere} AND p.finished_at IS NOT NULL AND p.state <>
          coalesce((SELECT s.state FROM steps s WHERE s.pipeline_id = p.id AND s.state IN ('failed', 'cancelled')), 'completed')`,
    ],
    [
      "a pipeline that has ended holds credits, or an open one not the prices of its open steps",
      sql`SELECT p.id FROM pipelines p WHERE ${inHere} AND
          coalesce((SELECT sum(h.amount) FROM holds h WHERE h.pipeline_id = p.id), 0) <>
          CASE WHEN p.finished_at IS NULL
            THEN (SELECT sum(s.credits_cost) FROM steps s WHERE s.pipeline_id = p.id AND s.finished_at IS NULL) ELSE 0 END`,
    ],
    [
      "a completed step has no charge, or another one has one",
      sql`SELECT s.id FROM steps s JOIN pipelines p ON p.id = s.pipeline_id WHERE ${inHere} AND
          (SELECT count(*) FROM ledger l WHERE l.step_id = s.id AND l.delta = -s.credits_cost) <> (s.state = 'completed')`,
    ],
    [
      "a pipeline's sums are not those of the ledger",
      sql`SELECT p.id FROM pipelines p WHERE ${inHere} AND (p.total_credits_consumed > p.total_credits_reserved OR p.total_credits_consumed <>
          -coalesce((SELECT sum(l.delta) FROM ledger l JOIN steps s ON s.id = l.step_id WHERE s.pipeline_id = p.id), 0))`,
    ],
    [
      "an open cut or render has no open step",
      sql`SELECT x.id FROM (SELECT id, workspace_id, completed_at FROM cuts UNION ALL SELECT id, workspace_id, completed_at FROM renders) x
          WHERE x.workspace_id = ${workspaceId} AND (x.completed_at IS NULL) <>
          EXISTS (SELECT 1 FROM steps s WHERE s.subject_id = x.id AND s.finished_at IS NULL)`,
    ],
    [
      "an output has neither cut nor render, or one of a chain has no output",
      sql`SELECT a.id FROM assets a WHERE a.workspace_id = ${workspaceId} AND a.kind <> 'source'
            AND NOT EXISTS (SELECT 1 FROM cuts WHERE id = a.cut_id) AND NOT EXISTS (SELECT 1 FROM renders WHERE id = a.render_id)
          UNION ALL SELECT s.id FROM steps s JOIN pipelines p ON p.id = s.pipeline_id
          WHERE ${inHere} AND p.is_chain AND s.state = 'completed' AND s.output_asset_deleted <>
            NOT EXISTS (SELECT 1 FROM assets WHERE id = s.output_asset_id)`,
    ],
    [
      "an entity has two terminal events",
      sql`SELECT entity_id AS id FROM events WHERE workspace_id = ${workspaceId} GROUP BY entity_id HAVING count(*) > 1`,
    ],
  ];
  const problems: string[] = [];
  for (const [problem, query] of never) if ((await rows(query)).length > 0) problems.push(problem);
  const balance = await readBalance(store.read, workspaceId);
  if (balance < 0) problems.push(`the balance is ${balance}`);
  const [waiting] = await rows<{ charge: number }>(
    sql`SELECT charge FROM assets WHERE workspace_id = ${workspaceId} AND state = 'pending_payment' ORDER BY prepared_at LIMIT 1`,
  );
  if (waiting && waiting.charge <= balance) problems.push("an asset waits for credits that are there");
  const [counts] = await rows<{ sources: number; renders: number }>(sql`SELECT
      (SELECT count(*) FROM assets WHERE workspace_id = ${workspaceId} AND kind = 'source') AS sources,
      (SELECT count(*) FROM renders WHERE workspace_id = ${workspaceId} AND state = 'completed') AS renders`);
  const [texts] = await rows<{ bytes: number }>(sql`SELECT
      coalesce((SELECT sum(octet_length(script) + octet_length(options) + coalesce(octet_length(plan), 0) + coalesce(octet_length(basis), 0)
        + coalesce(octet_length(review_items), 0) + coalesce(octet_length(name), 0) + coalesce(octet_length(note), 0)) FROM cuts
        WHERE workspace_id = ${workspaceId}), 0)
      + coalesce((SELECT sum(coalesce(octet_length(name), 0) + coalesce(octet_length(note), 0) + octet_length(tags) - 2) FROM assets
        WHERE workspace_id = ${workspaceId}), 0)
      + coalesce((SELECT sum(octet_length(segments) + octet_length(texts)) FROM drafts WHERE workspace_id = ${workspaceId}), 0)
      + coalesce((SELECT sum(octet_length(script)) FROM planned_cuts WHERE workspace_id = ${workspaceId}), 0)
      + coalesce((SELECT sum(octet_length(entries)) FROM vocabularies WHERE workspace_id = ${workspaceId}), 0)
      + coalesce((SELECT sum(octet_length(params)) FROM steps WHERE workspace_id = ${workspaceId}), 0) AS bytes`);
  const used = counts!.sources * bytes.source + counts!.renders * bytes.render + texts!.bytes;
  if ((await readStorageUsed(store.read, workspaceId)) !== used) problems.push("the storage is counted wrongly");
  return problems;
}
