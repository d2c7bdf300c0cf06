/** Names of the cuts of a recording. */
import { CUT_MODE_NAMES, CUT_MODES, type CutMode, type CutOptions, MANUAL_MODE } from "../../../src/domain/plan";
import { toClock } from "../../app/english";
import { formatShortDay } from "../../app/format";
import type { ListedCut } from "../../pages/asset/use-cuts";

type NamedCut = Pick<ListedCut, "id" | "state" | "options" | "created_at"> & { name?: string | null };

export const MODE_NAMES: Record<CutOptions["mode"], string> = {
  tight: "Tight",
  natural: "Natural",
  loose: "Loose",
  manual: "By hand",
};

/** The modes by their names, as options of a control. */
export const MODES = CUT_MODE_NAMES.map((value) => ({ value, label: MODE_NAMES[value] }));

const MODE_DETAILS: Record<CutMode, string> = {
  tight: ": short pauses",
  natural: "",
  loose: ": long pauses, fillers stay",
};

/** The modes with their descriptions, as options of a field. */
export const MODE_CHOICES = CUT_MODE_NAMES.map((value) => ({
  value,
  label: `${MODE_NAMES[value]}${MODE_DETAILS[value]}`,
}));
const STATES: Record<string, string> = { pending: "in line", processing: "in progress", failed: "failed" };

/** Returns whether the options are the defaults of the mode. */
export const isMode = (options: Partial<CutOptions> | null, mode: CutMode): boolean =>
  Object.entries(CUT_MODES[mode]).every(([name, value]) => options?.[name as keyof CutOptions] === value);

/** Returns "Custom" for options that are not those of the mode. */
function nameMode({ options }: Pick<NamedCut, "options">): string {
  const { mode } = options;
  return mode === MANUAL_MODE || isMode(options, mode) ? MODE_NAMES[mode] : "Custom";
}

/** Returns the first of "Natural", "Natural 2", "Natural 3" and so on that is not taken. */
function findFree(base: string, taken: ReadonlySet<string>): string {
  let name = base;
  for (let number = 2; taken.has(name); number++) name = `${base} ${number}`;
  return name;
}

/** Returns the names by ID. Cuts without a name get that of their mode, the older ones without a number. */
export function nameVersions(all: readonly NamedCut[]): Map<string, string> {
  const taken = new Set(all.flatMap(({ name }) => name ?? []));
  const names = new Map<string, string>();
  // `localeCompare` takes 8 ms when it is first used.
  const oldestFirst = all.toSorted(({ created_at: a }, { created_at: b }) => Number(a > b) - Number(a < b));
  for (const cut of oldestFirst) {
    const name = cut.name ?? findFree(nameMode(cut), taken);
    taken.add(name);
    names.set(cut.id, name);
  }
  return names;
}

/** Returns a name for a new version with these options: "Natural 2". */
export const proposeName = (options: NamedCut["options"], all: readonly NamedCut[]): string =>
  findFree(nameMode({ options }), new Set(nameVersions(all).values()));

/** Returns a name such as "Natural 2" or "Tight (in progress)". */
export function nameVersion(cut: NamedCut, all: readonly NamedCut[]): string {
  const name = nameVersions(all).get(cut.id) ?? cut.name ?? nameMode(cut);
  const state = STATES[cut.state];
  return state === undefined ? name : `${name} (${state})`;
}

/** Returns "Anna Okoye · Nov 23, 4:12 PM · set aside · Without the second question". */
export function describeVersion({ created_by, created_at, is_set_aside: isSetAside, note }: ListedCut): string {
  const time = new Date(created_at);
  const when = `${formatShortDay(time)}, ${toClock(time)}`;
  return [created_by?.name, when, isSetAside && "set aside", note].filter(Boolean).join(" · ");
}
