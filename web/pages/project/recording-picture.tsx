/** The picture of a recording: its poster or the envelope of its audio. Moving the pointer over it scrubs. */
import { useEffect, useRef, useState } from "preact/hooks";
import { mediaUrl } from "../../app/api";
import { listenReconnect } from "../../app/connection";
import { formatDuration } from "../../app/format";
import { Icon } from "../../ui/icon";
import { Envelope } from "./envelope";
import { countFrames, type Recording } from "./recording";
import { useSeen } from "./use-seen";

/** `hasTime`: whether the picture shows the length, and the time below the pointer. */
type PictureProps = { recording: Recording; hasTime?: boolean };

export function RecordingPicture({ recording, hasTime = true }: PictureProps) {
  const { id, type, state, duration_seconds: text } = recording;
  const [isMissing, setIsMissing] = useState(false);
  useEffect(() => (isMissing ? listenReconnect(() => setIsMissing(false)) : undefined), [isMissing]);
  const isReady = state === "ready";
  const hasPoster = isReady && type === "video" && !isMissing;
  const hasEnvelope = isReady && !hasPoster && recording.audio_tracks !== 0;
  const duration = Number(text ?? 0);
  const scrub = useScrub(recording, hasPoster, duration);
  return (
    <span class="recording-picture" {...(isReady ? scrub.handlers : {})}>
      {hasPoster && <Poster id={id} onMissing={() => setIsMissing(true)} />}
      {hasEnvelope && <Envelope id={id} />}
      {!hasPoster && !hasEnvelope && <Icon name={type === "video" ? "film" : "audio"} />}
      {isReady && (
        <>
          <span ref={scrub.frame} class="scrub-frame" hidden />
          <span ref={scrub.line} class="scrub-line" hidden />
        </>
      )}
      {duration > 0 && hasTime && (
        <span ref={scrub.time} class="picture-time number">
          {formatDuration(duration)}
        </span>
      )}
    </span>
  );
}

/** Posters that the browser has. */
const loaded = new Set<string>();

function Poster({ id, onMissing }: { id: string; onMissing(): void }) {
  const image = useRef<HTMLImageElement>(null);
  const isSeen = useSeen(image, true) || loaded.has(id);
  return (
    <img
      ref={image}
      // The first rows of a list are in the page before it is known which of them are in view. Set before `src`, which
      // loads at once what the browser has.
      loading={loaded.has(id) ? "eager" : "lazy"}
      src={isSeen ? mediaUrl(id, "poster") : undefined}
      alt=""
      decoding="async"
      onLoad={() => loaded.add(id)}
      onError={onMissing}
    />
  );
}

/** Shows the frame and the time below the pointer. Elements are changed without rendering: pointers move often. */
function useScrub(recording: Recording, hasFrames: boolean, duration: number) {
  const frame = useRef<HTMLElement>(null);
  const line = useRef<HTMLElement>(null);
  const time = useRef<HTMLElement>(null);
  const strip = useRef<HTMLImageElement | null>(null);
  const share = useRef(0);
  const show = (isShown: boolean) => {
    if (line.current) line.current.hidden = !isShown;
    if (frame.current) frame.current.hidden = !isShown || !hasFrames || !strip.current?.naturalWidth;
  };
  const onPointerMove = (event: PointerEvent) => {
    // While the page scrolls below a pointer that rests, nothing is loaded or drawn.
    const isMoved = event.movementX !== 0 || event.movementY !== 0;
    if (event.pointerType !== "mouse" || !isMoved || duration <= 0) return;
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    share.current = Math.max(0, Math.min(1, (event.clientX - left) / width));
    if (hasFrames && strip.current === null) {
      strip.current = new Image();
      // The pointer may rest until then.
      strip.current.onload = () => line.current?.hidden === false && draw();
      strip.current.src = mediaUrl(recording.id, "filmstrip");
    }
    draw();
  };
  const draw = () => {
    show(true);
    line.current!.style.left = `${share.current * 100}%`;
    if (time.current) time.current.textContent = formatDuration(share.current * duration);
    const image = strip.current;
    if (!image?.naturalWidth || !frame.current) return;
    const count = countFrames(image, recording);
    const index = Math.min(count - 1, Math.floor(share.current * count));
    const { style } = frame.current;
    style.backgroundImage = `url("${image.src}")`;
    style.backgroundSize = `${count * 100}% 100%`;
    style.backgroundPositionX = `${count === 1 ? 0 : (index / (count - 1)) * 100}%`;
  };
  const onPointerLeave = () => {
    // The next hover tries again to load frames that are missing.
    if (strip.current?.complete && strip.current.naturalWidth === 0) strip.current = null;
    if (line.current?.hidden !== false) return;
    show(false);
    if (time.current) time.current.textContent = formatDuration(duration);
  };
  return { frame, line, time, handlers: { onPointerMove, onPointerLeave } };
}
