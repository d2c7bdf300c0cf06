/** Playback settings of this browser, kept between visits. */
import { type Signal, signal } from "@preact/signals";
import { recall, remember } from "../../app/memory";
import type { CleanMode } from "../player/engine";

function createSetting<Value extends number | boolean>(name: string, usual: Value): Signal<Value> {
  const key = `player.${name}`;
  const stored = recall(key);
  const setting = signal(!stored ? usual : (JSON.parse(stored) as Value));
  setting.subscribe((value) => remember(key, JSON.stringify(value)));
  return setting;
}

/** From 0 to 1. */
export const volume = createSetting<number>("volume", 1);
export const isMuted = createSetting<boolean>("muted", false);
/**
 * Whether audio plays with reduced noise, until the page is closed, and how much: as in the render that was chosen
 * last.
 */
export const isClean = signal(false);
export const cleanMode = signal<CleanMode>("strong");
export const hasCaptions = createSetting<boolean>("captions", false);
