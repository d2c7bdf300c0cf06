/** The bar above recordings: what is shown, and in which order and form. */
import { MAX_TAG_CHARACTERS } from "../../../src/domain/field-limits";
import type { Schemas } from "../../app/api";
import { isBilled } from "../../app/session";
import { isSearch, isUuid } from "../../app/use-query";
import { namePerson } from "../../ui/avatar";
import { Filter, SearchField, Segments } from "../../ui/filter-bar";
import { Icon } from "../../ui/icon";
import { Menu } from "../../ui/menu";
import { ASSET_STATUS } from "../../ui/status";
import { ASSET_SORTS, type AssetSort, COLUMNS, changeView, isList, libraryView } from "./library-view";

type Summary = Schemas["ProjectSummary"];

export const SHOWN = ["to_review", "none"] as const;
const STATES = [
  { value: "", label: "Any state" },
  { value: "ready", label: ASSET_STATUS.ready.text },
  { value: "processing", label: ASSET_STATUS.processing.text },
  { value: "pending_upload", label: ASSET_STATUS.pending_upload.text },
  { value: "pending_payment", label: ASSET_STATUS.pending_payment.text },
  { value: "failed", label: ASSET_STATUS.failed.text },
] as const;

/** The filters in the address of the page, and their checks. */
export const FILTER_CHECKS = {
  q: isSearch,
  cut: (value: string) => SHOWN.some((one) => one === value),
  state: (value: string) => STATES.some((one) => one.value === value),
  tag: (value: string) => value.length <= MAX_TAG_CHARACTERS,
  by: isUuid,
};
export type Filters = Record<keyof typeof FILTER_CHECKS, string>;

type LibraryBarProps = {
  summary: Summary | null;
  filters: Filters;
  onFilter(change: Partial<Filters>): void;
};

export function LibraryBar({ summary, filters, onFilter }: LibraryBarProps) {
  const { look, sort } = libraryView.value;
  const tags = summary?.tags ?? [];
  const people = (summary?.creators ?? []).flatMap((person) => person ?? []);
  return (
    <search class="toolbar library-bar">
      <Segments
        label="Show"
        value={filters.cut}
        options={[
          { value: "", label: "All", count: summary?.recordings },
          { value: "to_review", label: "To review", count: summary?.to_review },
          { value: "none", label: "No cut", count: summary?.without_cut },
        ]}
        onChange={(cut) => onFilter({ cut })}
      />
      <Filter
        label="State"
        value={filters.state}
        options={isBilled.value ? STATES : STATES.filter(({ value }) => value !== "pending_payment")}
        onChange={(state) => onFilter({ state })}
      />
      {(tags.length > 0 || filters.tag !== "") && (
        <Filter
          label="Tag"
          value={filters.tag}
          options={[{ value: "", label: "Any tag" }, ...withChosen(tags, filters.tag)]}
          onChange={(tag) => onFilter({ tag })}
        />
      )}
      {(people.length > 1 || filters.by !== "") && (
        <Filter
          label="Added by"
          value={filters.by}
          options={[
            { value: "", label: "Anyone" },
            ...people.map((person) => ({ value: person.id, label: namePerson(person) })),
          ]}
          onChange={(by) => onFilter({ by })}
        />
      )}
      <SearchField label="Search recordings" value={filters.q} onSearch={(q) => onFilter({ q })} />
      <span class="spacer" />
      <Filter
        label="Sort by"
        value={sort}
        options={ASSET_SORTS}
        onChange={(value) => changeView({ sort: value as AssetSort })}
      />
      {isList.value && <ColumnsMenu />}
      <Segments
        class="look-choice"
        label="View"
        value={look}
        options={[
          { value: "grid", label: "Grid", icon: "grid" },
          { value: "list", label: "List", icon: "list" },
        ]}
        onChange={(value) => changeView({ look: value })}
      />
    </search>
  );
}

const withChosen = (tags: readonly string[], chosen: string) =>
  [...new Set(chosen === "" ? tags : [...tags, chosen])].map((tag) => ({ value: tag, label: tag }));

function ColumnsMenu() {
  const { columns } = libraryView.value;
  return (
    <Menu
      label="Columns"
      items={COLUMNS.map(({ value, label }) => ({
        label,
        isOn: columns.includes(value),
        run: () =>
          changeView({
            columns: columns.includes(value) ? columns.filter((one) => one !== value) : [...columns, value],
          }),
      }))}
    >
      <Icon name="sliders" />
    </Menu>
  );
}
