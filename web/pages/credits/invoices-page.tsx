import { api, must, type Schemas } from "../../app/api";
import { useOffsetList } from "../../app/cache";
import { toNumber } from "../../app/english";
import { formatAmount } from "../../app/rare-formats";
import { workspace } from "../../app/session";
import { type Column, DataTable } from "../../ui/data-table";
import { Empty } from "../../ui/states";
import { InvoiceStatus } from "../../ui/status";
import { Time } from "../../ui/time";
import { CreditsFrame } from "../frames";

type Invoice = Schemas["Invoice"];

const COLUMNS: Column<Invoice>[] = [
  {
    title: "Invoice",
    width: "minmax(0, 2fr)",
    cell: ({ description, payment_invoice_id: number }) => (
      <span class="invoice-name">
        <span dir="auto">{description ?? "Invoice"}</span>
        <span class="soft mono">{number}</span>
      </span>
    ),
  },
  { title: "State", width: "8rem", cell: ({ state }) => <InvoiceStatus state={state} /> },
  { title: "Date", width: "12.5rem", cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: "Credits", width: "6rem", isNumber: true, cell: ({ credits }) => toNumber(credits) },
  { title: "Amount", width: "8rem", isNumber: true, cell: (invoice) => <Amount invoice={invoice} /> },
  { title: "Invoice link", width: "8rem", isTitleHidden: true, cell: (invoice) => <InvoiceLink invoice={invoice} /> },
];

const Amount = ({ invoice: { amount, amount_refunded: refunded, currency } }: { invoice: Invoice }) => (
  <span class="invoice-name">
    <span>{formatAmount(amount, currency)}</span>
    {refunded > 0 && <span class="soft">{formatAmount(refunded, currency)} refunded</span>}
  </span>
);

function InvoiceLink({ invoice: { url, state, payment_invoice_id: number } }: { invoice: Invoice }) {
  if (url === null) return null;
  const text = state === "failed" || state === "open" ? "Pay at Stripe" : "View at Stripe";
  return (
    <a href={url} target="_blank" rel="noreferrer" aria-label={`${text}: ${number}, opens a new tab`}>
      {text}
    </a>
  );
}

/** The invoices of the workspace, newest first. */
export default function InvoicesPage() {
  const list = useOffsetList<Invoice>(["credits", "invoices", workspace.value?.id], (query, signal) =>
    must(api.GET("/api/v1/billing/invoices", { params: { query }, signal })),
  );
  return (
    <CreditsFrame title="Invoices">
      <DataTable
        caption="Invoices"
        columns={COLUMNS}
        list={list}
        empty={
          <Empty title="No invoices yet" icon="credits" link={{ href: "/credits", label: "Buy credits" }}>
            <p>Each paid order and each period of a subscription has an invoice.</p>
          </Empty>
        }
      />
    </CreditsFrame>
  );
}
