import type { CreditEntry } from "./use-history";

/** The purpose of a credit change, with links while its targets exist. */
export function HistorySubject({ entry }: { entry: CreditEntry }) {
  const { type, asset, asset_id: assetId, order_id: orderId, description, pipeline_id: pipelineId } = entry;
  if (asset !== null) {
    const name = asset.filename ?? "Unnamed recording";
    return (
      <span class="history-subject">
        <a class="truncate" href={`/assets/${asset.id}`} title={name} dir="auto">
          {name}
        </a>
        {pipelineId !== null && <a href={`/jobs/${pipelineId}`}>Job</a>}
      </span>
    );
  }
  if (pipelineId !== null) return <a href={`/jobs/${pipelineId}`}>Job of a deleted recording</a>;
  if (assetId !== null) return <span class="soft">Deleted recording</span>;
  if (orderId !== null) return <a href={`/orders/${orderId}`}>{description ?? "Order"}</a>;
  if (type === "grant" || type === "adjustment") return <span class="soft">By an administrator</span>;
  return <span class="soft">{entry.payment_invoice_id ?? "–"}</span>;
}
