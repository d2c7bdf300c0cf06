/** The player for the editor. Times are in microseconds of the source. */
import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { afterNextFrame } from "../../app/after-next-frame";
import { showToast } from "../../app/toasts";
import { type EditorPlan, findSpanIndex, isRemoved, listKept, type Range } from "../model/plan";
import { CutPlayer, type PlayerMode } from "../player/cut-player";
import type { PlayableMedia } from "../player/engine";
import { Scrubber } from "../player/scrubber";
import { type Piece, toCutTime, toPieces, toSourceTime } from "../player/timeline";
import { cleanMode, isClean, isMuted, volume } from "./player-settings";

export type Playback = {
  player: CutPlayer;
  /** Position of the editor. It may be in a removed span, which the cut does not play. */
  playhead: Signal<number>;
  mode: ReadonlySignal<PlayerMode>;
  isPlaying: ReadonlySignal<boolean>;
  /** Speed of playback in either direction. */
  rate: ReadonlySignal<number>;
  /** Whether a preview is connected. */
  isReady: ReadonlySignal<boolean>;
  /** The pieces of the whole cut, and the position in them. */
  cutPieces: ReadonlySignal<readonly Piece[]>;
  cutPosition: ReadonlySignal<number>;
  /** The range that is repeated, or null. */
  loop: ReadonlySignal<Range | null>;
  /** Repeats a range; null ends it. A range that the cut does not have is repeated in the source. */
  setLoop(range: Range | null): void;
  play(mode?: PlayerMode): void;
  playFrom(time: number): void;
  pause(): void;
  toggle(mode?: PlayerMode): void;
  /** Plays a range of the source, or the kept parts of it, and stops. The previous mode then applies again. */
  playRange(range: Range, mode?: PlayerMode): void;
  /** Plays the kept parts of a range in a plan that may differ from the edited one, and stops. */
  playPart(plan: EditorPlan, range: Range): void;
  seek(time: number): void;
  /** Returns where a seek to this time of the edited plan lands: the cut that plays continues with a kept span. */
  findLanding(time: number): number;
  /** Plays a grain of the audio at this time if playback is paused. Null stops the grain. */
  scrub(time: number | null): void;
  /** Pauses and resets the speed to normal. */
  stop(): void;
  /** Plays forward (1) or back (-1). Each further call increases the speed. */
  shuttle(direction: 1 | -1): void;
  setMode(mode: PlayerMode): void;
  setRate(rate: number): void;
  setPlan(plan: EditorPlan): void;
  /** Connects the video element. Returns a function that disconnects it. */
  attach(video: HTMLVideoElement, media: PlayableMedia): () => void;
};

export const RATES = [0.5, 0.75, 1, 1.25, 1.5, 2, 3];
/** Speeds of repeated presses of J or L. */
const SHUTTLE_RATES = [1, 1.5, 2, 3];
const nextRate = (rate: number): number => SHUTTLE_RATES.find((one) => one > rate) ?? 3;

export function createPlayback(): Playback {
  const player = new CutPlayer();
  const playhead = signal(0);
  /** The plan that the player has, or is about to get. */
  let plan: EditorPlan | null = null;
  /** The plan that the user edits. */
  let edited: EditorPlan | null = null;
  /** Whether `plan` is that of a part instead of the edited one. */
  let isPart = false;
  /** Whether the playhead is in a removed span while the player waits at the start of the next kept one. */
  let isParked = false;
  /** Speed of backward playback; 0 when not playing backward. */
  const backRate = signal(0);
  /** Whether the player still has to receive the plan. */
  let isPlanDue = false;
  /** The mode to restore after a range has played, unless the user chooses another one. */
  let modeBefore: PlayerMode | null = null;
  const getNextMode = () => (player.isInRange ? null : modeBefore) ?? player.mode.peek();
  const cutPieces = signal<readonly Piece[]>([]);
  const loop = signal<Range | null>(null);
  let scrubber: Scrubber | null = null;
  const rewind = (rate: number) => {
    player.rewind(rate);
    // An empty cut does not play.
    backRate.value = player.isPlaying.peek() ? rate : 0;
  };
  const sendPlan = () => {
    if (edited === null || !(isPlanDue || isPart)) return;
    if (isPart) player.endRange();
    plan = edited;
    isPart = false;
    isPlanDue = false;
    player.setPlan(plan);
  };

  effect(() => {
    const time = player.sourceTime.value;
    if (player.isPlaying.value) isParked = false;
    else backRate.value = 0;
    if (!isParked) playhead.value = time;
  });

  effect(() => player.setClean(isClean.value ? cleanMode.value : null));

  // A repeated range starts again when it has played to its end. After a part, the player has the edited cut.
  player.onRangeEnd = () => {
    const { value: range } = loop;
    if (range !== null) playback.playRange(range, player.mode.peek());
    else sendPlan();
  };

  const playback: Playback = {
    player,
    cutPieces,
    cutPosition: computed(() => toCutTime(cutPieces.value, playhead.value)),
    loop,
    setLoop: (range) => {
      loop.value = range;
      if (range === null) return;
      sendPlan();
      const isGone = edited !== null && isRemoved(edited, range);
      playback.playRange(range, isGone ? "source" : getNextMode());
    },
    playhead,
    mode: player.mode,
    isPlaying: player.isPlaying,
    rate: computed(() => backRate.value || player.rate.value),
    isReady: player.isAttached,
    play: (wanted) => {
      sendPlan();
      const mode = wanted ?? getNextMode();
      if (mode === "cut" && edited !== null && listKept(edited).length === 0) {
        showToast({ kind: "info", text: "Everything is removed. Restore something, then play the cut." });
        return;
      }
      if (!player.isInRange || mode !== player.mode.peek()) modeBefore = null;
      // Plays from the editor's position, even if that position is in a removed span.
      if (isParked && mode === "source") {
        player.setMode(mode);
        player.seek(playhead.peek());
      }
      player.play(mode);
    },
    playFrom: (time) => {
      playback.seek(time);
      playback.play();
    },
    pause: () => player.pause(),
    toggle: (mode) => {
      if (player.isPlaying.peek() && player.mode.peek() === (mode ?? getNextMode())) playback.pause();
      else playback.play(mode);
    },
    playRange: (range, mode = "source") => {
      isParked = false;
      sendPlan();
      modeBefore ??= player.mode.peek();
      player.playRange(range, mode);
    },
    playPart: (part, range) => {
      isParked = false;
      plan = part;
      isPart = part !== edited;
      isPlanDue = false;
      modeBefore ??= player.mode.peek();
      player.playRange(range, "cut", part);
    },
    seek: (time) => {
      sendPlan();
      loop.value = null;
      // Backward playback ends here, so the position may be in a removed span.
      if (backRate.peek() !== 0) player.pause();
      const target = Math.max(0, Math.min(plan?.duration ?? 0, time));
      isParked =
        plan !== null &&
        !player.isPlaying.peek() &&
        player.mode.peek() === "cut" &&
        !plan.spans[findSpanIndex(plan, target)]!.isKept;
      player.seek(target);
      playhead.value = isParked || !player.isAttached.peek() ? target : player.sourceTime.peek();
    },
    findLanding: (time) => {
      const playsOn = player.isPlaying.peek() && backRate.peek() === 0;
      if (!playsOn || player.mode.peek() !== "cut") return time;
      return toSourceTime(cutPieces.peek(), toCutTime(cutPieces.peek(), time));
    },
    scrub: (time) => {
      if (time === null) scrubber?.stop();
      else if (!isMuted.peek() && volume.peek() > 0 && !player.isPlaying.peek())
        scrubber?.play(time, volume.peek(), isClean.peek() ? cleanMode.peek() : null);
    },
    stop: () => {
      playback.pause();
      player.setRate(1);
    },
    shuttle: (direction) => {
      sendPlan();
      if (direction === 1) {
        player.setRate(player.isPlaying.peek() && backRate.peek() === 0 ? nextRate(player.rate.peek()) : 1);
        playback.play();
      } else {
        rewind(backRate.peek() === 0 ? 1 : nextRate(backRate.peek()));
      }
    },
    setMode: (mode) => {
      sendPlan();
      modeBefore = null;
      player.setMode(mode);
    },
    setRate: (rate) => {
      player.setRate(rate);
      if (backRate.peek() !== 0) rewind(rate);
    },
    setPlan: (next) => {
      cutPieces.value = toPieces(listKept(next));
      edited = next;
      // A card of the review plays it already.
      if (next === plan) isPart = false;
      // The plan of a part stays until it ends, or until the next command.
      if (next === plan || isPart) return;
      const isFirst = plan === null;
      plan = next;
      isPlanDue = true;
      // While nothing plays, the plan is sent after the frame that shows the edit.
      if (isFirst || player.isPlaying.peek()) sendPlan();
      else afterNextFrame(sendPlan);
    },
    attach: (video, media) => {
      sendPlan();
      const detach = player.attach(video, media);
      const getMedia = () => player.getMedia() ?? media;
      scrubber = media.audioType === null ? null : new Scrubber(getMedia, () => plan?.duration ?? 0);
      const stop = effect(() => {
        video.volume = volume.value;
        video.muted = isMuted.value;
        // The audio of a grain may still be loading.
        if (isMuted.value || volume.value === 0 || player.isPlaying.value) scrubber?.stop();
      });
      return () => {
        stop();
        detach();
        scrubber?.dispose();
        scrubber = null;
      };
    },
  };
  return playback;
}
