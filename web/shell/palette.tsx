/** Finds projects and recordings by name, places by their spoken words, and commands (Ctrl+K). */

import { Fragment } from "preact";
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { findClosest, parseSearch, type TextRange } from "../../src/domain/search/query";
import { type Action, formatKeys, isEnabled, listActions } from "../app/actions";
import { api, type Schemas } from "../app/api";
import { formatDuration, nameOf } from "../app/format";
import { touch } from "../app/narrow";
import { isBilled } from "../app/session";
import { toggleTheme } from "../app/theme";
import { Dialog } from "../ui/dialog";
import { isPaletteOpen, NAVIGATION, typedBefore } from "./navigation";
import { listSettings } from "./settings-pages";

const PAGES = [
  ...NAVIGATION.map(({ label, href }) => [label, href] as const),
  ["Notifications", "/notifications"],
  ["Settings", "/settings"],
] as const;

const CREDIT_PAGES = [
  ["Credit history", "/credits/history"],
  ["Orders", "/credits/orders"],
  ["Invoices", "/credits/invoices"],
] as const;

/**
 * `keywords`: other words by which a command is found. `matches`: the ranges of characters of the label that were
 * searched for.
 */
type Command = { label: string; detail: string; keywords?: string; matches?: readonly TextRange[]; run(): void };

const onClose = () => {
  isPaletteOpen.value = false;
  typedBefore.value = "";
};

export default function Palette() {
  const { route } = useLocation();
  const [text, setText] = useState(() => typedBefore.peek());
  const [chosen, setChosen] = useState(0);
  const { found, isSearching } = useFound(text, route);
  const listId = useId();
  const commands = useMemo<Command[]>(
    () => [
      ...listActions().filter(isListed).map(toCommand),
      ...PAGES.map(([label, href]) => ({ label, detail: "Page", run: () => route(href) })),
      ...listSettings().flatMap(({ title, pages }) =>
        pages.map(({ label, hint, href }) => ({
          label,
          detail: "Settings",
          keywords: `${hint} ${title}`,
          run: () => route(href),
        })),
      ),
      ...(isBilled.value ? CREDIT_PAGES : []).map(([label, href]) => ({
        label,
        detail: "Settings",
        run: () => route(href),
      })),
      { label: "Switch theme", detail: "Action", run: toggleTheme },
    ],
    [route],
  );
  const wanted = text.trim().toLowerCase();
  const shown = [...findCommands(commands, wanted), ...found];
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setChosen((chosen + step + shown.length) % Math.max(1, shown.length));
    }
    if (event.key !== "Enter") return;
    // The button that opened the palette gets the focus back, and the key would press it.
    event.preventDefault();
    run(shown[chosen]);
  };
  return (
    <Dialog title="Search" onClose={onClose}>
      <div class="dialog-body">
        <input
          class="input"
          role="combobox"
          aria-label="Search projects, recordings, transcripts and commands"
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={shown.length > 0 ? `${listId}-${chosen}` : undefined}
          data-first
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
        />
        <div id={listId} class="palette-list" role="listbox" aria-label="Search results" tabIndex={-1}>
          {shown.map((command, index) => (
            <div
              key={`${index} ${command.detail} ${command.label}`}
              id={`${listId}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              ref={index === chosen ? showOption : undefined}
              onPointerMove={() => setChosen(index)}
              onClick={() => run(command)}
              onKeyDown={() => {}}
            >
              <span class="truncate">
                <MarkedText text={command.label} matches={command.matches ?? []} />
              </span>
              <span class="soft">{command.detail}</span>
            </div>
          ))}
        </div>
        {shown.length === 0 && !isSearching && <p class="soft">No results.</p>}
      </div>
    </Dialog>
  );
}

/**
 * Returns the commands that match a lower-case text: first labels that start with it, then labels with a word that
 * starts with it, then other labels that contain it, then commands with such a keyword.
 */
const findCommands = (commands: readonly Command[], wanted: string): Command[] =>
  [0, 1, 2, 3].flatMap((rank) => commands.filter((command) => rankCommand(command, wanted) === rank));

function rankCommand({ label, keywords = "" }: Command, wanted: string): number | null {
  const at = ` ${label.toLowerCase()}`.indexOf(` ${wanted}`);
  if (at >= 0) return Math.min(at, 1);
  if (label.toLowerCase().includes(wanted)) return 2;
  return ` ${keywords.toLowerCase()}`.includes(` ${wanted}`) ? 3 : null;
}

/** The palette lists the actions that are available now, except for itself. */
const isListed = (action: Action): boolean =>
  action.perform !== undefined &&
  action.name !== "palette.open" &&
  !(touch.matches && action.name === "help.keys") &&
  isEnabled(action);

const toCommand = ({ label, keys, perform }: Action): Command => ({
  label,
  detail: touch.matches ? "" : keys[0] === undefined ? "Action" : formatKeys(keys[0]),
  run: () => perform!(),
});

const showOption = (option: HTMLElement | null): void => option?.scrollIntoView({ block: "nearest" });

function MarkedText({ text, matches }: { text: string; matches: readonly TextRange[] }) {
  const ends = [0, ...matches.map(([, to]) => to)];
  return (
    <>
      {matches.map(([from, to], n) => (
        <Fragment key={from}>
          {text.slice(ends[n], from)}
          <mark>{text.slice(from, to)}</mark>
        </Fragment>
      ))}
      {text.slice(ends.at(-1))}
    </>
  );
}

const SEARCH_DELAY_MS = 150;
const MAX_FOUND = 8;
/** The characters of a passage that are shown before the first match. */
const LEAD_CHARACTERS = 24;

type Found = { found: Command[]; isSearching: boolean };
const NOTHING: Found = { found: [], isSearching: false };

/** Searches projects, recordings and transcripts on the server when the user pauses typing. */
function useFound(text: string, route: (url: string) => void): Found {
  const [state, setState] = useState(NOTHING);
  useEffect(() => {
    const q = text.trim();
    if (q === "") return setState(NOTHING);
    setState(({ found }) => ({ found, isSearching: true }));
    const stopping = new AbortController();
    const timer = setTimeout(async () => {
      const query = { limit: MAX_FOUND, q };
      const options = { params: { query }, signal: stopping.signal } as const;
      const [projects, assets, passages] = await Promise.all([
        api.GET("/api/v1/projects", options),
        api.GET("/api/v1/assets", options),
        api.GET("/api/v1/search", options),
      ]).catch(() => []);
      if (stopping.signal.aborted) return;
      const found: Command[] = [
        ...(projects?.data?.items ?? []).map(({ id, name }) => ({
          label: name,
          detail: "Project",
          run: () => route(`/projects/${id}`),
        })),
        ...(assets?.data?.items ?? []).map((asset) => ({
          label: nameOf(asset),
          detail: "Recording",
          run: () => route(`/assets/${asset.id}`),
        })),
        ...(passages?.data?.items ?? []).map((hit) => toHitCommand(hit, q, route)),
      ];
      setState({ found, isSearching: false });
    }, SEARCH_DELAY_MS);
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [text, route]);
  return state;
}

/** A longer name would hide the match. */
const MAX_NAME = 30;
const shorten = (name: string): string => (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1).trimEnd()}…` : name);

/** Opens the recording at the words, and plays it. The label begins shortly before they are closest together. */
function toHitCommand(hit: Schemas["SearchHit"], q: string, route: (url: string) => void): Command {
  const matches = hit.matches.map(([from = 0, to = 0]): TextRange => [from, to]);
  const query = parseSearch(q);
  const first = query === null ? 0 : (matches[findClosest(hit.snippet, matches, query)]?.[0] ?? 0);
  const cut = first > LEAD_CHARACTERS ? hit.snippet.indexOf(" ", first - LEAD_CHARACTERS) + 1 : 0;
  const skipped = cut > 0 && cut <= first ? cut : 0;
  const lead = skipped > 0 ? "…" : "";
  const shift = lead.length - skipped;
  return {
    label: lead + hit.snippet.slice(skipped),
    detail: `${shorten(nameOf({ name: hit.asset_name }))} · ${formatDuration(hit.start)}`,
    matches: matches.filter(([from]) => from >= skipped).map(([from, to]) => [from + shift, to + shift]),
    run: () => route(`/assets/${hit.asset_id}?at=${hit.start}`),
  };
}
