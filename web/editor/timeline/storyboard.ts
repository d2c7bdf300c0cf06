/**
 * Thumbnails of the recording at regular intervals, arranged on sheets. A sheet is fetched when one of its thumbnails
 * comes into view.
 */
import { useEffect, useMemo } from "preact/hooks";
import { listenReconnect } from "../../app/connection";
import { toTime, type View } from "./view";

type Box = { x: number; y: number; width: number; height: number };

/**
 * `interval` is in seconds. `width` and `height` are those of a thumbnail, `columns` and `rows` those of a sheet.
 * `picture` is the part of a thumbnail without the bars beside a video of another ratio.
 */
export type Storyboard = {
  interval: number;
  count: number;
  width: number;
  height: number;
  columns: number;
  rows: number;
  picture: Box;
  sheets: number;
  getSheetUrl(sheet: number): string;
};

/** Returns the part of a thumbnail that a video of this ratio fills. */
export function findPicture({ width, height }: Pick<Box, "width" | "height">, ratio: number): Box {
  const size = { width: Math.min(width, height * ratio), height: Math.min(height, width / ratio) };
  return { ...size, x: (width - size.width) / 2, y: (height - size.height) / 2 };
}

/** A thumbnail: its position on its sheet, and on the timeline. */
export type Tile = { sheet: number; sourceX: number; sourceY: number; x: number; width: number };

/** Returns the thumbnails for a view, side by side at a height. Each shows the time of its left edge. */
export function listTiles(storyboard: Storyboard, view: View, height: number): Tile[] {
  const { interval, count, columns, rows, picture } = storyboard;
  if (count <= 0 || interval <= 0 || columns <= 0 || rows <= 0) return [];
  const width = Math.max(1, (height * picture.width) / picture.height);
  // Aligned to the time of the recording, so that thumbnails scroll with it.
  const step = width * view.scale;
  const tiles: Tile[] = [];
  for (let place = Math.floor(view.start / step) * step; place < view.start + view.width * view.scale; place += step) {
    const x = (place - view.start) / view.scale;
    const time = Math.max(0, toTime(view, x));
    if (place >= view.duration) break;
    const index = Math.min(count - 1, Math.floor(time / (interval * 1e6)));
    const onSheet = index % (columns * rows);
    tiles.push({
      sheet: Math.floor(index / (columns * rows)),
      sourceX: (onSheet % columns) * storyboard.width + picture.x,
      sourceY: Math.floor(onSheet / columns) * storyboard.height + picture.y,
      x,
      width,
    });
  }
  return tiles;
}

const MAX_SHEETS = 24;

/** Cache of the most recently used sheets. `onLoad` is called when one is loaded. */
export function useSheets(onLoad: () => void): Sheets {
  const sheets = useMemo(() => new Sheets(onLoad), []);
  useEffect(() => listenReconnect(() => sheets.retry()), []);
  return sheets;
}

export class Sheets {
  readonly #images = new Map<string, HTMLImageElement>();
  readonly #onLoad: () => void;

  constructor(onLoad: () => void) {
    this.#onLoad = onLoad;
  }

  /** Returns a sheet; null while it is being fetched and if that failed. */
  find(url: string): HTMLImageElement | null {
    let image = this.#images.get(url);
    if (!image) {
      image = new Image();
      image.decoding = "async";
      image.onload = this.#onLoad;
      image.src = url;
    }
    this.#images.delete(url);
    this.#images.set(url, image);
    for (const oldest of this.#images.keys()) {
      if (this.#images.size <= MAX_SHEETS) break;
      this.#images.delete(oldest);
    }
    return image.complete && image.naturalWidth > 0 ? image : null;
  }

  /** Fetches the sheets again that could not be fetched. */
  retry(): void {
    for (const [url, image] of this.#images) if (image.complete && image.naturalWidth === 0) this.#images.delete(url);
    this.#onLoad();
  }
}
