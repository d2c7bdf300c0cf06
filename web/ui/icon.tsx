import type { EDITOR_ICONS } from "../editor/icons";

/** Icons on a grid of 16 by 16. They are decorative: the control around them has a name. */
const ICONS = {
  projects: "M2 4.5h4l1.5 1.5H14v7H2z",
  upload: "M8 11V3M5 6l3-3 3 3M3 13h10",
  plus: "M8 3v10M3 8h10",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3 3",
  theme: "M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12",
  keyboard: "M2 4.5h12v7H2zM4.5 7h.01M8 7h.01M11.5 7h.01M5 9.5h6",
  jobs: "M3 4h10M3 8h10M3 12h6",
  bell: "M4 11V7a4 4 0 0 1 8 0v4l1 1H3zM6.8 14h2.4",
  more: "M3.5 8a.5.5 0 1 0 1 0a.5.5 0 1 0-1 0M7.5 8a.5.5 0 1 0 1 0a.5.5 0 1 0-1 0M11.5 8a.5.5 0 1 0 1 0a.5.5 0 1 0-1 0",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.5l3.5 3.5L13 4.5",
  warning: "M8 2.5l6 11H2zM8 6.5v3.5M8 12h.01",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.5V11M8 5h.01",
  workspaces: "M2.5 13.5v-11h6v11M8.5 6.5h5v7M1.5 13.5h13M5 5h1M5 8h1M5 11h1M11 9h.5M11 11h.5",
  signOut: "M6.5 3h-4v10h4M10 5l3 3-3 3M13 8H6",
  user: "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14c.6-3 2.7-4.5 5.5-4.5s4.9 1.5 5.5 4.5",
  admin: "M8 2l5 2v3.5c0 3.2-2 5.4-5 6.5-3-1.1-5-3.3-5-6.5V4zM6 8l1.5 1.5L10.2 6.5",
  audio: "M2.5 6.5v3M5.5 4.5v7M8 2.5v11M10.5 5v6M13.5 6.5v3",
  play: "M5 3l8 5-8 5z",
  pause: "M5 3v10M11 3v10",
  flag: "M4 13.5v-11h7.5l-2 3 2 3H4",
  undo: "M6 3L3 6l3 3M3 6h6a4 4 0 0 1 0 8H7",
  download: "M8 3v8M5 8l3 3 3-3M3 13h10",
  trash: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.5 9h6l.5-9",
  link: "M7 9a3 3 0 0 0 4.2 0l2-2A3 3 0 0 0 9 2.8L8 3.9M9 7a3 3 0 0 0-4.2 0l-2 2A3 3 0 0 0 7 13.2l1-1.1",
  credits: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM10 6.2a2.6 2.6 0 1 0 0 3.6",
  cut: "M4.5 6a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM4.5 13.6a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM6 5.5l8 6M6 10.5l8-6",
  key: "M10.5 9.5a3.75 3.75 0 1 0-3.4-2.2L2 12.4V14h2.4v-1.6H6v-1.6h1.5l1.2-1.2M11.2 4.9h.01",
  webhook:
    "M8 5.6a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM3.8 13.6a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM12.2 13.6a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM7.1 5.4l-2.4 4.8M8.9 5.4l2.4 4.8M5.6 11.8h4.8",
  down: "M4.5 6.5L8 10l3.5-3.5",
  up: "M4.5 9.5L8 6l3.5 3.5",
  sliders: "M4 2.5v5M4 10.5v3M2.5 9h3M8 2.5v2M8 7.5v6M6.5 6h3M12 2.5v6M12 11.5v2M10.5 10h3",
  copy: "M6 6h7.5v7.5H6zM3.5 10h-1V2.5H10v1",
  film: "M2 3h12v10H2zM5 3v10M11 3v10M2 8h3M11 8h3",
  grid: "M2.5 2.5H7V7H2.5zM9 2.5h4.5V7H9zM2.5 9H7v4.5H2.5zM9 9h4.5v4.5H9z",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  move: "M2.5 12.5v-9h4L8 5.5h5.5v7zM6 9h4.5M9 7.5L10.5 9 9 10.5",
  edit: "M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3z",
};

export type IconName = keyof typeof ICONS | keyof typeof EDITOR_ICONS;

const paths: Partial<Record<IconName, string>> = ICONS;

/** Adds the icons of a page that is loaded later. */
export const addIcons = (icons: Partial<Record<IconName, string>>): void => void Object.assign(paths, icons);

/** Those whose shape is filled. */
const FILLED: readonly IconName[] = ["play", "previous", "next"];

export const Icon = ({ name }: { name: IconName }) => (
  <svg class={FILLED.includes(name) ? "icon filled" : "icon"} viewBox="0 0 16 16" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
);
