/** Playback controls and times: below the picture, and docked at the bottom of phones. */

import { type ReadonlySignal, signal, useComputed, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { performAction, titleAction } from "../../app/actions";
import { toNumber } from "../../app/english";
import { formatDuration } from "../../app/format";
import { getKeptDuration, toSeconds } from "../../editor/model/plan";
import { readTime, toTimecode } from "../../editor/model/timecodes";
import type { PlayerMode } from "../../editor/player/cut-player";
import { hasMediaSource } from "../../editor/player/media-source";
import { toSourceTime } from "../../editor/player/timeline";
import type { ReviewSession } from "../../editor/review/review-session";
import { useReview, useReviewCount } from "../../editor/review/use-review";
import { useComputedOf, useEditor } from "../../editor/state/context";
import { RATES } from "../../editor/state/playback";
import { cleanMode, isClean, isMuted, volume } from "../../editor/state/player-settings";
import { ActionButton, IconButton } from "../../ui/button";
import { Segments } from "../../ui/filter-bar";
import { Icon } from "../../ui/icon";
import { Menu } from "../../ui/menu";
import { focusHeading } from "../../ui/page";
import { SelectionTools } from "./selection-tools";
import type { Asset } from "./use-media";

/** Whether the field for a time is open. */
export const isGoingTo = signal(false);

export const Transport = () => (
  <section class="transport" aria-label="Playback">
    <Times />
    <div class="transport-keys">
      <ActionButton name="seek.join-previous" />
      <PlayButton />
      <ActionButton name="seek.join-next" />
      <ModeSwitch />
    </div>
    <div class="transport-more">
      <CleanAudio />
      <LoopButton />
      <Speed />
      <Volume />
    </div>
  </section>
);

const MODES: { value: PlayerMode; label: string }[] = [
  { value: "cut", label: "Cut" },
  { value: "source", label: "Source" },
];

/** Without a cut, only the source can be played. */
function ModeSwitch() {
  const { editor, playback } = useEditor();
  if (editor.cut === null) return null;
  const { mode } = playback;
  return (
    <Segments
      label="Play"
      title={titleAction("playback.mode")}
      value={mode.value}
      options={MODES}
      onChange={(wanted) => {
        // A range may be playing in the shown mode only until its end.
        if (wanted === mode.peek()) playback.setMode(wanted);
        else performAction("playback.mode");
      }}
    />
  );
}

function PlayButton() {
  const { playback } = useEditor();
  const isPlaying = playback.isPlaying.value;
  const isWaiting = playback.player.waiting.value !== null && isPlaying;
  const label = isPlaying ? "Pause" : "Play";
  return (
    <button
      type="button"
      class={isWaiting ? "play-button is-waiting" : "play-button"}
      aria-label={label}
      title={titleAction("playback.toggle")}
      disabled={!playback.isReady.value}
      onClick={() => performAction("playback.toggle")}
    >
      <Icon name={isPlaying ? "pause" : "play"} />
    </button>
  );
}

/** The position in the cut and in the recording. The one that plays is the large one's neighbor in bright text. */
function Times() {
  const { editor, playback, clock } = useEditor();
  const inCut = useComputedOf(() => toTimecode(clock, playback.cutPosition.value, false), [clock, playback]);
  const inSource = useComputedOf(() => toTimecode(clock, playback.playhead.value, true), [clock, playback]);
  const isCut = playback.mode.value === "cut";
  if (isGoingTo.value) return <GoTo />;
  const kept = getKeptDuration(editor.latePlan.value);
  return (
    <div class="times">
      <button
        type="button"
        class={isCut ? "timecode number" : "timecode number is-other"}
        title={`Position in the cut, which lasts ${toTimecode(clock, kept, false)}. ${titleAction("seek.go-to")}`}
        onClick={() => performAction("seek.go-to")}
      >
        {inCut}
        <span class="visually-hidden"> in the cut. Go to a time</span>
      </button>
      <span class={isCut ? "source-time number is-other" : "source-time number"} title="Timecode of the recording">
        Source {inSource}
      </span>
    </div>
  );
}

/** A field for a time in the played cut or recording. */
function GoTo() {
  const { editor, playback, clock } = useEditor();
  const input = useRef<HTMLInputElement>(null);
  const isCut = playback.mode.value === "cut";
  const now = isCut ? playback.cutPosition.peek() : playback.playhead.peek();
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);
  const close = () => {
    isGoingTo.value = false;
    focusHeading();
  };
  const go = (text: string) => {
    const time = readTime(clock, text, now, !isCut);
    if (time === null) {
      editor.announce("Not a valid time. Enter 1:23, 90, +5 or a timecode.");
      return;
    }
    playback.seek(isCut ? toSourceTime(playback.cutPieces.peek(), time) : time);
    close();
  };
  return (
    <form
      class="times"
      onSubmit={(event) => {
        event.preventDefault();
        go(input.current!.value);
      }}
    >
      <input
        ref={input}
        class="input number go-to"
        aria-label={isCut ? "Time in the cut" : "Time in the recording"}
        autocomplete="off"
        defaultValue={toTimecode(clock, now, !isCut)}
        onKeyDown={(event) => {
          if (event.key === "Escape") close();
        }}
        onBlur={() => {
          isGoingTo.value = false;
        }}
      />
    </form>
  );
}

/** Browsers without Media Source Extensions play the file of the preview. */
export const canPlayClean = ({ audio_tracks }: Pick<Asset, "audio_tracks">): boolean =>
  audio_tracks !== 0 && hasMediaSource();

export const toggleClean = (): void => {
  isClean.value = !isClean.value;
};

/** Plays audio as a render with noise reduction has it. */
function CleanAudio() {
  const { asset } = useEditor();
  if (!canPlayClean(asset)) return null;
  return (
    <IconButton
      icon="clean"
      label="Clean audio"
      title={`Clean audio: noise reduction as in a render, ${cleanMode.value}`}
      aria-pressed={isClean.value}
      onClick={toggleClean}
    />
  );
}

function LoopButton() {
  const { playback } = useEditor();
  return <ActionButton name="playback.loop" aria-pressed={playback.loop.value !== null} />;
}

function Speed() {
  const { playback } = useEditor();
  const rate = playback.rate.value;
  const format = (one: number) => `${toNumber(one)}×`;
  return (
    <Menu
      label={`Speed ${format(rate)}`}
      look="quiet number speed"
      items={RATES.map((one) => ({
        label: format(one),
        isChecked: one === rate,
        run: () => playback.setRate(one),
      }))}
    >
      {format(rate)}
    </Menu>
  );
}

const Volume = () => (
  <div class="volume">
    <ActionButton name="playback.mute" icon={isMuted.value ? "muted" : "volume"} aria-pressed={isMuted.value} />
    <input
      type="range"
      aria-label="Volume"
      min={0}
      max={100}
      value={isMuted.value ? 0 : Math.round(volume.value * 100)}
      onInput={(event) => {
        volume.value = event.currentTarget.valueAsNumber / 100;
        isMuted.value = false;
      }}
    />
  </div>
);

/** The controls that phones have at hand. While something is selected, its tools take their place. */
export function Dock() {
  const review = useReview();
  return (
    <section class="dock" aria-label="Playback and editing">
      <PlayedShare />
      <SelectionTools hasUndo />
      {review === null || review.current.value === null ? <DockControls /> : <ReviewControls review={review} />}
    </section>
  );
}

function DockControls() {
  const { playback } = useEditor();
  const places = useReviewCount();
  return (
    <>
      <PlayButton />
      <ModeSwitch />
      <Position time={playback.cutPosition} />
      <span class="spacer" />
      <ActionButton name="edit.undo" />
      {places > 0 && (
        <ActionButton name="review.start" aria-label={`Review ${places}`} isLabeled>
          {places}
        </ActionButton>
      )}
    </>
  );
}

/** While the card of a place is open, which has the buttons that decide. */
function ReviewControls({ review }: { review: ReviewSession }) {
  const { total, kept, removed } = review.progress.value;
  return (
    <>
      <span class="dock-progress number">
        {kept + removed} of {total} checked
      </span>
      <span class="spacer" />
      <ActionButton name="edit.undo" />
      <ActionButton name="review.previous" />
      <ActionButton name="review.next" class="filled">
        Skip
      </ActionButton>
      <IconButton icon="close" label="Leave the review" onClick={review.close} />
    </>
  );
}

/** A line for the played part of the cut: the timeline may be out of view. */
function PlayedShare() {
  const { editor, playback } = useEditor();
  const line = useRef<HTMLSpanElement>(null);
  const length = useComputedOf(() => getKeptDuration(editor.latePlan.value), [editor]);
  useSignalEffect(() => {
    line.current!.style.scale = `${Math.min(1, playback.cutPosition.value / Math.max(1, length.value))} 1`;
  });
  return <span class="dock-played" ref={line} />;
}

const Position = ({ time }: { time: ReadonlySignal<number> }) => {
  const text = useComputed(() => formatDuration(Math.floor(toSeconds(time.value))));
  return <span class="number">{text}</span>;
};
