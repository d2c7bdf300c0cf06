import { DateField, Filter, FilterBar, SearchField } from "../../ui/filter-bar";
import { KINDS } from "./history-texts";
import type { HistoryFilter } from "./use-history";

type HistoryFiltersProps = { filter: HistoryFilter; onChange(change: Partial<HistoryFilter>): void };

export const HistoryFilters = ({ filter, onChange }: HistoryFiltersProps) => (
  <FilterBar>
    <SearchField label="Search recordings and invoices" value={filter.q} onSearch={(q) => onChange({ q })} />
    <Filter label="Kind" value={filter.type} options={KINDS} onChange={(type) => onChange({ type })} />
    <DateField label="From" value={filter.from} onChange={(from) => onChange({ from })} />
    <DateField label="To" value={filter.to} onChange={(to) => onChange({ to })} />
  </FilterBar>
);
