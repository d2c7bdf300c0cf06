import { api, must, type Schemas } from "../../app/api";
import { useOffsetList } from "../../app/cache";
import { toNumber } from "../../app/english";
import { nameSteps } from "../../app/pipelines";
import { workspace } from "../../app/session";
import { type Column, DataTable } from "../../ui/data-table";
import { RelativeTime } from "../../ui/relative-time";
import { Section } from "../../ui/section";

type Hold = Schemas["CreditHold"];

const COLUMNS: Column<Hold>[] = [
  {
    title: "Job",
    width: "minmax(0, 1fr)",
    cell: ({ pipeline_id: id, processor_names: names }) => <a href={`/jobs/${id}`}>{nameSteps(names) || "Job"}</a>,
  },
  { title: "Recording", width: "minmax(0, 2fr)", cell: (hold) => <Recording hold={hold} /> },
  { title: "Since", width: "9rem", cell: ({ created_at }) => <RelativeTime iso={created_at} /> },
  { title: "Credits", width: "7rem", isNumber: true, cell: ({ amount }) => toNumber(amount) },
];

function Recording({ hold: { asset } }: { hold: Hold }) {
  if (asset === null) return <span class="soft">Deleted recording</span>;
  const name = asset.filename ?? "Unnamed recording";
  return (
    <a class="truncate" href={`/assets/${asset.id}`} title={name} dir="auto">
      {name}
    </a>
  );
}

/** The credits that unfinished work has reserved. */
export function HoldsPanel() {
  const list = useOffsetList<Hold>(["credits", "holds", workspace.value?.id], (query, signal) =>
    must(api.GET("/api/v1/credits/holds", { params: { query }, signal })),
  );
  return (
    <Section
      title="Held credits"
      hint="Credits are held while work runs. They are used when it completes, and released when it fails or is cancelled."
    >
      <DataTable
        caption="Held credits"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        empty={<p>No credits are held: no work that costs credits is running or waiting.</p>}
      />
    </Section>
  );
}
