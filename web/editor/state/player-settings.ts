/** Playback settings of the user. */
import { signal } from "@preact/signals";
import { createSetting } from "../../app/settings";
import type { CleanMode } from "../player/engine";

/** From 0 to 1. */
export const volume = createSetting<number>("player.volume", 1);
export const isMuted = createSetting<boolean>("player.muted", false);
/**
 * Whether audio plays with reduced noise, until the page is closed, and how much: as in the render that was chosen
 * last.
 */
export const isClean = signal(false);
export const cleanMode = signal<CleanMode>("strong");
export const hasCaptions = createSetting<boolean>("player.captions", false);
